"""The weights of an exported student, which are 8-bit integers, as floats that training can go on with.

A matrix is its integers divided by its scale: each weight is off by half of a step at most, and a step is the
largest weight of the matrix / 127. The multipliers of activations are left out: training has none.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipeline.common.errors import InputError
from pipeline.quantize.alphas import MULTIPLIER
from pipeline.quantize.marian_binary import (
    CONFIG,
    FLOAT32,
    INTGEMM8,
    INTGEMM8_BROWSER,
    Tensor,
    read_model,
)

SUFFIX = ".bin"
_EMBEDDINGS = "Wemb"  # in the names of matrices that are stored as they are; of others the transposed one is


def write_floats(exported: Path, weights: Path) -> None:
    """Write a binary model as Marian's model.npz. Raises InputError for a file that is no such model."""
    tensors = read_model(exported)
    config = next((tensor.data for tensor in tensors if tensor.name == CONFIG), None)
    if config is None:
        raise InputError(f"{exported} does not describe itself, so no training can go on with it.")
    arrays = {tensor.name: _floats(tensor) for tensor in tensors if not _is_of_engine(tensor.name)}
    described = np.frombuffer(config.rstrip(b"\0") + b"\0", np.int8)
    with weights.open("wb") as file:
        np.savez(file, **arrays, **{CONFIG: described})  # type: ignore[arg-type]


def _is_of_engine(name: str) -> bool:
    return name == CONFIG or name.endswith(MULTIPLIER)


def _floats(tensor: Tensor) -> npt.NDArray[np.float32]:
    if tensor.type == FLOAT32:
        return np.frombuffer(tensor.data, "<f4", tensor.size).reshape(tensor.shape)
    if tensor.type not in (INTGEMM8, INTGEMM8_BROWSER):
        raise InputError(f"{tensor.name} has the type {tensor.type:#x}, which is none of 8-bit students.")
    scale = np.frombuffer(tensor.data, "<f4", 1, tensor.size)[0]
    integers = np.frombuffer(tensor.data, np.int8, tensor.size)
    values: npt.NDArray[np.float32] = integers.astype(np.float32) / scale
    if _EMBEDDINGS in tensor.name:
        return values.reshape(tensor.shape)
    return values.reshape(tensor.shape[::-1]).T.copy()
