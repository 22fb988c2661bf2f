"""Chosen members out of zip and tar archives, streamed to files whose names the caller chooses.

Names inside an archive never become paths on disk. Members with an absolute name or with `..` in it, links,
devices, and the resource forks that macOS adds (`__MACOSX/._x`) are as good as not there. An archive beyond
the bounds of `pipeline.common.limits` is refused, whether or not the member in question is wanted.
"""

import bz2
import gzip
import logging
import lzma
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, cast

from pipeline.common.errors import InputError
from pipeline.common.limits import MOST_MEMBERS, bounded, refuse_bomb

log = logging.getLogger(__name__)

BUFFER = 1 << 20
SHOWN = 12  # members named in an error
DAMAGE = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, EOFError),
    RecursionError,  # of tarfile, at thousands of headers without a member
    UnicodeDecodeError,  # of zipfile, at a name that is not what its flag says
)
# What tar archives are compressed by: the first bytes, and what opens it.
COMPRESSIONS: dict[bytes, Callable[[Path], object]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}
TAR_MAGIC, TAR_MAGIC_AT = b"ustar", 257  # in the header of the first member
ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # zipfile unpacks what is packed by others at once

Entry = tuple[str, Callable[[], IO[bytes]]]  # a member's name, and how to open it


def members(archive: Path) -> list[str]:
    """Names of the regular files in an archive that are safe to extract, in the archive's order.

    Raises InputError when the file is no archive, damaged or encrypted.
    """
    with _reading(archive):
        return [name for name, _ in _entries(archive)]


def extract(archive: Path, wanted: Mapping[str, Path]) -> None:
    """Write each member named in `wanted` to its path, in one pass through the archive.

    The paths appear when all members are there and the whole archive was found undamaged. Raises InputError
    when a member is missing (naming what is there), and when the archive is damaged or encrypted.
    """
    parts = {name: path.with_name(f".{path.name}.partial") for name, path in wanted.items()}
    try:
        with _reading(archive):
            for name, open_member in _entries(archive):
                if name in parts:
                    _write(open_member, parts[name])
        missing = [name for name, part in parts.items() if not part.exists()]
        if missing:
            raise InputError(
                f"{archive.name} holds no {' and no '.join(missing)}. {_what_is_there(archive, missing)}"
            )
        for name, part in parts.items():
            part.replace(wanted[name])
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


def _write(open_member: Callable[[], IO[bytes]], path: Path) -> None:
    with open_member() as stream, path.open("wb") as file:
        shutil.copyfileobj(stream, file, BUFFER)


def _what_is_there(archive: Path, missing: Collection[str]) -> str:
    names = members(archive)
    if not names:
        return "It holds no file at all."
    near = [near for name in missing for near in get_close_matches(name, names, n=SHOWN // 2, cutoff=0.5)]
    shown = list(dict.fromkeys(near + names))[:SHOWN]
    more = f" and {len(names) - len(shown):,} more" if len(names) > len(shown) else ""
    return f"It holds {', '.join(shown)}{more}."


def _entries(archive: Path) -> Iterator[Entry]:
    if _begins_as_tar(archive) or not zipfile.is_zipfile(archive):
        yield from _tar_entries(archive)
    else:
        yield from _zip_entries(archive)


def _begins_as_tar(archive: Path) -> bool:
    """Tell a tar whose last member is a zip, as PyTorch's weights are, from a zip, which ends like it."""
    with archive.open("rb") as file:
        start = file.read(TAR_MAGIC_AT + len(TAR_MAGIC))
    return start.endswith(TAR_MAGIC) or start.startswith(tuple(COMPRESSIONS))


def _open(archive: Path, *, unpacked: bool) -> BinaryIO:
    """An archive's bytes, or those of a compressed archive, within bounds."""
    packed = archive.stat().st_size
    with archive.open("rb") as file:
        start = file.read(8)
    openers = [opener for magic, opener in COMPRESSIONS.items() if unpacked and start.startswith(magic)]
    stream = openers[0](archive) if openers else archive.open("rb")
    return bounded(cast(BinaryIO, stream), archive.name, lambda: packed)


def _refuse_many_members(archive: Path, members: int) -> None:
    if members > MOST_MEMBERS:
        raise InputError(f"{archive.name} has more than {MOST_MEMBERS:,} files in it. It is not unpacked.")


def _zip_entries(archive: Path) -> Iterator[Entry]:
    with _open(archive, unpacked=False) as bytes_, zipfile.ZipFile(bytes_) as file:
        _refuse_many_members(archive, len(file.infolist()))
        refuse_bomb(archive.name, archive.stat().st_size, sum(info.file_size for info in file.infolist()))
        for info in file.infolist():
            if info.is_dir() or not _usable(archive, info.filename):
                continue
            if info.flag_bits & 1:
                raise InputError(
                    f"{archive.name} is encrypted ({info.filename}). Give an archive without a password."
                )
            if info.compress_type not in ZIP_METHODS:
                raise NotImplementedError(f"{info.filename} is packed by method {info.compress_type}")
            yield _clean(info.filename), partial(file.open, info)


def _tar_entries(archive: Path) -> Iterator[Entry]:
    packed = archive.stat().st_size
    with _open(archive, unpacked=True) as bytes_, tarfile.open(fileobj=bytes_, mode="r:") as file:
        for number, info in enumerate(file, start=1):
            _refuse_many_members(archive, number)
            refuse_bomb(archive.name, packed, info.offset_data + info.size)
            if info.isfile() and _usable(archive, info.name):
                yield _clean(info.name), partial(_tar_member, file, info)
        bytes_.seek(file.offset)  # tarfile takes a header that it cannot read for the end, which is of zeros
        if any(bytes_.read(tarfile.BLOCKSIZE)):
            raise tarfile.ReadError(f"no header at byte {file.offset:,}")
        # tarfile stops before the end of a compressed archive, where its checksum stands
        while bytes_.read(BUFFER):
            pass


def _tar_member(file: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    stream = file.extractfile(info)
    if stream is None:
        raise tarfile.ReadError(f"{info.name} has no content")
    return stream


def _usable(archive: Path, name: str) -> bool:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        log.warning("%s: left out the member %r, whose name points outside the archive", archive.name, name)
        return False
    return "__MACOSX" not in path.parts and not path.name.startswith("._")


def _clean(name: str) -> str:
    return str(PurePosixPath(name))


@contextmanager
def _reading(archive: Path) -> Iterator[None]:
    if not archive.is_file():
        raise InputError(f"The archive {archive} does not exist.")
    try:
        yield
    except NotImplementedError as error:
        raise InputError(
            f"{archive.name} cannot be unpacked: {error}. Pack it as zip (deflate) or tar.gz."
        ) from error
    except (*DAMAGE, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # the system's; bz2's for damage has none
            raise
        raise InputError(
            f"{archive.name} is no zip or tar archive, or is damaged ({error}). Fetch it again."
        ) from error
