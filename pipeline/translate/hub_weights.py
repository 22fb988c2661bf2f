"""Weights of models of the Hugging Face hub, without PyTorch: safetensors, and what `torch.save` writes.

A model may be in one file, or in several with an index. Of PyTorch's files nothing is run: only tensors are
read, and whatever else a pickle asks for is refused. Formats: https://huggingface.co/docs/safetensors, and
torch/serialization.py for its zip archives and the older files of one pickle after another.
"""

import json
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pipeline.common.errors import InputError

Array: TypeAlias = npt.NDArray[np.float32]

SAFE = "model.safetensors"
TORCH = "pytorch_model.bin"
INDEX = ".index.json"
# NumPy's types of what safetensors and torch call them; bfloat16, which NumPy lacks, is read as 16 bits
_SAFE_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4"}
_STORAGES = {
    "DoubleStorage": "<f8",
    "FloatStorage": "<f4",
    "HalfStorage": "<f2",
    "BFloat16Storage": "<u2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
}
_OLD = 0x1950A86A20F9469CFC6C  # the first pickle of an older file
_BROKEN = (ValueError, KeyError, IndexError, TypeError, EOFError, zipfile.BadZipFile, pickle.UnpicklingError)


def weight_files(names: "Mapping[str, object] | set[str]") -> list[str]:
    """The files of weights among a model's files, or their index: safetensors before PyTorch's own.

    Raises InputError without any.
    """
    for name in (SAFE, SAFE + INDEX, TORCH, TORCH + INDEX):
        if name in names:
            return [name]
    raise InputError(f"It has no weights: neither {SAFE} nor {TORCH}. Choose another model, or revision.")


def parts_of(index: Path) -> list[str]:
    """The files that an index names. Raises InputError for what is none."""
    try:
        return sorted({str(name) for name in json.loads(index.read_bytes())["weight_map"].values()})
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{index.name} is no index of weights ({error!r}). Fetch the model again."
        ) from error


def read_weights(folder: Path) -> dict[str, Array]:
    """All weights of a model by their names, as 32 bits. Raises InputError for a damaged file."""
    (name,) = weight_files({path.name for path in folder.iterdir()})
    files = parts_of(folder / name) if name.endswith(INDEX) else [name]
    found: dict[str, Array] = {}
    for file in files:
        read = _read_safe if file.endswith(".safetensors") else _read_torch
        try:
            found.update(read(folder / file))
        except (*_BROKEN, OSError) as error:
            raise InputError(f"{file} cannot be read ({error!r}). Fetch the model again.") from error
    return found


def _read_safe(path: Path) -> Iterator[tuple[str, Array]]:
    with path.open("rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        begin = file.tell()
        for name, told in header.items():
            if "data_offsets" in told:  # the rest is about the file
                first, end = told["data_offsets"]
                file.seek(begin + first)
                yield name, _as_floats(file.read(end - first), told["dtype"], told["shape"])


def _as_floats(data: bytes, kind: str, shape: list[int]) -> Array:
    return _floats(np.frombuffer(data, _SAFE_TYPES[kind]), kind == "BF16").reshape(shape)


def _floats(values: npt.NDArray[Any], brain: bool) -> Array:
    """Numbers as 32 bits; bfloat16 is the upper half of these."""
    if brain:
        return (values.astype(np.uint32) << 16).view(np.float32)
    return values.astype(np.float32)


@dataclass(frozen=True)
class _Storage:
    """A storage that tensors are cut from: its key, and the kind of its numbers."""

    key: str
    kind: str


@dataclass(frozen=True)
class _Tensor:
    """A tensor: where it begins in its storage, its shape, and steps between its elements."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def cut(self, values: npt.NDArray[Any]) -> Array:
        """The tensor, of the storage's numbers."""
        own = values[self.offset :]
        if self.shape and all(self.shape):
            last = sum((size - 1) * step for size, step in zip(self.shape, self.strides, strict=True))
            if last >= len(own) or min(self.strides) < 0:
                raise ValueError("a tensor is larger than its storage")
        strides = [step * own.itemsize for step in self.strides]
        laid = np.lib.stride_tricks.as_strided(own, self.shape, strides)
        return _floats(np.ascontiguousarray(laid), self.storage.kind == "BFloat16Storage")


class _Tensors(pickle.Unpickler):
    """Reads a pickle of tensors, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        """What the pickle may build."""
        if module == "torch" and name in _STORAGES:
            return name
        known: Mapping[tuple[str, str], Callable[..., Any]] = {
            ("collections", "OrderedDict"): OrderedDict,  # a plain one takes no `_metadata`, which torch adds
            ("torch._utils", "_rebuild_tensor_v2"): _rebuild,
            ("torch._utils", "_rebuild_parameter"): _rebuild_parameter,
        }
        if (module, name) not in known:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which is no tensor")
        return known[module, name]

    def persistent_load(self, pid: Any) -> _Storage:
        """A storage, which the pickle names: `("storage", kind, key, place, length)`."""
        return _Storage(str(pid[2]), str(pid[1]))


def _rebuild(
    storage: _Storage, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *_: Any
) -> _Tensor:
    return _Tensor(storage, offset, tuple(shape), tuple(strides))


def _rebuild_parameter(tensor: _Tensor, *_: Any) -> _Tensor:
    return tensor


def _read_torch(path: Path) -> Iterator[tuple[str, Array]]:
    if zipfile.is_zipfile(path):
        yield from _read_zip(path)
        return
    with path.open("rb") as file:
        if _Tensors(file).load() != _OLD:
            raise ValueError("it is no file of PyTorch")
        _Tensors(file).load()  # the version
        _Tensors(file).load()  # sizes of the machine's numbers
        tensors = _Tensors(file).load()
        keys = _Tensors(file).load()
        kinds = {tensor.storage.key: tensor.storage.kind for tensor in tensors.values()}
        storages = {str(key): _old_storage(file, kinds.get(str(key), "FloatStorage")) for key in keys}
    for name, tensor in tensors.items():
        yield name, tensor.cut(storages[tensor.storage.key])


def _old_storage(file: BufferedReader, kind: str) -> npt.NDArray[Any]:
    number = int.from_bytes(file.read(8), "little")
    dtype = np.dtype(_STORAGES[kind])
    return np.frombuffer(file.read(number * dtype.itemsize), dtype, number)


def _read_zip(path: Path) -> Iterator[tuple[str, Array]]:
    with zipfile.ZipFile(path) as archive:
        (pickled,) = [name for name in archive.namelist() if name.endswith("/data.pkl")]
        root = pickled.removesuffix("data.pkl")
        with archive.open(pickled) as file:
            tensors = _Tensors(file).load()
        for name, tensor in tensors.items():
            data = archive.read(f"{root}data/{tensor.storage.key}")
            yield name, tensor.cut(np.frombuffer(data, _STORAGES[tensor.storage.kind]))
