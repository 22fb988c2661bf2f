"""What the files with problems that a verification has found belong to: steps, and what becomes of those."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import PurePosixPath
from typing import Generic, Literal

from translations_assets.records.manifest import Manifest
from translations_assets.store.durable import DurableStore
from translations_assets.store.medium import P
from translations_assets.store.names import original

Kind = Literal["damaged", "missing", "strange"]
Role = Literal["output", "origin", "manifest", "log", "checkpoint set"]


@dataclass(frozen=True)
class Owner:
    """The step that a file belongs to, and what the file is to it.

    name        of the output, or what the file is
    repeatable  None when that was not recorded
    """

    label: str
    stage: str
    partition: str
    role: Role
    name: str
    repeatable: bool | None = None

    def remedy(self) -> str:
        """What becomes of the step, and what to do."""
        train = f"translations train {self.partition or 'PARTITION'}"
        if self.role == "log":
            return "nothing is to do: its files are whole"
        if self.role == "checkpoint set":
            return f"it goes on from the set before: {train}"
        if self.role == "origin":
            return "its files are whole, but it cannot be repeated from what the store keeps"
        if self.role == "manifest":
            return (
                "the next run that needs it makes it again, if its bytes can be repeated; else it is lost: "
                f"{train} --repair"
            )
        if self.repeatable is None:
            return f"the next run that needs it makes it again, or tells that it is lost: {train}"
        if self.repeatable:
            return f"the next run that needs it makes it again: {train}"
        return f"lost, unless all that was made from it is whole; to make it again: {train} --repair"


@dataclass
class Problem:
    """A file that is damaged, missing or strange.

    contents  the digest, when the file is in `blobs/`
    aside     whether it was put aside in `quarantine/`
    """

    kind: Kind
    path: str
    reason: str
    contents: str = ""
    aside: bool = False
    owners: list[Owner] = field(default_factory=list)


def name_owners(store: DurableStore[P], problems: Sequence[Problem]) -> None:
    """Add to each problem the steps that it concerns; reads all manifests when there is one."""
    if problems:
        _Search(store, problems).run()


class _Search(Generic[P]):
    def __init__(self, store: DurableStore[P], problems: Sequence[Problem]) -> None:
        self.store = store
        self.by_contents = {problem.contents: problem for problem in problems if problem.contents}
        self.by_step: dict[tuple[str, int], list[Problem]] = {}
        for problem in problems:
            if name := _step_of(problem.path):
                self.by_step.setdefault(name, []).append(problem)
        self.placed: dict[str, list[Owner]] = {}

    def run(self) -> None:
        for manifest in chain(self.store.manifests(), self.store.retired()):
            self._manifest(manifest)
        for digest, owners in self.placed.items():  # files of the repository: no step makes them
            problem = self.by_contents[digest]
            problem.owners = problem.owners or owners
        self._unknown()

    def _manifest(self, manifest: Manifest) -> None:
        for name, blob in manifest.outputs.items():
            if problem := self.by_contents.get(blob.digest):
                problem.owners.append(_owner(manifest, "output", name))
        for name, blob in zip(("its code", "its training config"), manifest.origins(), strict=False):
            if problem := self.by_contents.get(blob.digest):
                problem.owners.append(_owner(manifest, "origin", name))
        for path, blob in manifest.files().items():
            if blob.digest in self.by_contents:
                self.placed.setdefault(blob.digest, []).append(_owner(manifest, "origin", f"in/{path}"))
        for problem in self.by_step.get((manifest.key, manifest.generation), ()):
            role = _role(problem.path)
            problem.owners.append(_owner(manifest, role, f"its {role}"))

    def _unknown(self) -> None:
        """Steps without a manifest: refs and runs remember labels."""
        for name, label, stage, partition in self._remembered():
            for problem in self.by_step.get(name, ()):
                role = _role(problem.path)
                owner = Owner(label, stage, partition, role, f"its {role}")
                if all(known.label != label for known in problem.owners):
                    problem.owners.append(owner)

    def _remembered(self) -> Iterator[tuple[tuple[str, int], str, str, str]]:
        if not self.by_step:
            return
        for refs in self.store.ref_files():
            for _, ref in refs:
                for label, name in ref.steps.items():
                    yield name, label, ref.stage, ref.partition
        for run in self.store.runs():
            if record := self.store.read_run(run):
                yield from ((used, label, "", record.partition) for label, used in record.uses.items())


def _owner(manifest: Manifest, role: Role, name: str) -> Owner:
    provenance = manifest.provenance
    partition = str(provenance.get("partition", ""))
    return Owner(manifest.label, manifest.stage, partition, role, name, provenance.get("repeatable"))


def _role(path: str) -> Role:
    return {"logs": "log", "checkpoints": "checkpoint set"}.get(path.split("/")[0], "manifest")  # type: ignore[return-value]


def _step_of(path: str) -> tuple[str, int] | None:
    """Key and generation of the step that a manifest, log part or checkpoint set is of."""
    parts = PurePosixPath(path).parts
    if parts[0] == "steps" and len(parts) == 4:
        key, number = parts[2], parts[3].removesuffix(".json")
    elif parts[0] == "retired" and len(parts) == 2:
        key, _, number = parts[1].removesuffix(".json").rpartition(".")
    elif parts[0] in ("logs", "checkpoints") and len(parts) == 4:
        key, number = parts[1], parts[2].partition(".")[0]
    else:
        return None
    return (original(key), int(number)) if number.isdecimal() else None
