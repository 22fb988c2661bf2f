"""A report as one HTML file that needs nothing else, and as a Markdown model card."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from translations_assets.config.model_names import BACKWARDS, RELEASED
from translations_assets.records.cost import amount, duration
from translations_assets.records.run import RunOptions
from translations_assets.report.card import card_metadata
from translations_assets.report.curves import charts
from translations_assets.report.facts import Report
from translations_assets.report.plots import line_chart
from translations_assets.report.sentences import Sentence
from translations_assets.report.templates import render
from translations_assets.results.lines import DatasetLines
from translations_assets.results.scores import METRICS, Scores, Speed

FOLDER = Path(__file__).parent
EXPORT = "export"  # the stage
EXAMPLES = 5  # sentences in a model card
SECTIONS = {
    "scores": "Scores",
    "sentences": "Sentences",
    "training": "Training",
    "data": "Data",
    "gates": "Quality gates",
    "hours": "Hours",
    "config": "Training config",
    "provenance": "Provenance",
}


def as_html(report: Report, config: str) -> str:
    """The report as a page; `config` is the training config's text."""
    return render(FOLDER / "page.html.j2", **_shown(report, config))


def as_card(report: Report, config: str) -> str:
    """The report as a model card, with the metadata by which the Hugging Face hub knows a model."""
    return render(FOLDER / "card.md.j2", **_shown(report, config))


def _shown(report: Report, config: str) -> dict[str, Any]:
    """What the templates fill in; functions for what only one of them shows."""
    source, target = report.languages
    tables = report.score_tables
    return {
        "report": report,
        "tables": tables,
        "config": config,
        "source_language": source,
        "target_language": target,
        "named": lambda model: f"{model} ({target} → {source})" if model == BACKWARDS else model,
        "experiment": report.session.config.experiment,
        "overrides": " ".join(RunOptions(overrides=report.session.options.overrides).words()),
        "metadata": yaml.safe_dump(card_metadata(report), sort_keys=False, allow_unicode=True),
        "sections": SECTIONS,
        "tiles": tiles,
        "metrics": {name: METRICS[name] for name in METRICS if any(name in one.metrics for one in tables)},
        "needs": _needs(report),
        "charts": charts,
        "line_chart": line_chart,
        "flows": _flows,
        "texts": _texts,
        "by_dataset": lambda sentences: groupby(sentences, lambda sentence: sentence.dataset),
        "by_text": _by_text,
        "marked": _marked,
        "exported": _exported(report),
        "examples": _examples(report.sentences),
        "tried": _best(report.sentences),
    }


def _examples(sentences: Sequence[Sentence]) -> list[Sentence]:
    """A few, evenly over all. Each set begins with its worst: every fourth of sets of four would be bad."""
    last, parts = len(sentences) - 1, min(EXAMPLES, len(sentences)) - 1
    return [sentences[round(part * last / max(1, parts))] for part in range(parts + 1)]


def _best(sentences: Sequence[Sentence]) -> str:
    """The sentence of the first test set that is translated best; "" without any."""
    first = [sentence for sentence in sentences if sentence.dataset == sentences[0].dataset]
    return max(first, key=lambda sentence: sentence.chrf).source if first else ""


class Exported(NamedTuple):
    """The names of an export's files: one vocabulary, or one for each side; "" where it has no shortlist."""

    model: str
    vocabularies: list[str]
    shortlist: str


def _exported(report: Report) -> Exported | None:
    """Return the exported model, None before it is made."""
    names = [
        name
        for step in report.session.graph.stages.get(EXPORT, ())
        if step.label in report.results
        for name in report.results[step.label].manifest.outputs
    ]
    models = [name for name in names if name.endswith(".intgemm.alphas.bin")]
    vocabularies = sorted(name for name in names if name.endswith(".spm"))  # the source's is first
    shortlists = [name for name in names if name.startswith("lex.") and name.endswith(".bin")]
    return Exported(models[0], vocabularies, *(shortlists or [""])) if models else None


