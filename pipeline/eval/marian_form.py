"""Firefox's models without multipliers of activations, in the form that Marian decodes.

`fxtranslate` reads models with multipliers only. Older releases have none (`*.intgemm8.bin`): Marian computes
them for each product, as the engine did that Firefox had then. Their embeddings are in 8 bits, which Marian
wants as floats, and their 8-bit matrices have another type's number; the bytes are the same.
"""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from pipeline.common.engine import find_file
from pipeline.common.errors import InputError
from pipeline.common.marian import DECODER_CONFIG, SOURCE_VOCAB, TARGET_VOCAB, decoder_config
from pipeline.common.marian_options import write_options
from pipeline.quantize.alphas import MULTIPLIER
from pipeline.quantize.marian_binary import (
    FLOAT32,
    INT8,
    INTGEMM8,
    INTGEMM8_BROWSER,
    Tensor,
    float_tensor,
    read_model,
    renumber,
    serialize,
)

WEIGHTS = "model.intgemm8.bin"
SHORTLIST = "lex.bin"
EMBEDDINGS = "Wemb"  # or encoder_Wemb and decoder_Wemb


def write_marian_folder(files: Sequence[Path], folder: Path) -> None:
    """Write a MODEL_DIR of the files of a model of Firefox's; InputError when one is missing or damaged."""
    folder.mkdir()
    tensors = renumber(_tensors(find_file(files, "model.", ".intgemm8.bin")), {INTGEMM8_BROWSER: INTGEMM8})
    (folder / WEIGHTS).write_bytes(serialize(tensors))
    joint = any(file.name.startswith("vocab.") for file in files)
    for name, start in ((SOURCE_VOCAB, "srcvocab."), (TARGET_VOCAB, "trgvocab.")):
        shutil.copyfile(find_file(files, "vocab." if joint else start, ".spm"), folder / name)
    shortlists = [file for file in files if file.name.startswith("lex.") and file.suffix == ".bin"]
    if shortlists:
        shutil.copyfile(shortlists[0], folder / SHORTLIST)
    config = decoder_config(WEIGHTS, {}, SHORTLIST if shortlists else None)
    write_options(folder / DECODER_CONFIG, config)


def _tensors(model: Path) -> Iterator[Tensor]:
    for tensor in read_model(model):
        if tensor.type not in (FLOAT32, INT8, INTGEMM8_BROWSER):
            raise InputError(
                f"{model.name} holds {tensor.name} of type {tensor.type:#x}, which Marian may number "
                "otherwise. Give a model as Firefox ships it."
            )
        if tensor.name.endswith(MULTIPLIER):
            continue
        quantised = tensor.type == INTGEMM8_BROWSER and tensor.name.endswith(EMBEDDINGS)
        yield _as_floats(tensor) if quantised else tensor


def _as_floats(tensor: Tensor) -> Tensor:
    integers = np.frombuffer(tensor.data, np.int8, tensor.size).reshape(tensor.shape)
    (scale,) = np.frombuffer(tensor.data, "<f4", 1, tensor.size)
    return float_tensor(tensor.name, integers.astype(np.float32) / scale)
