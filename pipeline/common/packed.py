"""Models whose files differ from model to model, as one file.

It is a tar in which nothing stands but names and contents: the same files give the same bytes.
"""

import tarfile
from pathlib import Path

from pipeline.common.archives import extract, members


def pack(folder: Path, archive: Path) -> None:
    """Write the files of a folder, which has no folders in it, to a tar."""
    with tarfile.open(archive, "w") as tar:
        for path in sorted(folder.iterdir()):
            entry = tarfile.TarInfo(path.name)
            entry.size = path.stat().st_size
            with path.open("rb") as file:
                tar.addfile(entry, file)


def unpack(archive: Path, folder: Path) -> Path:
    """Write the files of a tar to a new folder, which is returned; raises InputError for a damaged one."""
    folder.mkdir()
    extract(archive, {name: folder / Path(name).name for name in members(archive)})
    return folder
