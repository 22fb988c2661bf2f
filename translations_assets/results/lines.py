"""From datasets to training lines: how many there are after each stage, and what was dropped, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from translations_assets.graph.step import Step
from translations_assets.results.statistics import LineCounts, Sample, Statistics

TEXTS = ("corpus_trg", "text")  # inputs that hold a dataset's text, one side of it
Counted: TypeAlias = "Callable[[Step], LineCounts | None]"
SAMPLES = 5  # lines that are shown of what a step dropped, and of what it kept
BY_SCORE = "pipeline.cefilter.filter"  # the script


@dataclass(frozen=True)
class DatasetLines:
    """A dataset, the stages that it went through up to that which merged it, and the lines that each left."""

    dataset: str
    merged: str
    lines: Mapping[str, int]


@dataclass(frozen=True)
class DroppedLines:
    """Lines that a step read, kept and dropped, by reason; some of those that it dropped, and that it kept.

    Cleaning remembers dropped lines alone: lines that a merge kept were kept by all steps before it.
    """

    label: str
    read: int
    kept: int
    reasons: Mapping[str, int]
    samples: Sequence[str]
    kept_samples: Sequence[str] = ()


@dataclass(frozen=True)
class Source:
    """Origin of a dataset: its revision, licence, and addresses, as the provider states them.

    dataset  what it is for, and its name: `train-opus_Books/v1`
    lines    that were imported
    """

    dataset: str
    lines: int
    revision: str
    licence: str
    urls: Sequence[str]
    synthetic: bool


def dropped_lines(statistics: Mapping[Step, Statistics]) -> list[DroppedLines]:
    """List what each step dropped of its text, in the order of the graph; only steps that did."""
    found = []
    for step, stats in statistics.items():
        lines = stats.lines
        reasons = {reason: count for reason, count in lines.dropped.items() if count} if lines else {}
        if lines and reasons:
            dropped = [one for one in stats.samples if _is_dropped(step, one, reasons)]
            kept = [one for one in stats.samples if one not in dropped] if _remembers_kept(stats) else []
            shown = (list(map(" | ".join, samples[:SAMPLES])) for samples in (dropped, kept))
            found.append(DroppedLines(step.label, lines.read, lines.kept, reasons, *shown))
    return found


def _is_dropped(step: Step, sample: Sample, reasons: Mapping[str, int]) -> bool:
    """True if a sample is a line that was dropped, `length_ratio: one | another`, not one that was kept.

    Where there is one reason alone, the score, it is not told with each pair.
    """
    return step.script == BY_SCORE or (len(sample) == 1 and sample[0].partition(":")[0] in reasons)


def _remembers_kept(stats: Statistics) -> bool:
    """True if the samples of a step have lines that it kept: imports and merges."""
    return bool(stats.datasets) or stats.source is not None


def sources(statistics: Mapping[str, Statistics | None], pair: str) -> list[Source]:
    """List the origins of the datasets of a language pair, `en-ru`, from what the steps of labels counted."""
    return [
        Source(
            dataset=_name_of_dataset(label, pair),
            lines=stats.lines.kept,
            revision=stats.revision,
            licence=stats.licence,
            urls=[file.url for file in stats.source],
            synthetic=stats.synthetic,
        )
        for label, stats in statistics.items()
        if stats and stats.lines and stats.source is not None and stats.licence is not None
    ]


def _name_of_dataset(label: str, pair: str) -> str:
    """`train-opus_Books/v1`: what a dataset is for, and its name, by its label without what all have."""
    return label.removesuffix("-unmodified").removeprefix("dataset-").removesuffix(f"-{pair}")


def lines_by_dataset(statistics: Mapping[Step, Statistics]) -> list[DatasetLines]:
    """Each dataset of a merged text, and its lines after every stage up to that."""
    counted = {step: stats.lines for step, stats in statistics.items()}
    return [
        DatasetLines(dataset, step.stage, lines)
        for step, stats in statistics.items()
        for dataset, lines in merged_lines(step, stats, counted.get)
    ]


def merged_lines(
    step: Step, stats: Statistics | None, counted: Counted
) -> Iterator[tuple[str, Mapping[str, int]]]:
    """Each dataset that a step merged, and its lines after every stage, the first stage first.

    `stats` are the step's; `counted` gives the lines that a step counted, None where that is not known:
    such a stage is known by what the next one read. Nothing for a step that merges no datasets, or that an
    early version made, which counted none of them.
    """
    if stats is None or not stats.datasets or not step.args.get("datasets"):
        return
    for merged, text in zip(stats.datasets, _texts_of(step), strict=True):
        dataset, lines = step.aliases.get(merged.dataset, merged.dataset), merged.lines
        yield dataset, {**_before(text, lines.read, counted), step.stage: lines.kept}


def _texts_of(step: Step) -> list[Step]:
    """The steps that made the texts that a step reads, one for each text."""
    return [output.step for name, _, output in step.input_outputs() if name in TEXTS]


def _before(step: Step, left: int, counted: Counted) -> Mapping[str, int]:
    """The lines after the stages up to the step that left so many."""
    lines, texts = counted(step), _texts_of(step)
    before = _before(texts[0], lines.read, counted) if lines and texts else {}
    return {**before, step.stage: left}
