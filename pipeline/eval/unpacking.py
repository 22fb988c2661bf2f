"""Single files that a server has packed: zstd, as Remote Settings, or gzip, as Mozilla's buckets."""

import gzip
import shutil
import zlib
from pathlib import Path

import zstandard

from pipeline.common.errors import InputError
from pipeline.common.limits import bounded
from pipeline.common.lines import open_bytes

ENDS = (".zst", ".gz")


def unpack_file(packed: Path, target: Path) -> None:
    """Unpack a file by the end of its name, or move it.

    Raises InputError when it is damaged, cut off or empty, or a bomb.
    """
    if packed.suffix not in ENDS:
        packed.rename(target)
    else:
        _unpack(packed, target)
    if not target.stat().st_size:
        raise InputError(f"{packed.name} is damaged (it holds nothing). Fetch it again.")


def _unpack(packed: Path, target: Path) -> None:
    size = packed.stat().st_size
    try:
        with open_bytes(packed) as stream, target.open("wb") as file:
            shutil.copyfileobj(bounded(stream, packed.name, lambda: size), file)
    except (zstandard.ZstdError, zlib.error, gzip.BadGzipFile, EOFError) as error:
        raise InputError(f"{packed.name} is damaged ({error}). Fetch it again.") from error
