"""Files as `torch.save` writes them of a model's `state_dict`, without PyTorch."""

from __future__ import annotations

import io
import pickle
import sys
import zipfile
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

View: TypeAlias = tuple[int, tuple[int, ...], tuple[int, ...]]  # offset in the storage, shape, strides


def write_torch(path: Path, arrays: Mapping[str, npt.NDArray[np.float32]]) -> None:
    """Write arrays as bfloat16, whose numbers are cut off, as the hub's MetricX has them."""
    views: dict[str, View] = {}
    end = 0
    for name, array in arrays.items():
        strides = [size // array.itemsize for size in np.ascontiguousarray(array).strides]
        views[name] = (end, array.shape, tuple(strides))
        end += array.size
    flat = np.concatenate([array.reshape(-1) for array in arrays.values()])
    save(path, (flat.view(np.uint32) >> 16).astype(np.uint16), views)


def save(path: Path, storage: npt.NDArray[Any], views: Mapping[str, View], old: bool = False) -> None:
    """Write tensors of one storage, as PyTorch does today, or before its version 1.6."""
    torch, utils = ModuleType("torch"), ModuleType("torch._utils")

    class FloatStorage:
        pass

    class BFloat16Storage:
        pass

    def _rebuild_tensor_v2(*_: Any) -> None:
        """A name in the pickle."""

    for thing, module in ((FloatStorage, torch), (BFloat16Storage, torch), (_rebuild_tensor_v2, utils)):
        thing.__module__, thing.__qualname__ = module.__name__, thing.__name__
        setattr(module, thing.__name__, thing)
    kind = BFloat16Storage if storage.dtype == np.uint16 else FloatStorage

    class Tensor:
        def __init__(self, view: View) -> None:
            self.view = view

        def __reduce__(self) -> Any:
            return _rebuild_tensor_v2, (STORAGE, *self.view, False, OrderedDict())

    class Pickler(pickle.Pickler):
        def persistent_id(self, thing: Any) -> Any:
            return ("storage", kind, "0", "cpu", len(storage)) if thing is STORAGE else None

    STORAGE = object()

    def pickled(thing: Any) -> bytes:
        stream = io.BytesIO()
        with patch.dict(sys.modules, {"torch": torch, "torch._utils": utils}):
            Pickler(stream, protocol=2).dump(thing)
        return stream.getvalue()

    tensors = OrderedDict((name, Tensor(view)) for name, view in views.items())
    vars(tensors)["_metadata"] = OrderedDict({"": {"version": 1}})
    if old:
        heads = [0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}, tensors, ["0"]]
        length = len(storage).to_bytes(8, "little")
        path.write_bytes(b"".join(map(pickled, heads)) + length + storage.tobytes())
        return
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickled(tensors))
        archive.writestr("archive/data/0", storage.tobytes())
