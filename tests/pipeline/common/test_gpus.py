"""For which GPUs Marian is built: what its messages and the guide say of them."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from importlib.metadata import files
from pathlib import Path
from typing import TypeAlias

MAGIC = b"\x50\xed\x55\xba"  # of a fat binary: CUDA's code for several GPUs, as nvcc puts it into a library
HEADER = 16
PTX, CUBIN = 1, 2

Image: TypeAlias = tuple[int, int]  # kind and compute capability, times ten


def fat_binaries(library: Path) -> Iterator[list[Image]]:
    """The images of each fat binary of a library."""
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        start = data.find(MAGIC)
        while start >= 0:
            _, header, size = struct.unpack_from("<HHQ", data, start + 4)
            end = start + HEADER + size
            if header == HEADER and end <= len(data):
                yield list(images(data, start + HEADER, end))
            else:
                end = start + 4
            start = data.find(MAGIC, end)


def images(data: mmap.mmap, start: int, end: int) -> Iterator[Image]:
    while start < end:
        kind, _, header, size = struct.unpack_from("<HHIQ", data, start)
        (capability,) = struct.unpack_from("<I", data, start + 28)
        yield kind, capability
        start += header + size


def runs_on(binary: list[Image], capability: int) -> bool:
    """True if a GPU has code in a fat binary: of its own generation, or that its driver compiles."""
    return any(
        built <= capability and (kind == PTX or built // 10 == capability // 10) for kind, built in binary
    )


def test_marian_has_code_for_gpus_up_to_90_which_compile_its_own_kernels_at_their_first_start() -> None:
    (library,) = (file.locate() for file in files("pymarian") or () if file.name.startswith("_pymarian."))
    binaries = [binary for binary in fat_binaries(Path(str(library))) if binary]
    marians = [binary for binary in binaries if any(kind == PTX for kind, _ in binary)]
    cublas = [binary for binary in binaries if (CUBIN, 90) in binary]
    assert len(marians) > 200
    assert len(cublas) > 200
    for capability in (60, 61, 70, 75, 80, 86, 89, 90):
        assert all(runs_on(binary, capability) for binary in marians), capability
    assert not any((CUBIN, 90) in binary for binary in marians)  # the driver compiles their PTX
    assert max(capability for binary in cublas for _, capability in binary) == 90
    assert not any(kind == PTX for binary in cublas for kind, _ in binary)  # newer GPUs have none of it
