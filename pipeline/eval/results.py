"""Results of final evaluations in Mozilla's layout, so that its dashboards and scripts read them.

    en-ru__flores_devtest__bergamot__spring__latest__translations.json    [{"src", "trg", "ref"}, …]
    …__chrf.metrics.json                                                  {"score", "details"}
    …__chrf.scores.json                                                   a score for each sentence

The parts of a name are pair, test set, translator, model, and `latest`. `details` hold the signature that
makes a score comparable, and the engine.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import BLEU

from pipeline.common.script import write_json
from pipeline.eval.metrics import evaluation_metrics

DIGITS = 4
# What Mozilla's results call systems; its own name for exported students is that of the engine in Firefox.
TRANSLATORS = {"firefox": "bergamot", "marian": "marian", "ctranslate2": "ctranslate2"}


def write_results(
    folder: Path,
    name: str,
    engine: str,
    language: str,
    texts: Sequence[tuple[str, str, str]],
    scores: Mapping[str, Mapping[str, object]],
) -> None:
    """Write the files of a model on a test set.

    `texts` are source, translation and reference of each line; `scores` is what `evaluation_scores` gives.
    """
    lines = [{"src": source, "trg": made, "ref": reference} for source, made, reference in texts]
    write_json(folder / f"{name}__translations.json", lines)
    for metric, judge in evaluation_metrics(language).items():
        sentences = sentence_scores(judge, [(made, reference) for _, made, reference in texts])
        write_metric(folder, name, metric, {**scores[metric], "engine": engine}, sentences)


def sentence_scores(judge: Metric, pairs: Sequence[tuple[str, str]]) -> list[float]:
    """What one of sacreBLEU's metrics gives to each translation by its reference."""
    if isinstance(judge, BLEU):
        judge.effective_order = True  # sentences have few n-grams
    return [judge.sentence_score(made, [reference]).score for made, reference in pairs]


def write_metric(
    folder: Path, name: str, metric: str, score: Mapping[str, object], sentences: Sequence[float | None]
) -> None:
    """Write a metric's two files; what the score says besides itself are its details.

    A sentence without a score is null.
    """
    details = {key: value for key, value in score.items() if key != "score"}
    write_json(folder / f"{name}__{metric}.metrics.json", {"score": score["score"], "details": details})
    rounded = [None if sentence is None else round(sentence, DIGITS) for sentence in sentences]
    write_json(folder / f"{name}__{metric}.scores.json", rounded)
