"""Records of a local store: refs of the partitions' stages, state of runs, pasted training configs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from translations_assets.steps.errors import StoreError
from translations_assets.steps.manifest import Ref
from translations_assets.store.files import Files
from translations_assets.store.names import original, safe
from translations_assets.store.sealed import seal, unseal
from translations_assets.store.warn import warn

T = TypeVar("T")


class Records:
    """The part of `LocalStore` that remembers what was asked for and what came of it."""

    _files: Files

    def add_ref(self, ref: Ref) -> None:
        """Append a ref; a run that publishes a stage again gets a second file, `<run>~2.json`."""
        folder = self._files.at("refs", ref.space, ref.partition, ref.stage)
        data = seal(ref.to_dict())
        number = 1
        while not self._files.create(folder / _ref_name(ref.run, number), lambda file: file.write(data)):
            number += 1

    def refs(self, space: str, partition: str, stage: str) -> list[Ref]:
        """A stage's refs, newest first; damaged ones are left out, with a warning."""
        folder = self._files.at("refs", space, partition, stage)
        found = [
            self._read_record(folder / name, Ref.from_dict) for name in sorted(self._files.names(folder))
        ]
        return sorted((ref for ref in found if ref), key=lambda ref: ref.time, reverse=True)

    def has_refs(self, space: str, partition: str) -> list[str]:
        """The stages of a partition that have a ref."""
        return sorted(map(original, self._files.names(self._files.at("refs", space, partition))))

    def write_run(self, run: str, value: Mapping[str, Any]) -> None:
        """Store what a run uses (replaces the run's own earlier state)."""
        self._files.replace(self._run_path(run), seal(value))

    def read_run(self, run: str) -> Mapping[str, Any] | None:
        """What a run stored; None, with a warning, when that is damaged."""
        return self._read_record(self._run_path(run), dict)

    def runs(self) -> list[str]:
        """Ids of the runs, those that began last first."""
        folder = self._files.at("runs")
        began = {name: self._files.modified(folder / name) for name in self._files.names(folder)}
        newest = sorted(began, key=lambda name: (began[name], name), reverse=True)
        return [original(name.removesuffix(".json")) for name in newest]

    def add_config(self, name: str, text: str) -> None:
        """Store a training config under a name, for good; StoreError when the name has another text."""
        path = self._config_path(name)
        if (
            not self._files.create(path, lambda file: file.write(text.encode()))
            and self._read_text(path) != text
        ):
            raise StoreError(
                f"There is another training config named {name} in the store {self._files.root}, and configs "
                "are never replaced. Choose another name."
            )

    def configs(self) -> Mapping[str, str]:
        """Name → text of the stored training configs."""
        folder = self._files.at("configs")
        names = sorted(name for name in self._files.names(folder) if name.endswith(".yml"))
        return {original(name.removesuffix(".yml")): self._read_text(folder / name) for name in names}

    def _run_path(self, run: str) -> Path:
        return self._files.at("runs", f"{run}.json")

    def _config_path(self, name: str) -> Path:
        return self._files.at("configs", f"{name}.yml")

    def _read_text(self, path: Path) -> str:
        return (self._files.read(path) or b"").decode()

    def _read_record(self, path: Path, parse: Callable[[dict[str, Any]], T]) -> T | None:
        data = self._files.read(path)
        if data is None:
            return None
        try:
            return parse(unseal(data))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            warn(f"{path} is damaged ({error}) and not used")
            return None


def _ref_name(run: str, number: int) -> str:
    return f"{safe(run)}.json" if number == 1 else f"{safe(run)}~{number}.json"
