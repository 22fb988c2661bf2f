"""BLEU (Papineni et al. 2002) and chrF (Popović 2015, 2017) of a corpus, by sacreBLEU (Post 2018)."""

from collections.abc import Sequence
from typing import Any

from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

DEFAULT_TOKENIZER = "13a"
# BLEU counts words, and these languages write none between spaces that WMT's tokenizer would find.
TOKENIZERS = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}
RESAMPLES = 1000  # by which sacreBLEU estimates a confidence interval, with its seed


def bleu_tokenizer(language: str) -> str:
    """How sacreBLEU finds the words of a language; a script or region after the code changes nothing."""
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
    """A corpus score with its signature, and its confidence interval by bootstrap resampling (Koehn 2004)."""
    result: Any = _in_floats(metric).corpus_score(translations, [references], n_bootstrap=RESAMPLES)
    return {
        "score": round(float(result.score), 4),
        "mean": round(float(result._mean), 4),
        "ci": round(float(result._ci), 4),
        "signature": str(metric.get_signature()),
    }


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
