"""Records: refs of the partitions' stages, runs, pins, publications, pasted training configs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Generic, TypeVar

from translations_assets.common.errors import StoreError
from translations_assets.records import encoding
from translations_assets.records.canonical import json_digest
from translations_assets.records.checked import Record
from translations_assets.records.manifest import Pin, Publication, Ref
from translations_assets.records.run import RunRecord
from translations_assets.store.medium import Medium, P, warn

GC_LOCK = "gc"  # held alone by the garbage collector, shared by all that must not meet it

RECORDS = ("refs", "runs", "pins", "publications")  # the folders of records that keep results

T = TypeVar("T")
R = TypeVar("R", bound=Record)


class Records(Generic[P]):
    """The part of a store that remembers what was asked for and what came of it."""

    files: Medium[P]

    def spaces(self) -> list[str]:
        """The spaces that have refs."""
        return sorted(map(encoding.original, self.files.names(self.files.at("refs"))))

    def add_ref(self, ref: Ref) -> None:
        """Append a ref; a run that publishes a stage again gets a second file, `<run>~2.json`."""
        folder = self.files.at("refs", ref.space, ref.partition, ref.stage)
        data = encoding.seal(ref.to_dict())
        number = 1
        while not self.files.create(folder / _ref_name(ref.run, number), data):
            number += 1

    def refs(self, space: str, partition: str, stage: str) -> list[Ref]:
        """A stage's refs, newest first; damaged ones are left out, with a warning."""
        return [ref for _, ref in self._refs_in(self.files.at("refs", space, partition, stage))]

    def ref_files(self) -> Iterator[list[tuple[P, Ref]]]:
        """For each space, partition and stage its whole refs, newest first, each with its file."""
        spaces = self.files.at("refs")
        for space in sorted(self.files.names(spaces)):
            for partition in sorted(self.files.names(spaces / space)):
                for stage in sorted(self.files.names(spaces / space / partition)):
                    yield self._refs_in(spaces / space / partition / stage)

    def _refs_in(self, folder: P) -> list[tuple[P, Ref]]:
        found = self._records_in(folder, Ref)
        return sorted(found, key=lambda pair: pair[1].time, reverse=True)

    def all_records(self, folders: Sequence[str] = RECORDS) -> Iterator[tuple[P, Record | str | Exception]]:
        """Each record in some folders: its file, and what it says or what is wrong with it."""
        for folder in folders:
            for path, data in self.files.read_all(self.files.walk(self.files.at(folder))):
                if data is None:
                    continue
                try:
                    yield path, _PARSERS[folder](data)
                except encoding.MALFORMED as error:
                    yield path, error

    def write_run(self, run: str, record: RunRecord) -> None:
        """Store what a run uses (replaces the run's own earlier state)."""
        self.files.replace(self._run_path(run), encoding.seal(record.to_dict()))

    def read_run(self, run: str) -> RunRecord | None:
        """Read a run's record; None, with a warning, when it is damaged."""
        return self._read_record(self._run_path(run), _parser(RunRecord))

    def remove_run(self, run: str) -> None:
        """Forget a run, for the garbage collector."""
        self.files.unlink(self._run_path(run))

    def runs(self) -> list[str]:
        """Ids of the runs, those that began last first."""
        began = self.files.began(self.files.at("runs"))
        newest = sorted(began, key=lambda name: (began[name], name), reverse=True)
        return [encoding.original(name.removesuffix(".json")) for name in newest]

    def _add_pin(self, pin: Pin) -> None:
        """Store a pin. Raises StoreError when its run has one."""
        if self._create_record(self._pin_path(pin.run), encoding.seal(pin.to_dict()), _parser(Pin)):
            raise StoreError(
                f"The run {pin.run} is pinned already. To give another reason, unpin it first: "
                f"translations cache unpin {pin.run}"
            )

    def unpin(self, run: str) -> None:
        """Let what a run uses be collected again. Raises StoreError when the run is not pinned."""
        if self.files.size(self._pin_path(run)) is None:
            raise StoreError(f"The run {run} is not pinned. To list the pins: translations cache pins")
        self.files.unlink(self._pin_path(run))

    def pins(self) -> Mapping[str, Pin]:
        """The pinned runs by id; damaged pins are left out, with a warning."""
        found = self._all_of("pins", Pin)
        return {pin.run: pin for pin in sorted(found, key=lambda pin: pin.time)}

    def add_publication(self, made: Publication) -> None:
        """Remember where a result was published; the first time counts."""
        name = json_digest([made.key, made.generation, made.url])
        path = self.files.at("publications", f"{name}.json")
        self._create_record(path, encoding.seal(made.to_dict()), _parser(Publication))

    def publications(self) -> list[Publication]:
        """List publications of results, oldest first; damaged records are left out, with a warning."""
        return sorted(self._all_of("publications", Publication), key=lambda made: made.time)

    def _all_of(self, name: str, kind: type[R]) -> list[R]:
        """The whole records of a folder, in no order."""
        return [record for _, record in self._records_in(self.files.at(name), kind)]

    def _records_in(self, folder: P, kind: type[R]) -> list[tuple[P, R]]:
        """The whole records of a folder, each with its file, by the files' names."""
        read = self.files.read_all([folder / name for name in sorted(self.files.names(folder))])
        parse = _parser(kind)
        return [(path, record) for path, data in read if (record := _parse(path, data, parse)) is not None]

    def add_config(self, name: str, text: str) -> None:
        """Store a training config under a name, for good; StoreError when the name has another text."""
        sealed = encoding.seal_bytes(text.encode())
        if self._create_record(self._config_path(name), sealed, _text) not in (None, text):
            raise StoreError(
                f"There is another training config named {name} in the store {self.files}, and "
                "configs are never replaced. Choose another name, change values by --set, or put the file "
                "into configs/, where it may be edited."
            )

    def config_names(self) -> list[str]:
        """The names of the stored training configs, in order; none is read."""
        names = self.files.names(self.files.at("configs"))
        return sorted(encoding.original(name.removesuffix(".yml")) for name in names if name.endswith(".yml"))

    def config(self, name: str) -> str | None:
        """The text of a stored training config; None when there is none; a damaged one is none."""
        return self._read_record(self._config_path(name), _text)

    def _pin_path(self, run: str) -> P:
        return self.files.at("pins", f"{run}.json")

    def _run_path(self, run: str) -> P:
        return self.files.at("runs", f"{run}.json")

    def _config_path(self, name: str) -> P:
        return self.files.at("configs", f"{name}.yml")

    def _create_record(self, path: P, sealed: bytes, parse: Callable[[bytes], T]) -> T | None:
        """Make a file and return None; if there is a whole one, return its value, and leave it.

        A damaged one is put aside before.
        """
        while not self.files.create(path, sealed):
            if (earlier := self._read_record(path, parse)) is not None:
                return earlier
            self.files.set_aside(path, encoding.DIFFERENT)
        return None

    def _read_record(self, path: P, parse: Callable[[bytes], T]) -> T | None:
        return _parse(path, self.files.read(path), parse)


def _parse(path: PurePath, data: bytes | None, parse: Callable[[bytes], T]) -> T | None:
    """Parse a file of the store; None, with a warning when it is damaged."""
    try:
        return parse(data) if data is not None else None
    except encoding.MALFORMED as error:
        warn(f"{path} is damaged ({error}) and not used")
        return None


def _ref_name(run: str, number: int) -> str:
    return f"{encoding.safe(run)}.json" if number == 1 else f"{encoding.safe(run)}~{number}.json"


def _parser(kind: type[R]) -> Callable[[bytes], R]:
    """Return the function that reads records of a kind from sealed bytes. It raises one of `MALFORMED`."""
    return lambda sealed: kind.from_dict(encoding.unseal(sealed))


def _text(sealed: bytes) -> str:
    return encoding.unseal_bytes(sealed).decode()


_PARSERS: Mapping[str, Callable[[bytes], Record | str]] = {
    "refs": _parser(Ref),
    "runs": _parser(RunRecord),
    "pins": _parser(Pin),
    "publications": _parser(Publication),
    "configs": _text,
}
