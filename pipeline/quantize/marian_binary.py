"""Marian's binary model format: reading, writing, and the numbers that two versions give to their types.

A file, all numbers little-endian:

    u64 version (1)   u64 number of tensors
    for each tensor   u64 length of its name, u64 type, u64 dimensions, u64 bytes of data
    for each tensor   its name, ended by a zero byte
    for each tensor   its dimensions, i32 each
    u64 padding       and so many bytes, so that the data begins at a multiple of 256
    for each tensor   its data, padded to a multiple of 256

The tensor `special:model.yml` holds the model's configuration as text, ended by zero bytes.
"""

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import ArrayLike

from pipeline.common.errors import InputError

VERSION = 1
ALIGNMENT = 256
CONFIG = "special:model.yml"

FLOAT32 = 0x404
INT8 = 0x101
INTGEMM8 = 0x10001  # as current Marian numbers it
INTGEMM8_BROWSER = 0x4101  # as the engine in browsers does; the other types have one number in both

LARGEST = 127  # of the 8-bit integers; -128 is not used

# Bytes that mean something: for each parameter, and after them. 8-bit matrices end with their scale, a float.
_BYTES = {FLOAT32: (4, 0), INT8: (1, 0), INTGEMM8: (1, 4), INTGEMM8_BROWSER: (1, 4)}

_HEADER = struct.Struct("<QQ")
_ENTRY = struct.Struct("<QQQQ")
_PADDING = struct.Struct("<Q")


@dataclass(frozen=True)
class Tensor:
    """A named tensor; `data` is what the file holds, the padding at its end included."""

    name: str
    type: int
    shape: tuple[int, ...]
    data: bytes

    @property
    def size(self) -> int:
        """Number of parameters."""
        return prod(self.shape)


def read_model(path: Path) -> list[Tensor]:
    """Read a model file; raises InputError when it is none, or is cut off."""
    try:
        return parse(path.read_bytes())
    except (struct.error, ValueError) as error:
        raise InputError(
            f"{path} is not a Marian binary model ({error}). Give the file that `quantize` wrote."
        ) from error


def parse(content: bytes) -> list[Tensor]:
    """Read the bytes of a model file; raises ValueError or struct.error when they are none."""
    version, count = _HEADER.unpack_from(content)
    if version != VERSION:
        raise ValueError(f"format version {version}, not {VERSION}")
    if count > len(content) // _ENTRY.size:
        raise ValueError(f"{count} tensors in {len(content)} bytes")
    reader = _Reader(content, _HEADER.size)
    entries = [_ENTRY.unpack(reader.take(_ENTRY.size)) for _ in range(count)]
    names = [reader.take(entry[0])[:-1].decode() for entry in entries]
    shapes = [struct.unpack(f"<{entry[2]}i", reader.take(4 * entry[2])) for entry in entries]
    reader.take(*_PADDING.unpack(reader.take(_PADDING.size)))
    tensors = [
        Tensor(name, entry[1], shape, reader.take(entry[3]))
        for name, entry, shape in zip(names, entries, shapes, strict=True)
    ]
    reader.finish()
    return tensors


def serialize(tensors: Iterable[Tensor]) -> bytes:
    """The bytes of a model file; what `parse` read from a file of Marian's comes out as it was."""
    tensors = list(tensors)
    names = [tensor.name.encode() + b"\0" for tensor in tensors]
    head = [_HEADER.pack(VERSION, len(tensors))]
    for name, tensor in zip(names, tensors, strict=True):
        head.append(_ENTRY.pack(len(name), tensor.type, len(tensor.shape), len(tensor.data)))
    head += names
    head += [struct.pack(f"<{len(tensor.shape)}i", *tensor.shape) for tensor in tensors]
    padding = -(sum(map(len, head)) + _PADDING.size) % ALIGNMENT
    return b"".join([*head, _PADDING.pack(padding), bytes(padding), *(tensor.data for tensor in tensors)])


def float_tensor(name: str, values: ArrayLike) -> Tensor:
    """A tensor of 32-bit floats."""
    array = np.asarray(values, "<f4")
    return Tensor(name, FLOAT32, array.shape, _padded(array.tobytes()))


def int8_tensor(name: str, values: ArrayLike, kind: int, turned: bool = False) -> Tensor:
    """Floats as 8-bit integers, and the scale by which they were multiplied: 127 / the largest absolute one.

    `kind` is INTGEMM8 or INTGEMM8_BROWSER. Matrices that stand on the right of a product are stored with rows
    and columns exchanged (`turned`), which their shape does not tell; embeddings are not.
    """
    array = np.asarray(values, "<f4")
    scale = np.float32(LARGEST) / (np.abs(array).max() or np.float32(1))
    integers = np.rint((array.T if turned else array) * scale).astype(np.int8)
    return Tensor(name, kind, array.shape, _padded(integers.tobytes() + scale.tobytes()))


def bytes_tensor(name: str, content: bytes) -> Tensor:
    """A tensor of bytes, such as the configuration."""
    return Tensor(name, INT8, (len(content),), _padded(content))


def renumber(tensors: Iterable[Tensor], numbers: Mapping[int, int]) -> list[Tensor]:
    """Give types other numbers; nothing else changes. A type that is not named keeps its number."""
    return [replace(tensor, type=numbers.get(tensor.type, tensor.type)) for tensor in tensors]


def clear_padding(tensors: Iterable[Tensor]) -> list[Tensor]:
    """Fill the padding of tensors with zeros; Marian leaves what was in memory there, different in each run.

    Raises ValueError for a type whose length is not known here.
    """
    return [replace(tensor, data=_padded(tensor.data[: _used_bytes(tensor)])) for tensor in tensors]


def model_config(tensors: Iterable[Tensor]) -> dict[str, Any]:
    """The configuration that a model carries; raises InputError when it carries none."""
    for tensor in tensors:
        if tensor.name == CONFIG:
            config = yaml.safe_load(tensor.data.rstrip(b"\0"))
            return dict(config)
    raise InputError(f"The model carries no configuration ({CONFIG}). Make it again with `quantize`.")


def _used_bytes(tensor: Tensor) -> int:
    if tensor.type not in _BYTES:
        raise ValueError(f"{tensor.name} has the unknown type {tensor.type:#x}")
    each, more = _BYTES[tensor.type]
    return tensor.size * each + more


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % ALIGNMENT)


class _Reader:
    """Takes bytes one after another; never fewer than were asked for."""

    def __init__(self, content: bytes, position: int) -> None:
        self._content = content
        self._position = position

    def take(self, length: int) -> bytes:
        end = self._position + length
        if end > len(self._content):
            raise ValueError(f"it ends after {len(self._content):,} bytes, {end:,} or more are announced")
        taken = self._content[self._position : end]
        self._position = end
        return taken

    def finish(self) -> None:
        if self._position != len(self._content):
            raise ValueError(f"{len(self._content) - self._position:,} bytes are left over at its end")
