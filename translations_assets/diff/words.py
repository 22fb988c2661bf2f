"""Differences in words: the summary, and the lines of each section for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from translations_assets.common.listing import some
from translations_assets.diff.facts import Diff
from translations_assets.diff.lines import DatasetChange
from translations_assets.diff.needs import CostChange, NeedsChange, SizeAndSpeed
from translations_assets.diff.scores import ScoreChange
from translations_assets.diff.sides import Side, shown_time
from translations_assets.diff.vocabularies import VocabularyChange
from translations_assets.records.cost import Cost, amount, duration
from translations_assets.results.scores import METRICS, MetricScore
from translations_assets.why.between import KINDS, Cause, StepDifferences

MOST = 25  # lines of a section, of which there may be hundreds
HEADLINE = "chrf"  # the metric of the summary
TITLES = {
    "config": "Training config",
    "steps": "Steps",
    "lines": "Lines of text",
    "vocabularies": "Vocabularies",
    "scores": "Scores",
    "sentences": "Sentences whose translation changed most",
    "models": "Size and speed",
    "costs": "Cost of all results",
}


def text(diff: Diff) -> Iterator[str]:
    """All of it as lines for a terminal; only sections in which something differs."""
    yield f"old  {described(diff.old)}"
    yield f"new  {described(diff.new)}"
    yield from (f"note: {note}" for note in diff.notes)
    yield ""
    yield from summary(diff)
    sections = {
        "config": [line for change in diff.config for line in change.lines],
        "steps": [*_steps(diff.steps)],
        "lines": [*_lines(diff)],
        "vocabularies": [line for change in diff.vocabularies for line in _vocabulary(change)],
        "scores": [*_scores(diff.scores)],
        "sentences": [*_sentences(diff)],
        "models": [needs_line(change) for change in diff.models],
        "costs": [cost_line(change, diff.currency) for change in diff.costs],
    }
    for name, lines in sections.items():
        if lines:
            yield from ("", TITLES[name], *(f"  {line}" for line in lines))


def described(side: Side) -> str:
    """A side, for people: its name, its run, when that was, with which overrides."""
    if side.is_run:
        told = f"run {side.name} of {side.partition}, begun {shown_time(side.time)}"
    else:
        told = f"{side.name}, last published {shown_time(side.time)} by run {side.run[:8]}"
    return f"{told}, {side.overrides}" if side.overrides else told


def summary(diff: Diff) -> Iterator[str]:
    """A few sentences that say what differs at all, and what that did to the scores."""
    if diff.config:
        yield f"{_number(len(diff.config), 'key')} of the training config differ{_s(len(diff.config))}."
    yield from _summary_of_steps(diff.steps)
    if states := Counter(map(dataset_state, diff.lines.datasets)):
        yield f"Datasets: {', '.join(f'{count} {state}' for state, count in states.items())}."
    if diff.vocabularies:
        number = len(diff.vocabularies)
        yield f"{_number(number, 'vocabulary', 'vocabularies')} differ{_s(number)}."
    yield from _summary_of_scores(diff)
    if diff.sentences.lines:
        told = diff.sentences
        yield f"{told.model} translates {told.changed:,} of {told.lines:,} test sentences differently."


def _summary_of_steps(steps: StepDifferences) -> Iterator[str]:
    """How many steps differ, and for how many reasons."""
    differing = len(steps.differing) + len(steps.following)
    kinds = Counter(cause.kind for cause in steps.causes)
    told = ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS if kinds[kind])
    if not told:
        told = "steps that one side alone has" if steps.added or steps.removed else "not known"
    if differing:
        yield f"{differing} of {steps.compared} steps that both have differ; first causes: {told}."
    elif steps.compared:
        yield f"All {steps.compared} steps that both have are the same."
    else:
        yield "No step has a result on both sides."


def _summary_of_scores(diff: Diff) -> Iterator[str]:
    """The model that users get on each test set, and how many scores are better or worse."""
    for change in diff.scores:
        if (
            change.model == diff.sentences.model
            and change.metric == HEADLINE
            and change.difference is not None
        ):
            yield f"{change.model} on {change.dataset}: {score_line(change)}."
    told = [change for change in diff.scores if change.test != "none"]
    if told:
        verdicts = Counter(change.verdict for change in told)
        counts = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
        yield f"Of {_number(len(told), 'score')} that could be compared: {counts}."


def _steps(steps: StepDifferences) -> Iterator[str]:
    """The causes, each with the steps that have it; then those that only follow, or stand on one side."""
    for cause in steps.causes:
        yield f"{cause.kind:10} {cause.text}"
        yield f"{'':10}   in {steps_of(cause)}"
    others = {
        "follow from other steps": steps.following,
        "only in the new config": steps.added,
        "only in the old config": steps.removed,
        "made in the new one only": steps.only_new,
        "made in the old one only": steps.only_old,
    }
    yield from (f"{len(labels)} {told}: {some(labels)}" for told, labels in others.items() if labels)


def steps_of(cause: Cause) -> str:
    """The steps that have a cause, and whether it changed anything that they make."""
    told = some(cause.steps)
    if cause.same_outputs == len(cause.steps):
        return f"{told} (with the same outputs)"
    return f"{told} (of {cause.same_outputs} the outputs are the same)" if cause.same_outputs else told


def _lines(diff: Diff) -> Iterator[str]:
    yield from _cut([dataset_line(change) for change in diff.lines.datasets], "datasets")
    filters = [
        f"{one.stage}, {one.filter}: {one.old:,} → {one.new:,} dropped{_in_steps(one.steps)}"
        for one in diff.lines.filters
    ]
    yield from _cut(filters, "filters")


def _in_steps(steps: int) -> str:
    return f", in {steps} steps" if steps > 1 else ""


def dataset_state(change: DatasetChange) -> str:
    """`added`, `removed` or `with other lines`."""
    return "added" if not change.old else "removed" if not change.new else "with other lines"


def dataset_line(change: DatasetChange) -> str:
    """The lines of a dataset after each stage in which they differ."""
    state = dataset_state(change)
    if state != "with other lines":
        lines = change.new or change.old
        return f"{change.dataset} {state}: " + ", ".join(f"{stage} {kept:,}" for stage, kept in lines.items())
    stages = dict.fromkeys([*change.new, *change.old])
    pairs = {stage: (change.old.get(stage), change.new.get(stage)) for stage in stages}
    told = (f"{stage} {count(old)} → {count(new)}" for stage, (old, new) in pairs.items() if old != new)
    return f"{change.dataset}: {', '.join(told)}"


def count(number: int | None) -> str:
    """A number for people; `-` where there is none."""
    return "-" if number is None else f"{number:,}"


def _vocabulary(change: VocabularyChange) -> Iterator[str]:
    yield f"{change.name}: {count(change.old)} → {count(change.new)} pieces"
    for side, number, examples in (
        ("old", change.only_old, change.old_examples),
        ("new", change.only_new, change.new_examples),
    ):
        if number:
            yield f"  only in the {side} one: {number:,}, such as {' '.join(examples)}"


def _scores(changes: Sequence[ScoreChange]) -> Iterator[str]:
    for (model, dataset), found in groupby(changes, lambda change: (change.model, change.dataset)):
        yield f"{model} on {dataset}"
        yield from (f"  {score_line(change)}" for change in found)


def score_line(change: ScoreChange) -> str:
    """`chrF 58.2 ± 0.6 → 58.9 ± 0.6 (+0.70): better, p = 0.002`."""
    name = METRICS.get(change.metric, change.metric)
    told = "" if change.difference is None else f" ({change.difference:+.2f})"
    return f"{name} {score(change.old)} → {score(change.new)}{told}: {verdict(change)}"


def score(found: MetricScore | None) -> str:
    """A score with its interval; `-` where there is none."""
    return "-" if found is None else str(found)


def verdict(change: ScoreChange) -> str:
    """In words what is significant, and how that is known."""
    told: str = change.verdict
    if change.p_value is not None:
        told = "no significant difference" if told == "not told apart" else f"significantly {told}"
        return f"{told}, p = {change.p_value:.3f}"
    if change.test == "intervals":
        apart = "overlap" if told == "not told apart" else "do not overlap"
        return f"{told}, the intervals {apart}" + (f" ({change.why})" if change.why else "")
    return change.why


def _sentences(diff: Diff) -> Iterator[str]:
    for one in diff.sentences.sentences:
        yield f"{one.dataset}, line {one.line}: chrF of the two {one.chrf:.0f}"
        yield f"  source     {one.source}"
        yield f"  reference  {one.reference}"
        yield f"  old {one.old_chrf:5.1f}  {one.old}"
        yield f"  new {one.new_chrf:5.1f}  {one.new}"


def needs_line(change: NeedsChange) -> str:
    """Size and speed of a model, before and after, as far as they differ."""
    before, after = _needs(change.old), _needs(change.new)
    parts = (
        f"{after[name]}" if before[name] == after[name] else f"{before[name]} → {after[name]}"
        for name in after
    )
    return f"{change.model}: {', '.join(part for part in parts if part != '-')}"


def _needs(needs: SizeAndSpeed) -> dict[str, str]:
    size = "-" if needs.size is None else f"{needs.size / 1e6:,.1f} MB"
    if needs.speed is None:
        return {"size": size, "speed": "-", "memory": "-"}
    return {
        "size": size,
        "speed": f"{needs.speed.words_per_second:,.0f} words/s",
        "memory": f"{needs.speed.memory_megabytes:,.0f} MB of memory",
    }


def cost_line(change: CostChange, currency: str) -> str:
    """What a stage, or all, took: hours, of GPUs too, and money if prices are known."""
    return f"{change.stage or 'all stages'}: {cost(change.old, currency)} → {cost(change.new, currency)}"


def cost(found: Cost, currency: str) -> str:
    """`49 h, 12 h of GPU, 3.2 EUR`."""
    parts = [duration(found.seconds)]
    if found.gpu_seconds:
        parts.append(f"{duration(found.gpu_seconds)} of GPU")
    if currency and found.money:
        parts.append(f"{amount(found.money)} {currency}")
    return ", ".join(parts)


def _cut(lines: Sequence[str], what: str) -> Iterator[str]:
    """The first lines, and how many more there are."""
    yield from lines[:MOST]
    if len(lines) > MOST:
        yield f"and {len(lines) - MOST} more {what}: --output FILE.html lists all"


def _number(number: int, what: str, several: str = "") -> str:
    return f"{number} {what if number == 1 else several or what + 's'}"


def _s(number: int) -> str:
    """The ending of a verb of one thing."""
    return "s" if number == 1 else ""
