"""Models that would convert, and then crash whoever decodes them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from pipeline.common.errors import InputError
from pipeline.common.marian import decoder_config
from pipeline.common.marian_options import write_options
from pipeline.quantize.marian_binary import CONFIG
from pipeline.quantize.quantize import check_sizes, main

SIZES = {"dim-emb": 128, "transformer-dim-ffn": 256, "transformer-decoder-dim-ffn": 0}


def write_model(folder: Path, **sizes: int) -> Path:
    """A folder with a model that has nothing but a configuration."""
    folder.mkdir()
    config = {**SIZES, **{name.replace("_", "-"): size for name, size in sizes.items()}}
    text = yaml.safe_dump(config).encode() + b"\0\0"
    arrays: dict[str, Any] = {CONFIG: np.frombuffer(text, np.int8)}
    np.savez(folder / "model.npz", **arrays)
    write_options(folder / "decoder.yml", decoder_config("model.npz", {}))
    for name in ("source.spm", "target.spm"):
        (folder / name).touch()
    return folder


def test_usual_sizes_pass(tmp_path: Path) -> None:
    check_sizes(write_model(tmp_path / "model") / "model.npz")


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ({"dim_emb": 32}, "dim-emb 32,"),
        ({"dim_emb": 96, "transformer_dim_ffn": 200}, "dim-emb 96, transformer-dim-ffn 200,"),
        ({"transformer_decoder_dim_ffn": 65}, "transformer-decoder-dim-ffn 65,"),
    ],
)
def test_other_sizes_are_refused_before_any_work(tmp_path: Path, sizes: dict[str, int], told: str) -> None:
    """Before the vocabularies and the shortlist, which are no such files here, are read."""
    model = write_model(tmp_path / "model", **sizes)
    with pytest.raises(InputError) as error:
        main(["--model", str(model), "--shortlist", "none", "--output", str(tmp_path / "output")])
    assert f"cannot be quantised: it has {told} and 8-bit decoding needs multiples of 64" in str(error.value)
    assert not (tmp_path / "output").exists()


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\3\4 cut off"])
def test_a_file_that_is_no_model_is_refused(tmp_path: Path, content: bytes) -> None:
    weights = tmp_path / "model.npz"
    weights.write_bytes(content)
    with pytest.raises(InputError, match="is not a model of Marian"):
        check_sizes(weights)


def test_a_model_without_its_configuration_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "model.npz", weights=np.zeros(3))
    with pytest.raises(InputError, match="is not a model of Marian"):
        check_sizes(tmp_path / "model.npz")
