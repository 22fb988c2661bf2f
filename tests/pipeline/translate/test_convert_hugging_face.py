"""Models of the Hugging Face hub translate with CTranslate2 as with Transformers (hub_reference.py)."""

from __future__ import annotations

import json
import pickle
import shutil
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import ctranslate2
import numpy as np
import pytest

from pipeline.common.errors import InputError
from pipeline.common.lines import write_lines
from pipeline.common.packed import pack
from pipeline.translate import with_ctranslate2
from pipeline.translate.convert_hugging_face import main
from pipeline.translate.ctranslate2_decoder import Decoder
from pipeline.translate.ctranslate2_options import read_settings
from pipeline.translate.hub_weights import read_weights
from tests.pipeline.train.tiny import lines_of
from tests.pipeline.translate.hub_models import KINDS, PREFIXES, TEXT, write_model, write_safetensors
from tests.pipeline.translate.torch_files import View, save
from tests.session import new_folder, once

EXPECTED = json.loads(Path(__file__).with_name("hub_expected.json").read_text(encoding="utf-8"))
MOST = 12


@cache
def converted(kind: str) -> Path:
    return (
        once(f"hub-{kind}", lambda folder: convert(write_model(kind, folder / "model"), kind, folder / "out"))
        / "out"
    )


def convert(model: Path, kind: str, output: Path | None = None) -> Path:
    output = output or new_folder() / "out"
    archive = output.with_name("model.tar")
    pack(model, archive)
    source, target = PREFIXES[kind]
    prefixes = ["--source-prefix", *source, "--target-prefix", *target]
    main(["--model", str(archive), *prefixes, "--output", str(output)])
    return output


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("beam", [1, 4])
def test_translations_and_their_scores_are_those_of_transformers(kind: str, beam: int) -> None:
    translator = ctranslate2.Translator(str(converted(kind)), compute_type="float32")
    begin = PREFIXES[kind][1]
    for line in EXPECTED[kind]:
        source, expected = line["cut"][:-1], line[str(beam)]
        (result,) = translator.translate_batch(
            [source],
            target_prefix=[begin] if begin else None,
            beam_size=beam,
            length_penalty=0,
            min_decoding_length=MOST,
            max_decoding_length=MOST + len(begin),
            disable_unk=True,
        )
        assert result.hypotheses[0][len(begin) :] == expected["tokens"]
        # Those of the search are without what may not be written, which has a part of the probability.
        (scored,) = translator.score_batch([source], [begin + expected["tokens"]])
        assert sum(scored.log_probs[len(begin) : len(begin) + MOST]) == pytest.approx(
            expected["score"], abs=2e-3
        )


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_is_translated_by_the_script_for_parts(kind: str, tmp_path: Path) -> None:
    write_lines(tmp_path / "text.zst", [TEXT[0], "", TEXT[2]])
    (tmp_path / "decoding.yml").write_text("beam-size: 2\nnormalize: 1\nmini-batch: 4\nmaxi-batch: 2\n")
    files = ["--text", str(tmp_path / "text.zst"), "--decoding-config", str(tmp_path / "decoding.yml")]
    with_ctranslate2.main(["--model", str(converted(kind)), *files, "--output", str(tmp_path / "made")])
    first, empty, last = lines_of(tmp_path / "made/translations.zst")
    assert empty == ""
    assert first
    assert last
    assert not [token for token in (*PREFIXES[kind][0], *PREFIXES[kind][1]) if token in first + last]


@pytest.mark.parametrize("kind", KINDS)
def test_a_sentence_may_be_as_long_as_options_allow(kind: str, tmp_path: Path) -> None:
    write_lines(tmp_path / "text.zst", ["summer " * 1_500, "market"])
    options = {"max-length": 1_200, "max-length-factor": 0.1, "beam-size": 1}
    found = [*Decoder(converted(kind), read_settings(options)).translate(tmp_path / "text.zst")]
    assert [len(translations) for translations in found] == [1, 1]


