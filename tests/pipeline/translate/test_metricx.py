"""MetricX-24: as Transformers scores it, and what is chosen and kept by it."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ctranslate2
import numpy as np
import pytest

from pipeline.common.errors import InputError, TemporaryError
from pipeline.common.lines import read_lines, write_lines
from pipeline.common.packed import pack
from pipeline.eval import metricx as evaluated
from pipeline.translate import best_by_qe, convert_metricx, metricx, score_qe
from pipeline.translate.hub_weights import read_weights
from pipeline.translate.metricx import MetricX
from tests.pipeline.translate.hub_models import pieces, write_safetensors
from tests.pipeline.translate.metricx_models import ROWS, TOKEN, write_metricx, write_whole
from tests.session import new_folder

EXPECTED: dict[str, dict[str, list[float]]] = json.loads(
    Path(__file__).with_name("metricx_expected.json").read_text()
)


@cache
def converted(kind: str) -> Path:
    folder = new_folder()
    pack(write_metricx(kind, folder / "model"), folder / "model.tar")
    convert(folder / "model.tar", folder / "converted")
    return folder / "converted"


def convert(packed: Path, output: Path, token: int = TOKEN) -> None:
    cut = new_folder()
    (cut / "mt5").mkdir()
    shutil.copyfile(pieces(), cut / "mt5" / convert_metricx.MT5_PIECES)
    pack(cut / "mt5", cut / "mt5.tar")
    files = ["--model", str(packed), "--pieces", str(cut / "mt5.tar"), "--output", str(output)]
    convert_metricx.main([*files, "--token", str(token)])


@pytest.mark.parametrize("kind", ["untied", "tied"])
def test_errors_are_those_of_transformers(kind: str) -> None:
    model = MetricX(converted(kind), None)
    assert [*model.errors(ROWS)] == pytest.approx(EXPECTED[kind]["reference"], abs=1e-4)
    assert [*model.errors(row[:2] for row in ROWS)] == pytest.approx(EXPECTED[kind]["qe"], abs=1e-4)
    assert {*EXPECTED[kind]} == {"reference", "qe"}


def test_the_files_that_the_hub_has_are_converted(tmp_path: Path) -> None:
    """PyTorch's weights are a zip, and the last file of those that are packed."""
    model = tmp_path / "model"
    write_whole(model, tmp_path / "mt5")
    assert sorted(path.name for path in model.iterdir()) == ["config.json", "pytorch_model.bin"]
    found = []
    for name in ("torch", "safe"):
        if name == "safe":
            write_safetensors(model / "model.safetensors", read_weights(model))
        pack(model, tmp_path / f"{name}.tar")
        convert(tmp_path / f"{name}.tar", tmp_path / name, convert_metricx.TOKEN)
        found.append([*MetricX(tmp_path / name, None).errors(ROWS)])
    assert found[0] == found[1]
    assert found[0] == pytest.approx(EXPECTED["untied"]["reference"], abs=1)  # which is of 32 bits


def test_a_long_text_is_cut_where_the_model_was_trained_to() -> None:
    long = " ".join(["The old woman has bought 12 apples."] * 400)
    model = MetricX(converted("untied"), None)
    longer = [*model.errors([(long, "One."), (f"{long} More.", "Two.")])]
    assert longer[0] == pytest.approx(longer[1])  # the candidates are beyond what is read


def test_the_same_errors_come_of_any_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [row for row in ROWS for _ in range(5)]
    together = [*MetricX(converted("untied"), None).errors(rows)]
    monkeypatch.setattr(metricx, "READ_AHEAD", 3)
    monkeypatch.setattr(metricx, "BATCH_PIECES", {"cpu": 1})
    assert [*MetricX(converted("untied"), None).errors(rows)] == pytest.approx(together, abs=1e-5)


def test_errors_are_clipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metricx, "MOST", 3.0)
    errors = [*MetricX(converted("untied"), None).errors(ROWS)]
    assert (min(errors), max(errors)) == (0.0, 3.0)


class Broken:
    """Takes the place of ctranslate2.Translator, and fails as a GPU does, or gives another error."""

    device = "cpu"

    def __init__(self, error: float | RuntimeError) -> None:
        self._error = error

    def translate_batch(self, rows: Sequence[object], **options: object) -> list[Any]:
        if isinstance(self._error, RuntimeError):
            raise self._error
        outputs = np.array([0, 0, 0, self._error], np.float32)
        step = ctranslate2.StorageView.from_array(outputs)
        return [SimpleNamespace(logits=((step,),)) for _ in rows]


