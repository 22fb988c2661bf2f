"""BLEU and chrF: known values, words counted by the target language, confidence intervals."""

import random
import tracemalloc

import pytest
from sacrebleu.metrics.chrf import CHRF

from pipeline.eval import metrics
from pipeline.eval.metrics import (
    RESAMPLES,
    bleu_tokenizer,
    corpus_scores,
    evaluation_metrics,
    evaluation_scores,
    resampled_score,
)


@pytest.mark.parametrize(
    ("language", "tokenizer"),
    [
        ("ru", "13a"),
        ("eo", "13a"),
        ("zh", "zh"),
        ("zh-Hant", "zh"),
        ("zh_hant", "zh"),
        ("ja", "ja-mecab"),
        ("ko", "ko-mecab"),
        ("kok", "13a"),
    ],
)
def test_the_tokenizer_follows_the_target_language(language: str, tokenizer: str) -> None:
    assert bleu_tokenizer(language) == tokenizer


@pytest.mark.parametrize(
    ("language", "sentence", "tokenizer"),
    [
        ("en", "The cat sat on the mat.", "tok:13a"),
        ("zh", "今天天气很好。", "tok:zh"),
        ("ja", "今日は天気がいいです。", "tok:ja-mecab"),
        ("ko", "오늘은 날씨가 좋습니다.", "tok:ko-mecab"),
    ],
)
def test_a_perfect_translation_scores_100_in_every_language(
    language: str, sentence: str, tokenizer: str
) -> None:
    scores = corpus_scores([sentence], [sentence], language)
    assert [scores["bleu"]["score"], scores["chrf"]["score"]] == [100.0, 100.0]
    assert tokenizer in str(scores["bleu"]["signature"])


def test_bleu_by_hand() -> None:
    """Precisions 5/6, 4/5, 3/4, 2/3, whose product is 1/3; the lengths are equal: no penalty."""
    scores = corpus_scores(["a b c d e x"], ["a b c d e f"], "en")
    assert scores["bleu"]["score"] == pytest.approx(100 * (1 / 3) ** 0.25, abs=1e-3)


def test_chrf_by_hand() -> None:
    """Of "ab" against "ac" one of two characters fits and no pair does; the longer orders do not occur."""
    scores = corpus_scores(["ab"], ["ac"], "en")
    assert scores["chrf"]["score"] == pytest.approx(100 * (0.5 + 0) / 2, abs=1e-3)


def test_signatures_tell_version_and_settings() -> None:
    scores = corpus_scores(["a"], ["b"], "en")
    assert "eff:no" in str(scores["bleu"]["signature"])
    assert "nc:6|nw:0" in str(scores["chrf"]["signature"])
    assert all("version:" in str(score["signature"]) for score in scores.values())


def test_an_evaluation_scores_as_a_check_does_and_by_words() -> None:
    """chrF++ by hand: of the six orders of characters two occur, of the two of words one, without a match."""
    scores = evaluation_scores(["ab"], ["ac"], "en")
    plain = corpus_scores(["ab"], ["ac"], "en")
    assert {name: scores[name]["score"] for name in plain} == {n: s["score"] for n, s in plain.items()}
    assert scores["chrfpp"]["score"] == pytest.approx(100 * (0.5 + 0 + 0) / 3, abs=1e-3)
    assert "nw:2" in str(scores["chrfpp"]["signature"])


def test_confidence_intervals_are_the_same_each_time_and_narrower_with_more_lines() -> None:
    chance = random.Random(1)
    words = [" ".join(chance.choices("abcdefgh", k=12)) for _ in range(400)]
    garbled = [" ".join(chance.choices("abcdefgh", k=6) + line.split()[6:]) for line in words]
    few, many = (evaluation_scores(garbled[:lines], words[:lines], "en") for lines in (40, 400))
    assert evaluation_scores(garbled, words, "en") == many
    for name, score in many.items():
        assert 0 < float(str(score["ci"])) < float(str(few[name]["ci"]))
        assert float(str(score["mean"])) == pytest.approx(float(str(score["score"])), abs=1)
        assert "bs:1000|seed:12345" in str(score["signature"])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_intervals_are_those_of_sacrebleu(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose bootstrap has the same seed; to the last digit that is written."""
    monkeypatch.setattr(metrics, "BLOCK_LINES", 60)
    chance = random.Random(2)
    words = ["".join(chance.choices("abcdefgh我们今天 ", k=40)) for _ in range(200)]
    garbled = [line[: chance.randrange(40)] + line[chance.randrange(40) :] for line in words]
    found = evaluation_scores(garbled, words, language)
    for name, metric in evaluation_metrics(language).items():
        told = metrics._in_floats(metric).corpus_score(garbled, [words], n_bootstrap=RESAMPLES)
        expected = {"score": told.score, "mean": told._mean, "ci": told._ci}
        assert found[name].pop("signature") == str(metric.get_signature())
        assert found[name] == {kind: round(float(value), 4) for kind, value in expected.items()}


def test_resamples_are_not_in_memory_at_once() -> None:
    lines = [f"a {number % 97}" for number in range(1_000)]
    tracemalloc.start()
    try:
        resampled_score(CHRF(word_order=2), lines, lines[::-1])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * RESAMPLES * len(lines)  # a number of each line in each resample


def test_a_corpus_of_which_some_resamples_score_nothing_has_an_interval() -> None:
    scores = evaluation_scores(["a b c d e f", "", "x"], ["a b c d e f", "", "y"], "en")
    for name in scores:
        assert float(str(scores[name]["ci"])) > 20
