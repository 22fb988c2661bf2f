"""Problems of a store's files: the steps that they concern, the consequences, the remedy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal

from translations_assets.records.encoding import original
from translations_assets.records.manifest import Blob, Manifest

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


def find_owners(
    problems: Sequence[Damage],
    manifests: Iterable[Manifest],
    remembered: Mapping[tuple[Id, str], tuple[str, str]],
) -> None:
    """Note with each problem the steps that it concerns.

    remembered  (step, label) → its stage and a partition, of steps that refs and runs name
    """
    by_contents = {problem.contents: problem for problem in problems if problem.contents}
    by_step: dict[Id, list[tuple[Damage, Role]]] = {}
    for problem in problems:
        if found := step_of(problem.path):
            by_step.setdefault(found[0], []).append((problem, found[1]))
    placed: dict[str, list[Owner]] = {}
    for manifest in manifests:
        for role, name, blob in _named(manifest):
            if blob.digest in by_contents:
                by_contents[blob.digest].owners.append(_owner(manifest, role, name))
        for path, blob in manifest.provenance.files.items():
            if blob.digest in by_contents:
                placed.setdefault(blob.digest, []).append(_owner(manifest, "origin", f"in/{path}"))
        for problem, role in by_step.get((manifest.key, manifest.generation), ()):
            problem.owners.append(_owner(manifest, role, f"its {role}"))
    for digest, owners in placed.items():  # files of the repository: no step makes them
        by_contents[digest].owners = by_contents[digest].owners or owners
    for (step, label), (stage, partition) in remembered.items():
        for problem, role in by_step.get(step, ()):
            if all(known.label != label for known in problem.owners):  # a step without a manifest
                problem.owners.append(Owner(label, stage, partition, role, f"its {role}"))


def _named(manifest: Manifest) -> Iterator[tuple[Role, str, Blob]]:
    """Contents that a manifest names, but for those of inputs, and what they are to the step."""
    for name, blob in manifest.outputs.items():
        yield "output", name, blob
    for name, blob in zip(("its code", "its training config"), manifest.origins(), strict=False):
        yield "origin", name, blob


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
    elif parts[0] == "logs" and len(parts) == 4:
        key, number, role = parts[1], parts[2].partition(".")[0], "log"
    elif parts[0] == "checkpoints" and len(parts) in (4, 5):  # in a bucket an owner's token is before the set
        key, number, role = parts[1], parts[2], "checkpoint set"
    else:
        return None
    return ((original(key), int(number)), role) if number.isdecimal() else None