@pytest.mark.parametrize("error", [math.nan, math.inf, -math.inf])
def test_an_error_that_is_no_number_is_told(monkeypatch: pytest.MonkeyPatch, error: float) -> None:
    monkeypatch.setattr(metricx, "load_translator", lambda *args: Broken(error))
    with pytest.raises(InputError, match="gave .*(nan|inf) in place of an error: its weights are damaged"):
        next(MetricX(converted("untied"), None).errors(ROWS))


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("CUDA failed with error out of memory", TemporaryError),
        ("cuBLAS failed with status CUBLAS_STATUS_NOT_SUPPORTED", TemporaryError),
        ("Vocabulary mismatch", InputError),
    ],
)
def test_a_gpu_that_fails_is_left_to_another_attempt(
    monkeypatch: pytest.MonkeyPatch, said: str, kind: type[Exception]
) -> None:
    monkeypatch.setattr(metricx, "load_translator", lambda *args: Broken(RuntimeError(said)))
    with pytest.raises(kind, match=said) as caught:
        next(MetricX(converted("untied"), None).errors(ROWS))
    assert "mini-batch-words" not in str(caught.value)  # which are not MetricX's


@pytest.mark.parametrize(
    ("config", "token", "said"),
    [
        ({"model_type": "marian"}, TOKEN, "of the type 'marian', and MetricX of mT5's"),
        ({}, 10_000, "they do not belong together"),
        ({"num_layers": 5}, TOKEN, "which a mt5 model has"),
    ],
)
def test_another_model_is_refused(tmp_path: Path, config: dict[str, Any], token: int, said: str) -> None:
    folder = write_metricx("untied", tmp_path / "model")
    told = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(told | config))
    pack(folder, tmp_path / "model.tar")
    with pytest.raises(InputError, match=said):
        convert(tmp_path / "model.tar", tmp_path / "out", token)


SOURCES = ["My brother", "", "The teacher has bought 5 books at the market.", "The young doctor"]
LISTS = [
    ["Mon frère a acheté 3 bougies", "Mon frère", "Mon frère"],
    ["x", "y", "z"],
    ["Le professeur", "Le professeur a acheté 5 livres.", "An unknown 猫 here."],
    ["Le jeune médecin", "Le jeune", "médecin"],
]


def arguments(tmp_path: Path, script: str) -> list[str]:
    write_lines(tmp_path / "text.zst", SOURCES)
    entries = [f"{at} ||| {one} ||| F0= 0 ||| 0" for at, several in enumerate(LISTS) for one in several]
    write_lines(tmp_path / "nbest.zst", entries)
    write_lines(tmp_path / "target.zst", [several[0] for several in LISTS])
    texts = {
        "best_by_qe": {"nbest": "nbest.zst", "text": "text.zst"},
        "score_qe": {"corpus-src": "text.zst", "corpus-trg": "target.zst"},
    }[script]
    files = {name: str(tmp_path / file) for name, file in texts.items()}
    given = {"model": str(converted("tied")), "output": str(tmp_path / "out"), **files}
    return [word for name, value in given.items() for word in (f"--{name}", value)]


def test_of_each_list_the_first_with_the_least_error_is_taken(tmp_path: Path) -> None:
    best_by_qe.main(arguments(tmp_path, "best_by_qe"))
    model = MetricX(converted("tied"), None)
    expected = []
    for source, several in zip(SOURCES, LISTS, strict=True):
        errors = [round(error, 6) for error in model.errors((source, one) for one in several)]
        expected.append(several[errors.index(min(errors))] if source else several[0])
    made = [*read_lines(tmp_path / "out" / "best.zst")]
    assert made == expected
    stats = json.loads((tmp_path / "out" / "stats.json").read_text())
    others = sum(best != several[0] for best, several in zip(made, LISTS, strict=True))
    assert 0 < stats["not-the-likeliest"] == others
    assert stats["lines"] == {"in": 4, "kept": 4, "dropped": {}}
    assert stats["mean-error"] > 0


