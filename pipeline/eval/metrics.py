"""BLEU (Papineni et al. 2002) and chrF (Popović 2015) of a corpus, by sacreBLEU (Post 2018)."""

from collections.abc import Sequence

from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

DEFAULT_TOKENIZER = "13a"
# BLEU counts words, and these languages write none between spaces that WMT's tokenizer would find.
TOKENIZERS = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}


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


def _score(metric: Metric, translations: Sequence[str], references: Sequence[str]) -> dict[str, object]:
    result = metric.corpus_score(translations, [references])
    return {"score": round(float(result.score), 4), "signature": str(metric.get_signature())}
