"""Models compared by their translations of a test set."""

import json
import random
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest

import pipeline.checks.differences as checked
from pipeline.checks.differences import (
    Numbers,
    Sampled,
    System,
    differences,
    line_means,
    main,
    p_value,
    resampled,
    resamples,
    segment_differences,
    statistics,
)
from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, write_lines
from pipeline.eval.metrics import RESAMPLES, SEED

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
        assert found["signatures"][metric].endswith("|p:centred")


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
    assert found["signatures"]["comet"] == "model:random|bs:1000|seed:12345|scale:100|p:centred"


def test_metricxs_forms_are_compared_on_their_own_scale(texts: Path) -> None:
    """Each form has its own files; the errors' means are what its evaluations have."""
    names = ("student", "same", "alike", "better")
    files = [str(texts / f"{name}.segments.zst") for name in names]
    without = [files[0], files[3], files[2], files[1]]  # "same" and "better" change places
    options_ = ["--metricx", "google/x@1234567", "--metricx24-segments", *files]
    main([*options(texts, *names[1:]), *options_, "--metricx24-qe-segments", *without])
    found = json.loads((texts / "out" / "numbers.json").read_text())
    others = found["others"]
    assert others["better"]["metricx24"]["p_value"] < 0.01
    assert others["same"]["metricx24"]["p_value"] == 1.0
    assert others["same"]["metricx24_qe"] == others["better"]["metricx24"]
    assert others["better"]["metricx24_qe"] == others["same"]["metricx24"]
    scores = [float(line) for line in read_lines(texts / "better.segments.zst")]
    assert others["better"]["metricx24"]["other"] == pytest.approx(sum(scores) / LINES, abs=1e-4)
    signature = "model:google/x@1234567|bs:1000|seed:12345|scale:1|p:centred"
    assert found["signatures"]["metricx24"] == found["signatures"]["metricx24_qe"] == signature
    assert "comet" not in others["same"]


def test_comets_p_value_is_that_of_resamples_drawn_by_hand() -> None:
    """Scores below 0 stay so, as do the signs of resamples' differences."""
    chance = random.Random(7)
    ours = [chance.gauss(-0.1, 0.5) for _ in range(60)]
    theirs = [score + chance.gauss(0.02, 0.15) for score in ours]
    systems: list[System] = [("model", list(map(str, ours))), ("other", list(map(str, theirs)))]
    found = segment_differences(systems, scale=100)["other"]
    drawn = np.random.default_rng(SEED).choice(60, size=(RESAMPLES, 60))
    differences_ = [100 * sum(theirs[line] - ours[line] for line in row.tolist()) / 60 for row in drawn]
    centre = sum(differences_) / RESAMPLES
    real = 100 * (sum(theirs) - sum(ours)) / 60
    larger = sum(abs(one - centre) >= abs(real) for one in differences_)
    assert min(differences_) < 0 < max(differences_)
    assert found["score"] == pytest.approx(100 * sum(ours) / 60, abs=1e-4)
    assert found["other"] == pytest.approx(100 * sum(theirs) / 60, abs=1e-4)
    assert found["score"] < 0
    assert found["p_value"] == pytest.approx((larger + 1) / (RESAMPLES + 1), abs=2e-3)


def test_a_metric_of_segments_is_compared_as_sacrebleu_compares_its_own(texts: Path) -> None:
    """BLEU of single words is the share of right ones."""
    words = ["abc"] * LINES
    systems: list[System] = [("one", garbled(words, 0.3, seed=5)), ("other", garbled(words, 0.25, seed=6))]
    wanted, _ = differences(systems, words, {"bleu": BLEU(max_ngram_order=1)})
    segments: list[System] = [(name, [str(float(word == "abc")) for word in made]) for name, made in systems]
    found = segment_differences(segments, scale=100)["other"]
    assert 0.05 < found["p_value"] < 0.95
    assert found == pytest.approx(wanted["other"]["bleu"], abs=1e-3)


def test_resamples_and_their_scores_are_sacrebleus(texts: Path) -> None:
    one, other, references = (
        list(read_lines(texts / f"{name}.zst")) for name in ("student", "better", "references")
    )
    metrics: dict[str, Metric] = {"bleu": BLEU(), "chrf": CHRF(), "chrfpp": CHRF(word_order=2)}
    for metric in metrics.values():
        test = PairedTest([("one", one), ("other", other)], {"": metric}, [references], "bs", RESAMPLES)
        _, theirs = test()
        (results,) = (found for name, found in theirs.items() if name != "System")
        for lines, result in zip((one, other), results, strict=True):
            ours = resampled(metric, statistics(metric, lines, references), resamples(LINES))
            wanted: Any = result
            assert ours.score == pytest.approx(wanted.score, abs=1e-9)
            assert ours.resampled.mean() == pytest.approx(wanted.mean, abs=1e-4)
            half = (np.sort(ours.resampled)[-26] - np.sort(ours.resampled)[25]) / 2
            assert half == pytest.approx(wanted.ci, abs=1e-4)


