"""The student's forward pass in numpy is Marian's, for every architecture; other families are refused."""

from pathlib import Path

import numpy as np
import pytest

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, write_lines
from pipeline.common.marian import decode
from pipeline.common.vocabulary import load_vocabulary
from pipeline.quantize.student import END, Student, Weights, check_family, read_weights
from tests import marian
from tests.pipeline.alignments.small_corpus import sentence_pairs
from tests.pipeline.quantize.random_model import architecture, model_folder
from tests.pipeline.quantize.tiny_model import Tiny

PAIRS = sentence_pairs(30)


def word_scores(model: Path, scratch: Path) -> list[list[float]]:
    """Marian's log-probabilities of each piece."""
    sides = [scratch / "source", scratch / "target"]
    for number, side in enumerate(sides):
        write_lines(side, [pair[number] for pair in PAIRS])
    files = ["-m", model / "model.npz", "-v", model / "source.spm", model / "target.spm", "-t", *sides]
    options = ["--word-scores", "--cpu-threads", "1", "--workspace", "128", "--quiet"]
    said = marian.run(["score", *files, *options]).stdout
    return [[float(score) for score in line.split("WordScores= ")[1].split()] for line in said.splitlines()]


@pytest.mark.marian
@pytest.mark.parametrize("joint", [True, False], ids=["joint", "split"])
@pytest.mark.parametrize("name", ["tiny", "base", "base-memory"])
def test_scores_of_each_word_are_marians(tmp_path: Path, name: str, joint: bool) -> None:
    model = model_folder(tmp_path / "model", name, joint)
    student = Student(read_weights(model / "model.npz"))
    source, target = load_vocabulary(model / "source.spm"), load_vocabulary(model / "target.spm")
    expected = word_scores(model, tmp_path)
    for (sentence, translation), scores in zip(PAIRS, expected, strict=True):
        found = student.score([*source.encode(sentence), END], [*target.encode(translation), END])
        np.testing.assert_allclose(found, scores, rtol=0, atol=1e-3)


@pytest.mark.marian
@pytest.mark.slow
def test_greedy_translations_are_marians(tiny: Tiny, tmp_path: Path) -> None:
    student = Student(read_weights(tiny.model / "model.npz"))
    source, target = load_vocabulary(tiny.model / "source.spm"), load_vocabulary(tiny.model / "target.spm")
    sentences = [sentence for pair in sentence_pairs(1100)[:100] for sentence in pair]  # Esperanto, too
    write_lines(tmp_path / "text", sentences)
    decode([tiny.model], tmp_path / "text", tmp_path / "out", {"beam-size": 1})
    found = [target.decode(student.translate([*source.encode(line), END])) for line in sentences]
    assert found == [*read_lines(tmp_path / "out")]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("transformer-decoder-autoreg", "self-attention"),
        ("dec-cell", "gru"),
        ("transformer-preprocess", "n"),
        ("transformer-postprocess", "dhn"),
        ("transformer-ffn-activation", "swish"),
        ("transformer-ffn-depth", 3),
        ("transformer-tied-layers", [1, 1]),
        ("type", "s2s"),
    ],
)
def test_what_browsers_cannot_run_is_refused(option: str, value: object) -> None:
    options = architecture("tiny", 320, True, **{option: value})
    arrays = {"Wemb": np.zeros((320, 64))}
    with pytest.raises(InputError, match=option) as error:
        check_family(Weights(arrays, str(options).encode()))
    assert "marian-args.training-student" in str(error.value)


def test_an_output_layer_of_its_own_is_refused() -> None:
    options = str(architecture("tiny", 320, False)).encode()
    embeddings = {"encoder_Wemb": np.zeros((320, 64)), "decoder_Wemb": np.zeros((320, 64))}
    check_family(Weights(embeddings, options))
    with pytest.raises(InputError, match="tied-embeddings: false"):
        check_family(Weights({**embeddings, "decoder_ff_logit_out_W": np.zeros((64, 320))}, options))


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\3\4 cut off"])
def test_a_file_that_is_no_model_is_refused(tmp_path: Path, content: bytes) -> None:
    weights = tmp_path / "model.npz"
    weights.write_bytes(content)
    with pytest.raises(InputError, match="is not a model of Marian"):
        read_weights(weights)


def test_a_model_without_its_configuration_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "model.npz", weights=np.zeros(3))
    with pytest.raises(InputError, match="is not a model of Marian"):
        read_weights(tmp_path / "model.npz")
