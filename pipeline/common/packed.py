"""Models whose files differ from model to model, as one file.

It is a tar in which nothing stands but names and contents: the same files give the same bytes.
"""

import tarfile
from pathlib import Path

from pipeline.common.archives import extract, members
from pipeline.common.errors import InputError


def pack(folder: Path, archive: Path) -> None:
    """Write the files of a folder, which has no folders in it, to a tar."""
    with tarfile.open(archive, "w") as tar:
        for path in sorted(folder.iterdir()):
            entry = tarfile.TarInfo(path.name)
            entry.size = path.stat().st_size
            with path.open("rb") as file:
                tar.addfile(entry, file)


def unpack(archive: Path, folder: Path) -> Path:
    """Write the files of a tar to a new folder, which is returned; the folders in the tar do not count.

    Raises InputError for a damaged tar, and for files of one name in several folders.
    """
    files: dict[str, str] = {}
    for member in members(archive):
        if (other := files.setdefault(Path(member).name, member)) != member:
            raise InputError(f"{archive.name} holds {other} and {member}. Pack the files of one model alone.")
    folder.mkdir()
    extract(archive, {member: folder / name for name, member in files.items()})
    return folder
