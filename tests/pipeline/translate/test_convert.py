"""Tests of pipeline.translate.convert."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml
from ctranslate2.converters.marian import load_vocab

from pipeline.common.errors import InputError
from pipeline.train.vocab import learn
from pipeline.translate.convert import CONFIG, main, position_embeddings, read_weights, write_vocabulary
from tests.pipeline.train import tiny
from tests.pipeline.translate.converted import convert, converted, joint_model
from translations_assets.stages.handles import CONVERTED_FILES


def with_options(folder: Path, **options: object) -> Path:
    """The tiny model, described with other options."""
    model = folder / "model"
    shutil.copytree(tiny.model(), model)
    arrays, described = read_weights(model / "model.npz")
    described |= {name.replace("_", "-"): value for name, value in options.items()}
    arrays[CONFIG] = np.frombuffer(yaml.safe_dump(described).encode() + b"\0\0\0", dtype=np.int8)
    np.savez(model / "model.npz", **arrays)  # type: ignore[arg-type]
    return model


@pytest.mark.slow
@pytest.mark.marian
@pytest.mark.parametrize("joint", [False, True], ids=["split vocabulary", "joint vocabulary"])
def test_the_files_are_always_the_same(joint: bool) -> None:
    output = convert(joint_model()) if joint else converted()
    assert {path.name for path in output.iterdir()} == {*CONVERTED_FILES, "stats.json"}
    vocabularies = [
        json.loads((output / f"{side}_vocabulary.json").read_text()) for side in ("source", "target")
    ]
    assert (vocabularies[0] == vocabularies[1]) == joint
    assert [len(pieces) for pieces in vocabularies] == [tiny.VOCAB_SIZE] * 2
    stats = json.loads((output / "stats.json").read_text())
    with np.load((joint_model() if joint else tiny.model()) / "model.npz") as arrays:
        assert stats["parameters"] == sum(arrays[name].size for name in arrays.files if name != CONFIG)


@pytest.mark.marian
def test_conversion_gives_the_same_bytes_again() -> None:
    again = convert(tiny.model())
    for path in converted().iterdir():
        assert (again / path.name).read_bytes() == path.read_bytes(), path.name


@pytest.mark.marian
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("type", "s2s"),
        ("transformer_decoder_autoreg", "rnn"),
        ("transformer_ffn_activation", "tanh"),
        ("transformer_ffn_activation", "gelu"),
        ("transformer_preprocess", "n"),
        ("transformer_postprocess", "an"),
        ("transformer_ffn_depth", 3),
        ("transformer_tied_layers", [1, 1]),
        ("transformer_train_position_embeddings", True),
        ("right_left", True),
    ],
)
def test_a_model_that_would_be_decoded_otherwise_is_refused(
    tmp_path: Path, option: str, value: object
) -> None:
    with pytest.raises(InputError, match=r"CTranslate2 cannot decode .*model\.npz") as caught:
        main(["--model", str(with_options(tmp_path, **{option: value})), "--output", str(tmp_path / "out")])
    assert option.replace("_", "-") in str(caught.value)
    assert "teacher-decoder: marian" in str(caught.value)
    assert list((tmp_path / "out").glob("*")) == []


@pytest.mark.marian
def test_a_vocabulary_of_another_size_is_refused(tmp_path: Path) -> None:
    model = shutil.copytree(tiny.model(), tmp_path / "model")
    pairs = [source for source, _ in tiny.pairs(600, seed=1)]
    (model / "source.spm").write_bytes(learn(pairs, tiny.VOCAB_SIZE - 8, "nfd"))
    with pytest.raises(InputError, match="CTranslate2 cannot decode"):
        main(["--model", str(model), "--output", str(tmp_path / "out")])


@pytest.mark.marian
def test_weights_that_are_none_are_told(tmp_path: Path) -> None:
    model = shutil.copytree(tiny.model(), tmp_path / "model")
    (model / "model.npz").write_bytes(b"PK no more")
    with pytest.raises(InputError, match=r"model\.npz is not a model of Marian"):
        main(["--model", str(model), "--output", str(tmp_path / "out")])


def test_any_piece_survives_the_vocabulary_in_between(tmp_path: Path) -> None:
    pieces = [
        "</s>",
        "<unk>",
        "▁",
        "'",
        "''",
        '"',
        '"a"',
        "\\",
        "\\x41",
        ": 3",
        "? ",
        "#",
        "- a",
        " ",
        "<0x0A>",
    ]
    write_vocabulary(tmp_path / "vocab.yml", pieces)
    assert load_vocab(tmp_path / "vocab.yml") == pieces


def test_positions_are_those_of_marian() -> None:
    table = position_embeddings(3, 4)
    slow = 1e-4  # the slowest of two waves
    assert table.shape == (3, 4)
    expected = [[np.sin(i), np.sin(i * slow), np.cos(i), np.cos(i * slow)] for i in range(3)]
    np.testing.assert_allclose(table, expected, rtol=1e-6)
