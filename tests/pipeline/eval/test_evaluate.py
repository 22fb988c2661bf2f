"""Evaluation of float, ensemble and quantised models on a test set."""

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, write_lines
from pipeline.eval.evaluate import main, read_test_set, samples
from tests.pipeline.quantize.tiny_model import Tiny

DECODING = "beam-size: 2\nnormalize: 1.0\nmini-batch: 64\nmaxi-batch: 100\nmaxi-batch-sort: src\n"


def arguments(models: list[Path], corpus: tuple[Path, Path], output: Path, *more: str) -> list[str]:
    decoding = output.parent / "decoding.yml"
    decoding.write_text(DECODING)
    files = ["--corpus-src", corpus[0], "--corpus-trg", corpus[1], "--decoding-config", decoding]
    names = ["--src", "en", "--trg", "eo", "--dataset", "url_test", "--output", output]
    return [*map(str, ["--models", *models, *files, *names]), *more]


def evaluate(models: list[Path], corpus: tuple[Path, Path], output: Path, *more: str) -> dict[str, Any]:
    main(arguments(models, corpus, output, *more))
    metrics: dict[str, Any] = json.loads((output / "metrics.json").read_text())
    return metrics


def test_an_empty_test_set_is_an_error(tmp_path: Path) -> None:
    empty = tmp_path / "empty.zst"
    write_lines(empty, [])
    with pytest.raises(InputError, match=r"empty\.zst is empty"):
        main(arguments([tmp_path], (empty, empty), tmp_path / "output"))
    assert not (tmp_path / "output").exists()


def test_sides_of_unequal_length_are_an_error(tmp_path: Path) -> None:
    write_lines(tmp_path / "two.zst", ["a", "b"])
    write_lines(tmp_path / "one.zst", ["a"])
    with pytest.raises(InputError, match=r"one\.zst ends after 1 lines"):
        main(arguments([tmp_path], (tmp_path / "two.zst", tmp_path / "one.zst"), tmp_path / "output"))


def test_a_test_set_is_its_sources_with_their_references(tmp_path: Path) -> None:
    write_lines(tmp_path / "source.zst", ["a", "b"])
    write_lines(tmp_path / "reference.zst", ["c", "d"])
    assert read_test_set(tmp_path / "source.zst", tmp_path / "reference.zst") == [("a", "c"), ("b", "d")]


def test_samples_come_from_all_over_the_test_set() -> None:
    pairs = [(f"s{line}", f"r{line}") for line in range(23)]
    chosen = samples(pairs, [f"t{line}" for line in range(23)])
    assert [sample["source"] for sample in chosen] == ["s0", "s4", "s8", "s12", "s16"]
    assert chosen[1] == {"source": "s4", "reference": "r4", "translation": "t4"}
    assert len(samples(pairs[:2], ["t0", "t1"])) == 2


@pytest.mark.marian
@pytest.mark.slow
def test_a_model_is_scored_and_its_translations_are_kept(tiny: Tiny, tmp_path: Path) -> None:
    metrics = evaluate([tiny.model], tiny.test, tmp_path / "output")
    assert metrics["dataset"] == "url_test"
    assert metrics["lines"] == 100 == len([*read_lines(tmp_path / "output" / "translations.zst")])
    assert metrics["chrf"]["score"] > 80
    assert 50 < metrics["bleu"]["score"] <= 100
    assert len(metrics["samples"]) == 5
    assert {path.name for path in (tmp_path / "output").iterdir()} == {"translations.zst", "metrics.json"}


@pytest.mark.marian
@pytest.mark.slow
def test_an_ensemble_of_a_model_with_itself_scores_the_same(tiny: Tiny, tmp_path: Path) -> None:
    single = evaluate([tiny.model], tiny.test, tmp_path / "single")
    ensemble = evaluate([tiny.model, tiny.model], tiny.test, tmp_path / "ensemble")
    assert ensemble["chrf"]["score"] == pytest.approx(single["chrf"]["score"], abs=0.5)


@pytest.mark.marian
@pytest.mark.slow
def test_a_quantised_model_is_scored_through_its_shortlist(
    tiny: Tiny, quantized: Path, tmp_path: Path
) -> None:
    """The decoding config's beam does not apply to it; two runs give the same bytes."""
    metrics = evaluate([quantized], tiny.test, tmp_path / "first")
    evaluate([quantized], tiny.test, tmp_path / "second", "--marian-args", '{"mini-batch": 1}')
    assert metrics["chrf"]["score"] > 80
    for name in ("translations.zst", "metrics.json"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()


@pytest.mark.marian
@pytest.mark.slow
def test_a_line_of_a_megabyte_and_an_empty_one_lose_no_other(tiny: Tiny, tmp_path: Path) -> None:
    source, target = tmp_path / "long.en.zst", tmp_path / "long.eo.zst"
    (first, reference), (last, ending) = tiny.test_pairs[:2]
    write_lines(source, [first, "the red cat " * 90_000, "", last])
    write_lines(target, [reference, "x", "", ending])
    metrics = evaluate([tiny.model], (source, target), tmp_path / "output")
    translations = [*read_lines(tmp_path / "output" / "translations.zst")]
    assert metrics["lines"] == len(translations) == 4
    assert translations[3].startswith("la ")
    assert all(len(text) <= 500 for sample in metrics["samples"] for text in sample.values())
