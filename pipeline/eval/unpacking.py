"""Single files that a server has packed: zstd, as Remote Settings, or gzip, as Mozilla's buckets."""

import gzip
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, cast

import zstandard

from pipeline.common.errors import InputError
from pipeline.common.limits import bounded

OPENERS: dict[str, Callable[..., object]] = {".zst": zstandard.open, ".gz": gzip.open}


def unpack_file(packed: Path, target: Path) -> None:
    """Unpack a file by the end of its name, or move it; raises InputError when it is damaged, or a bomb."""
    opener = OPENERS.get(packed.suffix)
    if opener is None:
        packed.rename(target)
        return
    size = packed.stat().st_size
    try:
        with cast(BinaryIO, opener(packed, "rb")) as stream, target.open("wb") as file:
            shutil.copyfileobj(bounded(stream, packed.name, lambda: size), file)
    except (zstandard.ZstdError, zlib.error, gzip.BadGzipFile, EOFError) as error:
        raise InputError(f"{packed.name} is damaged ({error}). Fetch it again.") from error
