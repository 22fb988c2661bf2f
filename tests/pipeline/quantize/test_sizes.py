"""Models that would convert, and then crash whoever decodes them; and sizes of files."""

from pathlib import Path

import pytest
import yaml

from pipeline.common.errors import InputError
from pipeline.common.marian import decoder_config
from pipeline.common.marian_options import write_options
from pipeline.quantize.quantize import check_sizes, main
from pipeline.quantize.student import Weights
from tests.pipeline.quantize.random_model import architecture, exported_bytes, write_model

SIZES = {"dim-emb": 128, "transformer-dim-ffn": 256, "transformer-decoder-dim-ffn": 0}


def weights(**sizes: int) -> Weights:
    """A model that has nothing but a configuration."""
    config = {**SIZES, **{name.replace("_", "-"): size for name, size in sizes.items()}}
    return Weights({}, yaml.safe_dump(config).encode() + b"\0\0")


def test_usual_sizes_pass(tmp_path: Path) -> None:
    check_sizes(weights(), tmp_path)


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ({"dim_emb": 32}, "dim-emb 32,"),
        ({"dim_emb": 96, "transformer_dim_ffn": 200}, "dim-emb 96, transformer-dim-ffn 200,"),
        ({"transformer_decoder_dim_ffn": 65}, "transformer-decoder-dim-ffn 65,"),
    ],
)
def test_other_sizes_are_refused(tmp_path: Path, sizes: dict[str, int], told: str) -> None:
    with pytest.raises(InputError) as error:
        check_sizes(weights(**sizes), tmp_path)
    assert f"cannot be quantised: it has {told} and 8-bit decoding needs multiples of 64" in str(error.value)


@pytest.mark.parametrize(
    ("options", "told"), [({"dim-emb": 32}, "dim-emb 32"), ({"dec-cell": "gru"}, "dec-cell: gru")]
)
def test_models_are_refused_before_any_work(tmp_path: Path, options: dict[str, object], told: str) -> None:
    """Before the vocabularies, the shortlist and the text, which are no such files here, are read."""
    small = {"dim-emb": 64, "transformer-dim-ffn": 64, "enc-depth": 1, "dec-depth": 1}
    write_model(tmp_path / "model.npz", architecture("tiny", 64, True, **{**small, **options}))
    write_options(tmp_path / "decoder.yml", decoder_config("model.npz", {}))
    for name in ("source.spm", "target.spm"):
        (tmp_path / name).touch()
    files = ["--model", str(tmp_path), "--shortlist", "none", "--text", "none"]
    with pytest.raises(InputError, match=told):
        main([*files, "--output", str(tmp_path / "output")])
    assert not (tmp_path / "output").exists()


@pytest.mark.parametrize(
    ("name", "least", "most"), [("tiny", 16.5e6, 17.2e6), ("base-memory", 30.5e6, 31.6e6)]
)
def test_files_are_as_large_as_mozillas(tmp_path: Path, name: str, least: float, most: float) -> None:
    """The median of Mozilla's tiny models is 17.1 MB, of base-memory 31.6 MB."""
    assert least < len(exported_bytes(tmp_path, name, 32_000)) <= most
