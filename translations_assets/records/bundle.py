"""Code bundles, as others may have written them: a tar of plain files, read strictly.

`keys.code.bundle.pack` writes them, uncompressed and without extended headers. So whatever else a tar can
hold (links, devices, sparse files, compressed data, names of 300 MB) is no bundle, and nothing of it is made.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path

from translations_assets.records.inside import inside

MOST_BYTES = 32 << 20  # the largest script's has 0.2 MB
_BLOCK = tarfile.BLOCKSIZE
_PLAIN = (tarfile.REGTYPE, tarfile.AREGTYPE)


class BundleError(ValueError):
    """Contents that are no code bundle, with the reason."""


def unpack(bundle: bytes, folder: Path) -> None:
    """Make a bundle's files below a folder. Raises BundleError, before anything is made, for what is none."""
    files = dict(_files(bundle, folder))
    folders = {parent for path in files for parent in path.parents}
    if both := sorted(folders & files.keys()):
        raise BundleError(f"{both[0].relative_to(folder)} is a file and a folder in it")
    for path, data in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _files(bundle: bytes, folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Each plain file: where it is to stand, and its contents."""
    if len(bundle) > MOST_BYTES:
        raise BundleError(f"it has {len(bundle)} bytes, and a bundle has at most {MOST_BYTES}")
    at = 0
    while any(block := bundle[at : at + _BLOCK]):
        member = _header(block)
        begin, end = at + _BLOCK, at + _BLOCK + member.size
        if member.type != tarfile.DIRTYPE:
            yield _path(folder, member), bundle[begin:end]
        at = begin + -(-member.size // _BLOCK) * _BLOCK
    if len(bundle) < at + 2 * _BLOCK:  # which a tar ends with, empty
        raise BundleError("it is cut off")


def _header(block: bytes) -> tarfile.TarInfo:
    try:
        member = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
    except (tarfile.HeaderError, ValueError) as error:
        raise BundleError(f"it is no tar, or a damaged one ({error})") from error
    if not 0 <= member.size <= MOST_BYTES:
        raise BundleError(f"{member.name!a:.80} in it has {member.size} bytes")
    return member


def _path(folder: Path, member: tarfile.TarInfo) -> Path:
    try:
        path = inside(folder, member.name)
    except ValueError as error:
        raise BundleError(f"it holds {member.name!a:.80}: {error}; only plain files may be in it") from error
    if member.type not in _PLAIN:
        raise BundleError(f"it holds {member.name!a:.80}, and only plain files may be in it")
    return path
