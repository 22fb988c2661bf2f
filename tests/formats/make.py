"""Makes the fixtures: checks out each version of `VERSIONS` and has it write what it writes.

    python -m tests.formats.make [VERSION]...

The environment is today's, with which old versions run as long as no library's interface changes under them.
The fixture of a version that cannot be run any more stays as it is. A fixture made again differs in times.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from tests.formats.versions import VERSIONS, WRITTEN
from translations_assets.common.settings import repository_root

_PARTS = ("state/store", "bucket", "job.json")


def make(version: str) -> None:
    """Write the fixture of a version."""
    commit = VERSIONS[version].commit
    with tempfile.TemporaryDirectory() as tree:
        command = ["git", "-C", str(repository_root()), "archive", commit]
        archive = subprocess.run(command, check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
            packed.extractall(tree, filter="data")
        with tempfile.TemporaryDirectory() as parent:
            place = Path(parent) / "place"
            _write(tree, place)
            _pack(place, WRITTEN / f"{version}.tar.xz")


def _write(tree: str, place: Path) -> None:
    script = Path(__file__).with_name("write.py")
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    command = [sys.executable, str(script), tree, str(place)]
    subprocess.run(command, check=True, env={**environment, "PYTHONPATH": tree}, timeout=300)


def _pack(place: Path, target: Path) -> None:
    with tarfile.open(target, "w:xz", preset=9) as archive:
        for part in _PARTS:
            if (place / part).exists():
                archive.add(place / part, part, filter=_plain)


def _plain(item: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Leave out who made it, and files of writers at work."""
    if item.name.startswith("state/store/tmp"):
        return None
    item.uid = item.gid = 0
    item.uname = item.gname = ""
    return item


if __name__ == "__main__":
    for name in sys.argv[1:] or VERSIONS:
        make(name)
        print(name)
