"""Models compared by their translations of a test set."""

import json
import random
from pathlib import Path

import pytest
from sacrebleu.metrics.bleu import BLEU

from pipeline.checks.differences import System, differences, main, segment_differences
from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, write_lines

LINES = 200


def garbled(lines: list[str], share: float, seed: int) -> list[str]:
    """Sentences with some words replaced."""
    chance = random.Random(seed)
    return [" ".join("xyz" if chance.random() < share else word for word in line.split()) for line in lines]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """References and translations of several models."""
    chance = random.Random(1)
    references = [
        " ".join(chance.choices(["abc", "def", "ghij", "klm", "nopq", "rst"], k=15)) for _ in range(LINES)
    ]
    student = garbled(references, 0.3, seed=2)
    written = {
        "references": references,
        "student": student,
        "same": student,
        "alike": garbled(references, 0.3, seed=3),
        "better": garbled(references, 0.1, seed=4),
    }
    for name, lines in written.items():
        write_lines(tmp_path / f"{name}.zst", lines)
    quality = [chance.uniform(0.4, 0.9) for _ in references]  # of the lines: all models are weak on the same
    segments = {
        "student": quality,
        "same": quality,
        "alike": [score + chance.uniform(-0.1, 0.1) for score in quality],
        "better": [score + chance.uniform(-0.1, 0.14) for score in quality],
    }
    for name, scores in segments.items():
        write_lines(tmp_path / f"{name}.segments.zst", map(str, scores))
    return tmp_path


def options(texts: Path, *others: str) -> list[str]:
    files = [str(texts / f"{name}.zst") for name in others]
    compared = ["--translations", str(texts / "student.zst"), "--others-translations", *files]
    names = ["--model", "student", "--others", *others, "--trg", "en", "--dataset", "url_test"]
    return [*names, *compared, "--references", str(texts / "references.zst"), "--output", str(texts / "out")]


def test_a_better_model_differs_and_one_as_good_does_not(texts: Path) -> None:
    main(options(texts, "same", "alike", "better"))
    found = json.loads((texts / "out" / "numbers.json").read_text())
    assert (found["dataset"], found["lines"], found["model"]) == ("url_test", LINES, "student")
    for metric in ("bleu", "chrf", "chrfpp"):
        same, alike, better = (found["others"][name][metric] for name in ("same", "alike", "better"))
        assert same["score"] == same["other"] == alike["score"] == better["score"]
        assert same["p_value"] == 1.0
        assert alike["p_value"] > 0.05
        assert better["other"] > better["score"]
        assert better["p_value"] < 0.01
        assert "bs:1000|seed:12345" in found["signatures"][metric]


def test_comet_is_compared_line_by_line(texts: Path) -> None:
    """The difference of the better model is far within the confidence interval of either, and real."""
    files = [str(texts / f"{name}.segments.zst") for name in ("student", "same", "alike", "better")]
    main([*options(texts, "same", "alike", "better"), "--comet", "random", "--comet-segments", *files])
    found = json.loads((texts / "out" / "numbers.json").read_text())
    same, alike, better = (found["others"][name]["comet"] for name in ("same", "alike", "better"))
    scores = [float(line) for line in read_lines(texts / "better.segments.zst")]
    assert better["other"] == pytest.approx(100 * sum(scores) / LINES, abs=1e-3)
    assert (same["score"], same["p_value"]) == (same["other"], 1.0)
    assert alike["p_value"] > 0.05
    assert 0 < better["other"] - better["score"] < 4
    assert better["p_value"] < 0.01
    assert found["signatures"]["comet"] == "model:random|bs:1000|seed:12345|scale:100"


def test_a_metric_of_segments_is_compared_as_sacrebleu_compares_its_own(texts: Path) -> None:
    """BLEU of single words is the share of right ones."""
    words = ["abc"] * LINES
    systems: list[System] = [("one", garbled(words, 0.3, seed=5)), ("other", garbled(words, 0.25, seed=6))]
    wanted, _ = differences(systems, words, {"bleu": BLEU(max_ngram_order=1)})
    segments: list[System] = [(name, [str(float(word == "abc")) for word in made]) for name, made in systems]
    found = segment_differences(segments)["other"]
    assert 0.05 < found["p_value"] < 0.95
    assert found == pytest.approx(wanted["other"]["bleu"], abs=1e-3)


def test_files_of_segments_must_be_those_of_all_models(
    texts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    segments = ["--comet", "random", "--comet-segments", str(texts / "student.segments.zst")]
    with pytest.raises(SystemExit):
        main([*options(texts, "better"), *segments])
    assert "must name one file for the model and for each of --others" in capsys.readouterr().err


def test_translations_of_another_test_set_are_refused(texts: Path) -> None:
    write_lines(texts / "better.zst", ["one line"])
    with pytest.raises(InputError, match=r"better\.zst has 1 lines, and the references have 200"):
        main(options(texts, "better"))
    assert not (texts / "out").exists()