@pytest.mark.parametrize("script", ["best_by_qe", "score_qe"])
def test_another_attempt_goes_on_after_the_finished_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    module = {"best_by_qe": best_by_qe, "score_qe": score_qe}[script]
    made = {"best_by_qe": "best.zst", "score_qe": "scores.zst"}[script]
    monkeypatch.setattr(best_by_qe, "BLOCK_SENTENCES", 1)
    monkeypatch.setattr(score_qe, "READ_AHEAD", 1)
    words = arguments(tmp_path, script)
    module.main([*words, "--output", str(tmp_path / "whole")])
    monkeypatch.setenv("TRANSLATIONS_CHECKPOINTS", str(tmp_path / "kept"))
    errors, calls, ends = MetricX.errors, [0], [3]

    def breaking(self: MetricX, rows: Iterator[Any]) -> Iterator[float]:
        calls[0] += 1
        if calls[0] == ends[0]:
            raise MemoryError
        yield from errors(self, rows)

    monkeypatch.setattr(MetricX, "errors", breaking)
    with pytest.raises(MemoryError):
        module.main(words)
    ends[0] = calls[0] = 0
    module.main(words)
    assert calls[0] == len(SOURCES) - 2
    assert [*read_lines(tmp_path / "out" / made)] == [*read_lines(tmp_path / "whole" / made)]


def test_lists_of_fewer_sentences_than_the_text_are_refused(tmp_path: Path) -> None:
    words = arguments(tmp_path, "best_by_qe")
    write_lines(tmp_path / "text.zst", [*SOURCES, "One more"])
    with pytest.raises(InputError, match="has translations of 4 sentences only"):
        best_by_qe.main(words)


def test_lists_of_more_sentences_than_the_text_are_refused(tmp_path: Path) -> None:
    words = arguments(tmp_path, "best_by_qe")
    write_lines(tmp_path / "text.zst", SOURCES[:3])
    with pytest.raises(InputError, match=r"nbest\.zst goes on after the 3 lines of .*text\.zst"):
        best_by_qe.main(words)


def test_a_corpus_is_scored_by_its_errors_below_zero(tmp_path: Path) -> None:
    score_qe.main(arguments(tmp_path, "score_qe"))
    pairs = [(source, several[0]) for source, several in zip(SOURCES, LISTS, strict=True)]
    expected = [-error for error in MetricX(converted("tied"), None).errors(pairs)]
    scores = [float(line) for line in read_lines(tmp_path / "out" / "scores.zst")]
    assert scores == pytest.approx(expected, abs=1e-5)
    assert min(scores) < 0
    stats = json.loads((tmp_path / "out" / "stats.json").read_text())
    assert stats["mean"] == pytest.approx(sum(scores) / 4)


@pytest.mark.parametrize(("form", "name"), [("reference", "metricx24"), ("qe", "metricx24_qe")])
def test_an_evaluation_has_the_mean_and_each_line(tmp_path: Path, form: str, name: str) -> None:
    columns: Sequence[Sequence[str]] = [*zip(*ROWS, strict=True)]
    for column, file in zip(columns, ("src", "made", "trg"), strict=True):
        write_lines(tmp_path / f"{file}.zst", column)
    files = ["--translations", "made.zst", "--corpus-src", "src.zst", "--corpus-trg", "trg.zst"]
    files = [str(tmp_path / word) if word.endswith(".zst") else word for word in files]
    named = ["--model", str(converted("tied")), "--name", "own/metricx@0123456", "--form", form]
    results = ["--dataset", "flores_devtest", "--results", "en-fr__flores", "--output", str(tmp_path / "out")]
    evaluated.main([*named, *files, *results])
    expected = EXPECTED["tied"][form]
    segments = [float(line) for line in read_lines(tmp_path / "out" / "segments.zst")]
    assert segments == pytest.approx(expected, abs=1e-4)
    told = json.loads((tmp_path / "out" / "scores.json").read_text())
    assert told[name]["score"] == pytest.approx(sum(expected) / len(expected), abs=1e-3)
    assert told[name]["signature"].startswith(f"model:own/metricx@0123456|form:{form}|")
    mozillas = name.replace("_", "-")
    whole = json.loads((tmp_path / "out" / f"en-fr__flores__{mozillas}.metrics.json").read_text())
    assert whole["score"] == told[name]["score"]
    assert (tmp_path / "out" / f"en-fr__flores__{mozillas}.scores.json").is_file()
