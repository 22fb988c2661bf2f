"""Problems of a store's files: the steps that they concern, the consequences, the remedy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal

from translations_assets.records.encoding import original
from translations_assets.records.manifest import Manifest

Kind = Literal["damaged", "missing", "strange"]
Role = Literal["output", "origin", "manifest", "log", "checkpoint set"]
Id = tuple[str, int]  # key and generation


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
        """Say what happens to the step, and the remedy."""
        role: str = self.role
        if self.role == "output" and self.repeatable is not None:
            role = "repeatable output" if self.repeatable else "unrepeatable output"
        return _REMEDIES[role].format(train=f"translations train {self.partition or 'PARTITION'}")


_REMEDIES = {
    "output": "the next run that needs it makes it again, or reports that it is lost: {train}",
    "repeatable output": "the next run that needs it makes it again: {train}",
    "unrepeatable output": "lost, unless everything made from it is intact; to make it again: "
    "{train} --repair",
    "origin": "its files are intact, but it cannot be repeated from the contents of the store",
    "manifest": "the next run that needs it makes it again, if its bytes can be repeated; else it is lost: "
    "{train} --repair",
    "log": "nothing to do: its files are intact",
    "checkpoint set": "it continues from the previous set: {train}",
}


@dataclass
class Damage:
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


class DamageSearch:
    """Finds the steps that problems concern."""

    def __init__(self, problems: Sequence[Damage]) -> None:
        self.by_contents = {problem.contents: problem for problem in problems if problem.contents}
        self.by_step: dict[Id, list[tuple[Damage, Role]]] = {}
        for problem in problems:
            if found := step_of(problem.path):
                step, role = found
                self.by_step.setdefault(step, []).append((problem, role))
        self.placed: dict[str, list[Owner]] = {}

    def run(
        self, manifests: Iterable[Manifest], remembered: Mapping[tuple[Id, str], tuple[str, str]]
    ) -> None:
        for manifest in manifests:
            self._manifest(manifest)
        for digest, owners in self.placed.items():  # files of the repository: no step makes them
            problem = self.by_contents[digest]
            problem.owners = problem.owners or owners
        for (step, label), (stage, partition) in remembered.items():
            for problem, role in self.by_step.get(step, ()):
                if all(known.label != label for known in problem.owners):  # a step without a manifest
                    problem.owners.append(Owner(label, stage, partition, role, f"its {role}"))

    def _manifest(self, manifest: Manifest) -> None:
        for name, blob in manifest.outputs.items():
            if problem := self.by_contents.get(blob.digest):
                problem.owners.append(_owner(manifest, "output", name))
        for name, blob in zip(("its code", "its training config"), manifest.origins(), strict=False):
            if problem := self.by_contents.get(blob.digest):
                problem.owners.append(_owner(manifest, "origin", name))
        for path, blob in manifest.provenance.files.items():
            if blob.digest in self.by_contents:
                self.placed.setdefault(blob.digest, []).append(_owner(manifest, "origin", f"in/{path}"))
        for problem, role in self.by_step.get((manifest.key, manifest.generation), ()):
            problem.owners.append(_owner(manifest, role, f"its {role}"))


def _owner(manifest: Manifest, role: Role, name: str) -> Owner:
    provenance = manifest.provenance
    return Owner(manifest.label, manifest.stage, provenance.partition, role, name, provenance.repeatable)


def step_of(path: str) -> tuple[Id, Role] | None:
    """Key and generation of the step that a manifest, log part or checkpoint set is of, and which it is."""
    parts = PurePosixPath(path).parts
    role: Role = "manifest"
    if parts[0] == "steps" and len(parts) == 4:
        key, number = parts[2], parts[3].removesuffix(".json")
    elif parts[0] == "retired" and len(parts) == 2:
        key, _, number = parts[1].removesuffix(".json").rpartition(".")
    elif parts[0] in ("logs", "checkpoints") and len(parts) == 4:
        key, number = parts[1], parts[2].partition(".")[0]
        role = "log" if parts[0] == "logs" else "checkpoint set"
    else:
        return None
    return ((original(key), int(number)), role) if number.isdecimal() else None
