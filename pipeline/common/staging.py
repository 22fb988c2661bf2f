"""An output folder that holds all of its files or none."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.common.script import new_folder


@contextmanager
def staged(output: Path) -> Iterator[tuple[Path, Path]]:
    """Make `output` and yield two folders in it: one for the files to publish, one for scratch files.

    When the block ends well the files are moved to `output`; in any case both folders are removed.
    """
    staging = new_folder(output) / ".staging"
    publish, scratch = staging / "publish", staging / "scratch"
    publish.mkdir(parents=True)
    scratch.mkdir()
    try:
        yield publish, scratch
        for path in sorted(publish.iterdir()):
            path.rename(output / path.name)
    finally:
        shutil.rmtree(staging)
