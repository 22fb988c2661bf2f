"""The 8-bit weights of an exported student as floats."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines
from pipeline.common.marian import decode, load_model
from pipeline.continuation.exported import write_floats
from pipeline.continuation.model import main
from pipeline.quantize.marian_binary import CONFIG, float_tensor, serialize
from tests.pipeline.quantize.conftest import quantized, tiny
from tests.pipeline.quantize.tiny_model import Tiny

__all__ = ["quantized", "tiny"]
FILES = {
    "model.intgemm.alphas.bin": "model.eneo.intgemm.alphas.bin",
    "source.spm": "srcvocab.eneo.spm",
    "target.spm": "trgvocab.eneo.spm",
}


@pytest.fixture
def exported(quantized: Path, tmp_path: Path) -> Path:
    """A student in the files of its export, with a vocabulary for each side."""
    folder = tmp_path / "exported"
    folder.mkdir()
    for name, as_exported in FILES.items():
        shutil.copyfile(quantized / name, folder / as_exported)
    return folder


@pytest.mark.marian
@pytest.mark.slow
@pytest.mark.parametrize("name", ["model.intgemm.alphas.bin", "model.intgemm8.bin"])
def test_weights_are_off_by_half_a_step_at_most(
    tiny: Tiny, quantized: Path, tmp_path: Path, name: str
) -> None:
    write_floats(quantized / name, tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz") as floats, np.load(tiny.model / "model.npz") as trained:
        assert {*floats.files} == {*trained.files}
        described = [yaml.safe_load(file[CONFIG].tobytes().rstrip(b"\0")) for file in (floats, trained)]
        assert described[0] == described[1]
        matrices = [name for name in trained.files if name != CONFIG and min(trained[name].shape) > 1]
        assert len(matrices) > 10
        changed = 0
        for matrix in trained.files:
            if matrix == CONFIG:
                continue
            before, after = trained[matrix], floats[matrix]
            assert before.shape == after.shape
            step = np.abs(before).max() / 127
            assert np.abs(before - after).max() <= step / 2 * 1.001 + 1e-9
            changed += not np.array_equal(before, after)
        assert changed >= len(matrices) - 2  # Marian leaves embeddings as they are


@pytest.mark.marian
@pytest.mark.slow
def test_training_can_go_on_from_an_exported_student(tiny: Tiny, exported: Path, tmp_path: Path) -> None:
    options = ["--src", "en", "--trg", "eo", "--url", exported.as_uri(), "--best-model", "chrf"]
    main([*options, "--output", str(tmp_path / "model")])
    assert load_model(tmp_path / "model").weights.name == "model.npz"
    for name, folder in {"ours": tmp_path / "model", "theirs": tiny.model}.items():
        decode([folder], tiny.test[0], tmp_path / f"{name}.zst", {"beam-size": 1})
    ours, theirs = (list(read_lines(tmp_path / f"{name}.zst")) for name in ("ours", "theirs"))
    assert sum(one == other for one, other in zip(ours, theirs, strict=True)) > 0.8 * len(ours)


def test_what_is_no_exported_student_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(serialize([float_tensor("W", [[1.0]])]))
    with pytest.raises(InputError, match="does not describe itself"):
        write_floats(tmp_path / "model.bin", tmp_path / "model.npz")
    (tmp_path / "exported").mkdir()
    (tmp_path / "exported" / "model.eneo.intgemm8.bin").write_bytes(b"nothing")
    options = ["--src", "en", "--trg", "eo", "--url", (tmp_path / "exported").as_uri()]
    with pytest.raises(InputError, match=r"model\.eneo\.intgemm8\.bin.* is not a Marian binary model"):
        main([*options, "--best-model", "chrf", "--output", str(tmp_path / "model")])