def test_a_token_that_begins_a_translation_counts_for_no_length(tmp_path: Path) -> None:
    """A model of random weights writes as much as it may."""
    write_lines(tmp_path / "text.zst", [TEXT[1]])
    options = "beam-size: 1\nnormalize: 1\nmini-batch: 4\nmaxi-batch: 2\nmax-length-factor: 2\n"
    (tmp_path / "decoding.yml").write_text(options)
    files = ["--text", str(tmp_path / "text.zst"), "--decoding-config", str(tmp_path / "decoding.yml")]
    model = str(converted("m2m_100"))
    with_ctranslate2.main(["--model", model, *files, "--nbest", "--output", str(tmp_path / "made")])
    (entry,) = lines_of(tmp_path / "made/nbest.zst")
    _, _, path_score, score = entry.split(" ||| ")
    pieces = len(EXPECTED["m2m_100"][1]["cut"]) - len(PREFIXES["m2m_100"][0])  # with the end of the sentence
    assert float(path_score.removeprefix("F0= ")) / float(score) == pytest.approx(2 * pieces, rel=1e-4)


def test_a_token_that_the_model_lacks_is_told_with_those_near(tmp_path: Path) -> None:
    model = write_model("m2m_100", tmp_path / "model")
    pack(model, tmp_path / "model.tar")
    words = [
        "--model",
        str(tmp_path / "model.tar"),
        "--source-prefix",
        "__eng__",
        "--output",
        str(tmp_path / "out"),
    ]
    with pytest.raises(InputError, match=r"no token '__eng__'\. Did you mean '__en__'"):
        main(words)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model_type": "bert"}, "type 'bert' cannot be converted"),
        ({"decoder_layers": 3}, "has no 'model.decoder.layers.2"),
    ],
)
def test_a_model_of_another_kind_is_told(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    model = write_model("m2m_100", tmp_path / "model")
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps(config | change))
    with pytest.raises(InputError, match=said):
        convert(model, "m2m_100", tmp_path / "out")


def test_half_numbers_and_several_files_are_read(tmp_path: Path) -> None:
    values = np.array([[1.5, -2.0], [0.25, 3.0]], np.float32)
    write_safetensors(tmp_path / "a.safetensors", {"half": values.astype(np.float16)})
    brain = (values.view(np.uint32) >> 16).astype(np.uint16)
    write_safetensors(tmp_path / "b.safetensors", {"brain": brain})
    files = {"half": "a.safetensors", "brain": "b.safetensors"}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": files}))
    read = read_weights(tmp_path)
    assert {name: array.tolist() for name, array in read.items()} == dict.fromkeys(files, values.tolist())


VIEWS: dict[str, View] = {"plain": (2, (2, 3), (3, 1)), "turned": (0, (3, 2), (1, 3))}


@pytest.mark.parametrize("old", [False, True])
def test_what_torch_saves_is_read(tmp_path: Path, old: bool) -> None:
    values = np.arange(12, dtype=np.float32)
    save(tmp_path / "pytorch_model.bin", values, VIEWS, old)
    read = read_weights(tmp_path)
    assert read["plain"].tolist() == values[2:8].reshape(2, 3).tolist()
    assert read["turned"].tolist() == values[:6].reshape(2, 3).T.tolist()


@pytest.mark.parametrize("harm", ["code", "beyond", "torn"])
def test_a_file_that_is_not_only_tensors_is_refused(tmp_path: Path, harm: str) -> None:
    path = tmp_path / "pytorch_model.bin"
    if harm == "code":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("m/data.pkl", pickle.dumps(print))
    else:
        save(path, np.arange(12 if harm == "torn" else 5, dtype=np.float32), VIEWS, old=True)
        if harm == "torn":
            path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputError, match="pytorch_model.bin cannot be read"):
        read_weights(tmp_path)


def test_a_converted_model_moves_as_a_folder(tmp_path: Path) -> None:
    moved = shutil.copytree(converted("t5"), tmp_path / "elsewhere")
    assert sorted(path.name for path in moved.iterdir()) == sorted(
        [
            *("model.bin", "config.json", "source_vocabulary.json", "target_vocabulary.json"),
            *("source.spm", "target.spm", "tokens.json", "stats.json"),
        ]
    )
