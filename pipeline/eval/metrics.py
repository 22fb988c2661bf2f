"""BLEU (Papineni et al. 2002) and chrF (Popović 2015, 2017) of a corpus, by sacreBLEU (Post 2018)."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

DEFAULT_TOKENIZER = "13a"
# BLEU counts words, and these languages write none between spaces that WMT's tokenizer would find.
TOKENIZERS = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}
RESAMPLES, SEED = 1000, 12345  # by which sacreBLEU estimates a confidence interval
BLOCK_LINES = 1000  # whose n-grams are in memory at a time


def bleu_tokenizer(language: str) -> str:
    """How sacreBLEU finds the words of a language; what follows it (`zh_hant`, `zh-yue`) changes nothing."""
    code = language.replace("_", "-").split("-")[0].lower()
    return TOKENIZERS.get(code, DEFAULT_TOKENIZER)


def corpus_scores(
    translations: Sequence[str], references: Sequence[str], language: str
) -> dict[str, dict[str, object]]:
    """Corpus scores from 0 to 100, higher is better, each with the signature that makes it comparable."""
    metrics: dict[str, Metric] = {"bleu": BLEU(tokenize=bleu_tokenizer(language)), "chrf": CHRF()}
    return {name: _score(metric, translations, references) for name, metric in metrics.items()}


def evaluation_scores(
    translations: Sequence[str], references: Sequence[str], language: str
) -> dict[str, dict[str, object]]:
    """The scores of an evaluation, which are those of `corpus_scores`, and chrF++, with confidence intervals.

    `mean` is that of the resamples, and 95 % of them lie within `ci` of it, about.
    """
    return {
        name: resampled_score(metric, translations, references)
        for name, metric in evaluation_metrics(language).items()
    }


def evaluation_metrics(language: str) -> dict[str, Metric]:
    """The metrics of an evaluation by the names that they have in metrics.json."""
    return {"bleu": BLEU(tokenize=bleu_tokenizer(language)), "chrf": CHRF(), "chrfpp": CHRF(word_order=2)}


def resampled_score(
    metric: Metric, translations: Sequence[str], references: Sequence[str]
) -> dict[str, object]:
    """A corpus score with its signature, and its confidence interval by bootstrap resampling (Koehn 2004).

    All as by sacreBLEU's `corpus_score`, which takes 100 KB of memory for each line: it has all resamples at
    once.
    """
    counted = line_counts(metric, translations, references)
    result: Any = _in_floats(metric)._aggregate_and_compute(counted)
    result.estimate_ci(list(_resampled(metric, np.array(counted, dtype=np.float32))))
    metric.n_bootstrap, metric.seed = RESAMPLES, str(SEED)  # for the signature
    return {
        "score": round(float(result.score), 4),
        "mean": round(float(result._mean), 4),
        "ci": round(float(result._ci), 4),
        "signature": str(metric.get_signature()),
    }


def line_counts(metric: Metric, translations: Sequence[str], references: Sequence[str]) -> list[list[int]]:
    """What a metric counts in each line; a corpus score is made of the sums."""
    found: list[list[int]] = []
    for start in range(0, len(translations), BLOCK_LINES):
        block = slice(start, start + BLOCK_LINES)
        found += metric._extract_corpus_statistics(translations[block], [references[block]])
    return found


def _resampled(metric: Metric, counted: npt.NDArray[np.float32]) -> Iterator[Any]:
    """The scores of resamples: sacreBLEU draws the same lines, and computes from floats of 32 bits, too."""
    random, lines = np.random.default_rng(SEED), len(counted)
    for _ in range(RESAMPLES):
        sums = counted[random.choice(lines, size=lines)].sum(axis=0, dtype=np.float64)
        yield metric._compute_score_from_stats(sums.astype(np.float32))


def _in_floats(metric: Metric) -> Metric:
    """A metric whose resamples are of one kind: sacreBLEU fails where only some are NumPy's, as 0 is not."""
    compute: Any = metric._compute_score_from_stats

    def computed(stats: Any) -> Any:
        score = compute(stats)
        score.score = float(score.score)
        return score

    metric._compute_score_from_stats = computed  # type: ignore[method-assign]  # sacreBLEU has no hook
    return metric


def _score(metric: Metric, translations: Sequence[str], references: Sequence[str]) -> dict[str, object]:
    result = metric.corpus_score(translations, [references])
    return {"score": round(float(result.score), 4), "signature": str(metric.get_signature())}
