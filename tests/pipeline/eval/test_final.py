"""Evaluation of models of every form, by one script, in Mozilla's layout."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sacrebleu

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, write_lines
from pipeline.common.packed import pack
from pipeline.eval.evaluate import main as evaluate
from pipeline.eval.final import main
from pipeline.eval.metrics import evaluation_scores
from pipeline.quantize.export import main as export
from pipeline.quantize.marian_binary import read_model, serialize
from tests.pipeline.eval.test_evaluate import arguments
from tests.pipeline.quantize.tiny_model import Tiny
from tests.pipeline.train import tiny as training
from tests.pipeline.translate.converted import converted
from translations_assets.stages.final_evaluation import METRICS, TRANSLATORS

SENTENCE: Mapping[str, Callable[..., Any]] = {
    "bleu": sacrebleu.sentence_bleu,
    "chrf": sacrebleu.sentence_chrf,
    "chrfpp": partial(sacrebleu.sentence_chrf, word_order=2),
}
RESULTS = "en-eo__url_test__{translator}__spring__latest"


def final(
    system: tuple[str, Path], corpus: tuple[Path, Path], output: Path, results: str = RESULTS
) -> dict[str, Any]:
    """The metrics.json of a model, or of translations."""
    files = [system[0], system[1], "--corpus-src", corpus[0], "--corpus-trg", corpus[1], "--output", output]
    main([*map(str, files), "--name", "spring", "--trg", "eo", "--dataset", "url_test", "--results", results])
    metrics: dict[str, Any] = json.loads((output / "metrics.json").read_text())
    return metrics


def read(output: Path, end: str, translator: str = "bergamot") -> Any:
    return json.loads((output / f"{RESULTS.format(translator=translator)}__{end}.json").read_text())


@pytest.fixture
def exported(quantized: Path, tmp_path: Path) -> Path:
    """The tiny student as browsers get it."""
    options = ("--src", "en", "--trg", "eo", "--architecture", "tiny", "--split", "--intgemm8")
    export(["--model", str(quantized), *options, "--output", str(tmp_path / "exported")])
    return tmp_path / "exported"


def remove_multipliers(exported: Path) -> None:
    """Make an exported model one of the older kind."""
    model = exported / "model.eneo.intgemm.alphas.bin"
    tensors = read_model(model)
    old = [tensor for tensor in tensors if not tensor.name.endswith("QuantMultA")]
    assert len(old) < len(tensors)
    (exported / "model.eneo.intgemm8.bin").write_bytes(serialize(old))
    model.unlink()


def test_results_have_mozillas_layout(tmp_path: Path) -> None:
    """The translations are given: what is scored is known."""
    sources = ["a b", "c", "", "d e f g"]
    made, references = ["ka ba", "kc", "", "kd ke"], ["ka bo", "kc", "k", "kd ke kf kg kh"]
    corpus = tmp_path / "source.zst", tmp_path / "reference.zst"
    for path, lines in ((corpus[0], sources), (corpus[1], references), (tmp_path / "made.zst", made)):
        write_lines(path, lines)
    output = tmp_path / "output"
    metrics = final(("--translations", tmp_path / "made.zst"), corpus, output)
    expected = evaluation_scores(made, references, "eo")
    assert {key: metrics[key] for key in ("model", "engine", "lines", "chrf")} == {
        "model": "spring",
        "engine": "fxtranslate",
        "lines": 4,
        "chrf": expected["chrf"],
    }
    assert read(output, "translations")[0] == {"src": "a b", "trg": "ka ba", "ref": "ka bo"}
    assert len(read(output, "translations")) == 4
    assert {path.name for path in output.iterdir()} == {
        *("translations.zst", "metrics.json", f"{RESULTS.format(translator='bergamot')}__translations.json"),
        *(
            f"{RESULTS.format(translator=TRANSLATORS['firefox'])}__{metric}.{kind}.json"
            for metric in METRICS
            for kind in ("metrics", "scores")
        ),
    }
    for metric in METRICS:
        found = read(output, f"{metric}.metrics")
        assert found == {
            "score": expected[metric].pop("score"),
            "details": {**expected[metric], "engine": "fxtranslate"},
        }
        by_sacrebleu = [
            SENTENCE[metric](line, [reference]).score
            for line, reference in zip(made, references, strict=True)
        ]
        assert read(output, f"{metric}.scores") == pytest.approx(by_sacrebleu, abs=1e-4)
        assert by_sacrebleu[1:3] == pytest.approx([100, 0])
        assert by_sacrebleu[3] != SENTENCE[metric](references[3], [made[3]]).score  # the sides differ


def test_translations_of_another_text_are_refused(tmp_path: Path) -> None:
    for name, lines in (("source", ["a", "b"]), ("reference", ["c", "d"]), ("made", ["e"])):
        write_lines(tmp_path / name, lines)
    with pytest.raises(InputError, match="spring has 1 translations of the 2 lines of url_test"):
        final(
            ("--translations", tmp_path / "made"),
            (tmp_path / "source", tmp_path / "reference"),
            tmp_path / "output",
        )
    assert not any((tmp_path / "output").iterdir())


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("notes.txt", "holds no model. Give a folder with model.*.intgemm.alphas.bin"),
        (
            "model.eneo.intgemm.alphas.bin.gz",
            "holds model.eneo.intgemm.alphas.bin.gz, which is packed. Unpack",
        ),
    ],
)
def test_a_folder_without_a_model_is_refused(tmp_path: Path, file: str, says: str) -> None:
    write_lines(tmp_path / "text", ["a"])
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / file).write_text("x")
    with pytest.raises(InputError, match=says.replace("*", r"\*")):
        final(("--model", tmp_path / "model"), (tmp_path / "text",) * 2, tmp_path / "output")


@pytest.mark.marian
@pytest.mark.slow
def test_firefoxs_form_runs_in_its_engine_and_packed_it_gives_the_same(
    tiny: Tiny, exported: Path, tmp_path: Path
) -> None:
    metrics = final(("--model", exported), tiny.test, tmp_path / "folder")
    assert metrics["engine"] == "fxtranslate"
    assert metrics["chrf"]["score"] > 80
    assert metrics["speed"]["words_per_second"] > 0
    pack(exported, tmp_path / "model.tar")
    again = final(("--model", tmp_path / "model.tar"), tiny.test, tmp_path / "tar")
    assert again["chrf"] == metrics["chrf"]
    assert (tmp_path / "tar" / "translations.zst").read_bytes() == (
        tmp_path / "folder" / "translations.zst"
    ).read_bytes()


@pytest.mark.marian
@pytest.mark.slow
def test_a_release_without_multipliers_runs_in_marian_as_its_own_quantised_model(
    tiny: Tiny, quantized: Path, exported: Path, tmp_path: Path
) -> None:
    """Embeddings are in 8 bits there, as in Firefox's older releases."""
    remove_multipliers(exported)
    metrics = final(("--model", exported), tiny.test, tmp_path / "old")
    assert metrics["engine"] == "marian"
    assert read(tmp_path / "old", "chrf.metrics")["score"] == metrics["chrf"]["score"]
    evaluate(arguments([quantized], tiny.test, tmp_path / "marian"))
    made, by_marian = ([*read_lines(tmp_path / name / "translations.zst")] for name in ("old", "marian"))
    same = sum(one == other for one, other in zip(made, by_marian, strict=True))
    assert same >= 95  # embeddings of 8 bits round


