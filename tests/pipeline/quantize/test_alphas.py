"""Multipliers of activations: what they are computed from, and how the model carries them."""

import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.common.errors import InputError, TemporaryError
from pipeline.common.lines import write_lines
from pipeline.common.marian import load_model
from pipeline.quantize.alphas import browser_model
from pipeline.quantize.calibration import activation_maxima, multiplier, multipliers
from pipeline.quantize.marian_binary import (
    CONFIG,
    FLOAT32,
    INT8,
    INTGEMM8,
    INTGEMM8_BROWSER,
    Tensor,
    clear_padding,
    float_tensor,
    int8_tensor,
    model_config,
    parse,
    read_model,
    renumber,
    serialize,
)
from pipeline.quantize.student import END, Student, read_weights
from tests.pipeline.quantize.random_model import SMALL, architecture, write_model
from tests.pipeline.quantize.tiny_model import Tiny

PAIRS = [([piece, 7, END], [5, piece, END]) for piece in range(1, 21)]


def numbers(tensor: Tensor) -> tuple[list[int], float]:
    """The integers of an 8-bit tensor, and its scale."""
    (scale,) = struct.unpack_from("<f", tensor.data, tensor.size)
    return np.frombuffer(tensor.data, np.int8, tensor.size).tolist(), scale


def alpha(tensor: Tensor) -> float:
    """A multiplier in either form, as fxtranslate reads it (weights.rs, read_output_qa)."""
    assert tensor.shape == (1, 1)
    if tensor.type == FLOAT32:
        return float(struct.unpack_from("<f", tensor.data)[0])
    (integer,), scale = numbers(tensor)
    return integer / scale


def small(folder: Path, joint: bool) -> Path:
    write_model(folder / "model.npz", architecture("tiny", 64, joint, **SMALL))
    return folder / "model.npz"


def test_floats_become_integers_and_their_scale() -> None:
    matrix = int8_tensor("W", [[0.5, -1.0, 0.0], [0.25, 0.1, 2.0]], INTGEMM8)
    assert (matrix.shape, len(matrix.data) % 256) == ((2, 3), 0)
    assert numbers(matrix) == (
        [32, -64, 0, 16, 6, 127],
        63.5,
    )  # 31.75 and -63.5, to the nearest, ties to even
    turned = int8_tensor("W", [[0.5, -1.0, 0.0], [0.25, 0.1, 2.0]], INTGEMM8, turned=True)
    assert (turned.shape, numbers(turned)[0]) == ((2, 3), [32, 16, -64, 6, 0, 127])
    assert numbers(int8_tensor("W", np.zeros((1, 2)), INTGEMM8)) == ([0, 0], 127)


def test_floats_stay_as_they_are() -> None:
    assert float_tensor("b", [[1.0, 2.0]]) == Tensor(
        "b", FLOAT32, (1, 2), struct.pack("<2f", 1, 2) + bytes(248)
    )


def test_a_multiplier_leaves_two_deviations_of_room() -> None:
    assert multiplier([4.0, 4.0]) == 31.8  # 127 / 4
    assert multiplier([3.0, 5.0]) == 21.2  # 127 / (4 + 2 × 1)


@pytest.mark.parametrize("joint", [True, False], ids=["joint", "split"])
def test_the_model_has_every_matrix_in_8_bits_with_a_multiplier(tmp_path: Path, joint: bool) -> None:
    weights = read_weights(small(tmp_path, joint))
    maxima = activation_maxima(tmp_path / "model.npz", PAIRS)
    alphas = {name: multiplier(values) for name, values in maxima.items()}
    model = {tensor.name: tensor for tensor in parse(serialize(browser_model(weights, alphas)))}
    embeddings = {"Wemb"} if joint else {"encoder_Wemb", "decoder_Wemb"}
    matrices = {name for name, array in weights.arrays.items() if min(array.shape) > 1} - embeddings
    for name in matrices | embeddings:
        assert model[name].type == INTGEMM8_BROWSER
    for name in matrices:
        assert model[f"{name}_QuantMultA"].type == FLOAT32
        assert alpha(model[f"{name}_QuantMultA"]) == pytest.approx(alphas[name])
    output = "Wemb" if joint else "decoder_Wemb"
    assert model[f"{output}_QuantMultA"].type == INTGEMM8_BROWSER
    assert alpha(model[f"{output}_QuantMultA"]) == pytest.approx(alphas[output])
    assert ("none_QuantMultA" in model) == joint
    if joint:
        assert alpha(model["none_QuantMultA"]) == pytest.approx(alphas["Wemb"])
    assert model[CONFIG].type == INT8
    assert model_config(model.values())["dim-emb"] == 64
    assert list(model) == sorted(model)


def test_maxima_are_those_of_each_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = small(tmp_path, True)
    seen: dict[str, list[float]] = {}
    student = Student(read_weights(weights), lambda name, x: seen.setdefault(name, []).append(abs(x).max()))
    for source, target in PAIRS:
        student.run(source, target)
    for threads in ("1", "2"):
        monkeypatch.setenv("TRANSLATIONS_THREADS", threads)
        monkeypatch.setattr("pipeline.quantize.calibration.CHUNK", 7)
        found = activation_maxima(weights, PAIRS)
        assert found.keys() == seen.keys()
        for name, values in found.items():
            assert len(values) == len(PAIRS)
            np.testing.assert_allclose(values, seen[name], rtol=1e-5)


class Killed:
    """Weights that end the process which reads them, as the kernel does when memory is short."""

    def __reduce__(self) -> tuple[Any, tuple[int]]:
        return os._exit, (137,)


def test_a_killed_process_asks_for_another_attempt() -> None:
    weights: Any = Killed()
    with pytest.raises(TemporaryError, match="was killed; was memory short"):
        activation_maxima(weights, PAIRS)


@pytest.mark.marian
@pytest.mark.slow
def test_matrices_are_those_of_marians_conversion(quantized: Path) -> None:
    marians = clear_padding(
        renumber(read_model(quantized / "model.intgemm8.bin"), {INTGEMM8: INTGEMM8_BROWSER})
    )
    model = {tensor.name: tensor for tensor in read_model(quantized / "model.intgemm.alphas.bin")}
    for tensor in marians:
        if not tensor.name.endswith("Wemb") and tensor.name != CONFIG:
            assert model[tensor.name] == tensor, tensor.name


@pytest.mark.marian
@pytest.mark.slow
def test_a_text_without_lines_is_refused(tiny: Tiny, tmp_path: Path) -> None:
    write_lines(tmp_path / "text", ["", " "])
    with pytest.raises(InputError, match="no line to calibrate with"):
        multipliers(load_model(tiny.model), tmp_path / "text", tmp_path)