class ModelNeeds(NamedTuple):
    """A model's size in bytes of its parameters; if it was timed, its speed on its first test set, and the
    speed before.
    """

    model: str
    size: int
    speed: Speed | None
    before: Speed | None


def _needs(report: Report) -> list[ModelNeeds]:
    """List the needs of models whose size is known."""
    found = []
    for model, tests in report.evaluations.items():
        dataset, scores = next(iter(tests.items()))
        speed, earlier = scores.speed, report.before.get((model, dataset))
        if size := speed.model_bytes if speed else report.sizes.get(model):
            found.append(ModelNeeds(model, size, speed, earlier.scores.speed if earlier else None))
    return found


def tiles(report: Report) -> Iterator[tuple[str, str, str]]:
    """Name, value and note of the numbers that come first."""
    if found := report.shown_scores:
        yield from _score_tiles(report, found)
    if found and (speed := found.speed):
        yield "model", f"{speed.model_bytes / 1e6:,.1f} MB", ""
        yield "words/s", f"{speed.words_per_second:,.0f}", "one thread, a sentence at a time"
    states = [gate.state for gate in report.gates]
    yield "gates passed", f"{states.count('passed')} of {len(states) - states.count('off')}", ""
    yield "duration", duration(report.spent.seconds), "of all results"
    if report.prices and (spent := report.spent).money:
        yield report.prices.currency, amount(spent.money), f"{amount(spent.kwh)} kWh" if spent.kwh else ""


def _score_tiles(report: Report, found: Scores) -> Iterator[tuple[str, str, str]]:
    """Name, value and note of the shown model's scores."""
    where = f"{report.shown_model}, {found.dataset}"
    for metric in ("comet", "chrf", "bleu"):
        if metric in found.by_metric:
            score = found.by_metric[metric].score
            yield METRICS[metric], f"{score:.1f}", "; ".join([where, *_gains(report, found, metric)])


def _gains(report: Report, found: Scores, metric: str) -> Iterator[str]:
    """Compare the shown model's score with that of the one before, and of the released model."""
    earlier = report.before.get((report.shown_model, found.dataset))
    if earlier and metric in earlier.scores.by_metric:
        gain = found.by_metric[metric].score - earlier.scores.by_metric[metric].score
        yield f"{gain:+.1f} from before"
    if released := found.others.get(RELEASED, {}).get(metric):
        yield f"{released.difference:+.1f} from {RELEASED}"


def _texts(report: Report) -> list[str]:
    """The names of the texts that trainings read, the dev set last."""
    texts = dict.fromkeys(text for training in report.trainings.values() for text in training.texts)
    return sorted(texts, key="dev".__eq__)


def _flows(report: Report) -> Iterator[tuple[str, list[str], int, list[DatasetLines]]]:
    """For each stage that merges datasets: the stages up to it, the most lines of any, and its datasets."""
    for merged in dict.fromkeys(found.merged for found in report.datasets):
        datasets = [found for found in report.datasets if found.merged == merged]
        stages = list(dict.fromkeys(stage for found in datasets for stage in found.lines))
        yield merged, stages, max(1, *(max(found.lines.values()) for found in datasets)), datasets


def _by_text(sentence: Sentence) -> list[tuple[str, list[str]]]:
    """Each translation of a sentence, and the models that made it."""
    models: dict[str, list[str]] = {}
    for model, text in sentence.translations.items():
        models.setdefault(text, []).append(model)
    return list(models.items())


def _marked(text: str, reference: str) -> Iterator[tuple[str, bool]]:
    """A translation in pieces, and whether each is other than in the reference."""
    words, others = text.split(), reference.split()
    for kind, start, end, _, _ in SequenceMatcher(a=words, b=others, autojunk=False).get_opcodes():
        if start != end:
            yield " ".join(words[start:end]), kind != "equal"