def test_a_p_value_is_the_share_of_centred_differences_that_are_as_large() -> None:
    sampled = np.array(
        [-1.0, 0.0, 1.0, 2.0, 3.0]
    )  # centred: -2 to 2, of which four are 1 or more away from 0
    assert p_value(1.0, sampled) == p_value(-1.0, -sampled) == pytest.approx((4 + 1) / (5 + 1))
    assert p_value(1.5, sampled) == pytest.approx((2 + 1) / (5 + 1))
    assert p_value(0.0, sampled) == 1.0


@pytest.mark.parametrize("sign", [1, -1])
def test_segments_are_compared_with_the_sign_of_their_differences(sign: int) -> None:
    """Reckoned by hand: resamples as sacreBLEU draws them, and nothing but loops."""
    model = [0.5, 0.7, 0.6, 0.4, 0.8, 0.3, 0.9, 0.55]
    other = [
        value + sign * more
        for value, more in zip(model, (0.1, -0.2, 0.3, 0.0, 0.2, -0.1, 0.05, 0.1), strict=True)
    ]
    means = []
    for chosen in np.random.default_rng(12345).choice(8, size=(1000, 8)).tolist():
        means.append(sum(100 * (other[line] - model[line]) for line in chosen) / 8)
    found_at = 100 * (sum(other) - sum(model)) / 8
    middle = sum(means) / 1000
    as_large = sum(abs(mean - middle) >= abs(found_at) for mean in means)
    systems: list[System] = [("model", list(map(str, model))), ("other", list(map(str, other)))]
    found = segment_differences(systems, scale=100)["other"]
    assert 0.2 < found["p_value"] < 0.6
    assert found["p_value"] == pytest.approx((as_large + 1) / 1001, abs=1e-3)
    assert (found["other"] > found["score"]) == (sign > 0)


SENTENCES = 120
EQUAL: dict[str, Callable[[], Metric]] = {
    "bleu": BLEU,
    "chrf": CHRF,
    "chrfpp": partial(CHRF, word_order=2),
    "single words": partial(BLEU, max_ngram_order=1),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", EQUAL)
def test_of_equal_systems_five_in_a_hundred_differ(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line of two systems is exchanged by a coin. By sacreBLEU's rule 10 in 100 or more differ."""
    monkeypatch.setattr(checked, "RESAMPLES", 200)
    metric, chance, counts = EQUAL[name](), random.Random(1), resamples(SENTENCES)
    references = [" ".join(chance.choices("abcdefghij", k=12)) for _ in range(SENTENCES)]
    systems = [statistics(metric, garbled(references, 0.3, seed), references) for seed in (2, 3)]
    coins = np.random.default_rng(1)
    assert _share_below(partial(resampled, metric), systems, counts, coins, 250) < 0.08


def test_of_equal_segments_five_in_a_hundred_differ() -> None:
    coins, counts = np.random.default_rng(1), resamples(SENTENCES)
    quality = coins.uniform(0.4, 0.9, size=SENTENCES)
    systems = [quality, quality + coins.normal(0, 0.1, size=SENTENCES)]
    assert 0.035 < _share_below(partial(line_means, scale=1), systems, counts, coins, 1_000) < 0.065


def _share_below(
    scoring: Callable[[Numbers, Numbers], Sampled],
    systems: Sequence[Numbers],
    counts: Numbers,
    coins: np.random.Generator,
    comparisons: int,
) -> float:
    """The share of p-values below 0.05 when the lines of two systems are exchanged at random."""
    below, lines = 0, np.arange(SENTENCES)
    for _ in range(comparisons):
        coin = coins.integers(0, 2, size=SENTENCES)
        one, other = (scoring(np.stack(systems)[side, lines], counts) for side in (coin, 1 - coin))
        below += p_value(other.score - one.score, other.resampled - one.resampled) < 0.05
    return below / comparisons


@pytest.mark.parametrize("metric", ["comet", "metricx24", "metricx24-qe"])
def test_files_of_segments_must_be_those_of_all_models(
    texts: Path, metric: str, capsys: pytest.CaptureFixture[str]
) -> None:
    option = f"--{metric}-segments"
    with pytest.raises(SystemExit):
        main([*options(texts, "better"), option, str(texts / "student.segments.zst")])
    wanted = f"{option} must name one file for the model and for each of --others"
    assert wanted in capsys.readouterr().err


def test_translations_of_another_test_set_are_refused(texts: Path) -> None:
    write_lines(texts / "better.zst", ["one line"])
    with pytest.raises(InputError, match=r"better\.zst has 1 lines, and the references have 200"):
        main(options(texts, "better"))
    assert not (texts / "out").exists()
