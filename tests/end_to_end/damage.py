"""Damages files of a store as a power cut or a bad disk would."""

from __future__ import annotations

import random
import shutil
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from tests.end_to_end.evidence import newest, store_folder
from tests.end_to_end.tiny import Place

HARMS = ("truncated", "missing", "flipped")
_NOT_STORED = {"locks", "tmp", "work", "quarantine"}


def harm(path: Path, how: str) -> None:
    """Damage a file: leave half of it, none of it, or all of it with one bit flipped in its middle."""
    mode = path.stat().st_mode
    data = bytearray(path.read_bytes())
    path.unlink()
    if how == "missing":
        return
    if how == "truncated":
        del data[len(data) // 2 :]
    else:
        data[len(data) // 2] ^= 1
    path.write_bytes(data)
    path.chmod(mode)


def copy_of(place: Place, root: Path) -> Place:
    """A place with the first's configs and all that was made there; the first stays as it is."""
    shutil.copytree(place.root, root, symlinks=True)
    return Place(root)


def files_by_kind(place: Place) -> dict[str, list[Path]]:
    """The store's files by kind: the folder that they stand in; contents by what they are to a step."""
    root = store_folder(place)
    roles = contents_by_role(place)
    kinds: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        top = path.relative_to(root).parts[0]
        if top not in _NOT_STORED:
            kinds[roles.get(path.name, top)].append(path)
    return dict(kinds)


def contents_by_role(place: Place) -> dict[str, str]:
    """Digest → what these contents are: a file of the repository, code or config, an output."""
    found: dict[str, str] = {}
    manifests = newest(place).values()
    for role, blobs in (
        ("input", [blob for one in manifests for blob in one.provenance.files.values()]),
        ("origin", [blob for one in manifests for blob in one.origins()]),
        ("output", [blob for one in manifests for blob in one.outputs.values()]),
    ):
        found.update({blob.digest: role for blob in blobs})
    return found


def sample(paths: Sequence[Path], number: int, chance: random.Random) -> list[Path]:
    """Some of the files."""
    return chance.sample(list(paths), min(number, len(paths)))


def blob_path(place: Place, label: str, name: str) -> Path:
    """Path of the contents of a step's output."""
    digest = newest(place)[label].outputs[name].digest
    return store_folder(place) / "blobs" / digest[:2] / digest


def manifest_path(place: Place, label: str) -> Path:
    """Path of a step's newest manifest."""
    manifest = newest(place)[label]
    return store_folder(place) / "steps" / manifest.key[:2] / manifest.key / f"{manifest.generation}.json"