@pytest.mark.marian
@pytest.mark.slow
def test_marians_form_is_decoded_as_its_folder_says(tiny: Tiny, tmp_path: Path) -> None:
    metrics = final(("--model", tiny.model), tiny.test, tmp_path / "output")
    assert (metrics["engine"], "speed" in metrics) == ("marian", False)
    assert metrics["chrf"]["score"] > 80
    assert len(read(tmp_path / "output", "translations", "marian")) == 100


@pytest.mark.marian
@pytest.mark.slow
def test_ctranslate2s_form_makes_what_marian_makes(tmp_path: Path) -> None:
    """Of sentences that the model has learned to translate: elsewhere the best is a matter of chance."""
    write_lines(tmp_path / "text", [source for source, _ in training.pairs(100, seed=9)])
    corpus = (tmp_path / "text", tmp_path / "text")
    metrics = final(("--model", converted()), corpus, tmp_path / "converted")
    final(("--model", training.model()), corpus, tmp_path / "marian")
    assert metrics["engine"] == "ctranslate2"
    made, by_marian = (
        [*read_lines(tmp_path / name / "translations.zst")] for name in ("converted", "marian")
    )
    assert len(read(tmp_path / "converted", "translations", "ctranslate2")) == 100
    assert sum(one == other for one, other in zip(made, by_marian, strict=True)) >= 95
