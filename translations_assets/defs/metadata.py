"""The metadata of a materialization: what its steps counted, made and used; and notes on its config."""

import base64
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import TypeAlias

import dagster as dg

from translations_assets.config.errors import Problem
from translations_assets.defs.quality import (
    Rows,
    evaluation_numbers,
    evaluation_tables,
    summary,
    training_numbers,
    validations,
)
from translations_assets.defs.tables import Metadata, as_metadata
from translations_assets.graph.step import Step
from translations_assets.instance.server import log_path
from translations_assets.records.cost import Cost, duration
from translations_assets.report.machines import machine_use
from translations_assets.results.files import Reader, Value, read_metrics, read_scores, read_statistics
from translations_assets.results.lines import merged_lines
from translations_assets.results.scores import Scores
from translations_assets.results.statistics import LineCounts, Statistics
from translations_assets.results.training import Training
from translations_assets.running.events import StepResult
from translations_assets.running.prices import Prices, spent_on
from translations_assets.running.protocols import Store
from translations_assets.running.session import Session

MAX_IMAGES = 4
MAX_SAMPLES = 10
MAX_SOURCES = 3  # addresses of a dataset that consists of many
KEY_DIGITS = 12  # enough to tell keys apart, and the table stays narrow
BAR = 40  # characters of the longest
NOTES_TAG = "translations/notes"  # how many there are, among the tags by which the UI lists runs

Counted: TypeAlias = "Sequence[tuple[str, Statistics]]"  # step label, what it counted
Values: TypeAlias = "dict[str, object]"
Counts = Mapping[str, int]  # stage → lines that are left after it


def stage_metadata(
    results: Sequence[StepResult], store: Store, warnings: Sequence[str], prices: Prices | None = None
) -> Metadata:
    """Everything worth knowing of a stage's results: a summary, numbers, tables.

    Numbers have the same names whatever the stage, the partition and the labels of its steps are, so that
    Dagster plots them over runs and partitions. Durations are seconds, sizes bytes, memory MB.
    """
    cached = sum(result.cached for result in results)
    found = {"steps_run": len(results) - cached, "steps_cached": cached}
    if not results:
        return as_metadata({**found, "note": "This training config needs no steps here."})
    statistics, metrics = _read(results, store, read_statistics), _read(results, store, read_metrics)
    trained = [(label, value) for label, value in metrics if isinstance(value, Training)]
    evaluated = [(label, value) for label, value in metrics if isinstance(value, Scores)]
    evaluated += _read(results, store, read_scores)
    samples = chain.from_iterable(value.samples for _, value in statistics)
    return as_metadata(
        {
            **summary(trained, evaluated, _in_short(results, statistics)),
            "warnings": [f"* {warning}" for warning in warnings],
            **evaluation_numbers(evaluated),
            **training_numbers(trained),
            **_lines(statistics),
            "size": sum(blob.size for result in results for blob in result.manifest.outputs.values()),
            **machine_use([result.manifest.usage for result in results]),
            **_cost(results, prices),
            **found,
            **evaluation_tables(evaluated),
            "validations": validations(trained),
            "dropped, by reason": [
                {"reason": reason, "lines": number} for reason, number in _dropped(statistics).most_common()
            ],
            "samples": shown_samples(map(" ||| ".join, samples)),
            **_images(results, store),
            "sources": _sources(statistics),
            "reasons": [
                {"step": result.step.label, "why it ran": result.reason}
                for result in results
                if not result.cached
            ],
            "logs": [*_logs(results)],
            "steps": _steps(results, store),
        }
    )


def _in_short(results: Sequence[StepResult], statistics: Counted) -> str:
    """Describe a stage's results and their cost in a line."""
    cost = sum((result.manifest.cost for result in results), Cost())
    steps = f"{len(results)} step{'s' * (len(results) != 1)}, {duration(cost.seconds)}"
    counts = [value.lines for _, value in statistics if value.lines]
    read, kept = sum(lines.read for lines in counts), sum(lines.kept for lines in counts)
    lines = f"{kept:,} of {read:,} lines kept" if kept != read else f"{kept:,} lines"
    return "; ".join([lines, steps] if counts else [steps])


def _cost(results: Sequence[StepResult], prices: Prices | None) -> Values:
    """GPU hours, money and energy of the results, whoever made them, and those that this run has spent on
    them (`gpu_hours_spent`). The former where there were GPUs, the others where there are prices.
    """
    found = [(result.cached, spent_on(result.step, result.manifest, prices)) for result in results]
    whole = sum((spent for _, spent in found), Cost()).values
    now = sum((spent for cached, spent in found if not cached), Cost()).values
    names = [*(["gpu_hours"] if whole["gpu_hours"] else []), *(["money", "kwh"] if prices else [])]
    return {
        **{name: float(whole[name]) for name in names},
        **{f"{name}_spent": float(now[name]) for name in names},
        "currency": prices.currency if prices else None,
    }


def _read(results: Sequence[StepResult], store: Store, read: Reader[Value]) -> list[tuple[str, Value]]:
    """(step label, contents) of every file that a reader of `results.files` reads."""
    labels = [result.step.label for result in results]
    found = [read(store, result.manifest.outputs, result.step.label) for result in results]
    return [(label, value) for label, value in zip(labels, found, strict=True) if value is not None]


def _lines(statistics: Counted) -> Values:
    counts = [value.lines for _, value in statistics if value.lines]
    if not counts:
        return {}
    return {
        "lines_in": sum(lines.read for lines in counts),
        "dagster/row_count": sum(lines.kept for lines in counts),
        "lines_dropped": _dropped(statistics).total(),
    }


def _dropped(statistics: Counted) -> Counter[str]:
    """Count the dropped lines by reason."""
    dropped: Counter[str] = Counter()
    for _, value in statistics:
        dropped.update(value.lines.dropped if value.lines else {})
    return dropped


def _sources(statistics: Counted) -> Rows:
    """The origins of datasets: revision, licence as the provider states it, and downloaded files."""
    return [
        {
            "step": label,
            "source": ", ".join(file.url for file in value.source[:MAX_SOURCES]),
            "revision": value.revision,
            "licence": value.licence or "not stated",
            "downloaded (bytes)": sum(file.bytes for file in value.source),
        }
        for label, value in statistics
        if value.source
    ]


def shown_samples(samples: Iterable[str]) -> list[str]:
    """The first of some lines, as an indented block."""
    return [f"    {sample}" for sample in islice(samples, MAX_SAMPLES)]


def _images(results: Sequence[StepResult], store: Store) -> Values:
    images = [
        (f"{result.step.label} {name}", blob)
        for result in results
        for name, blob in result.manifest.outputs.items()
        if name.endswith(".png")
    ]
    return {
        name: [f"![{name}](data:image/png;base64,{base64.b64encode(store.read_blob(blob)).decode()})"]
        for name, blob in images[:MAX_IMAGES]
    }


def _logs(results: Sequence[StepResult]) -> Iterator[str]:
    """Links to the pages of the steps' logs, which a table cannot hold."""
    for result in results:
        made = result.manifest
        yield f"* [{result.step.label}]({log_path(made.key, made.generation, made.attempt)})"


def _steps(results: Sequence[StepResult], store: Store) -> Rows:
    """The steps' results. With levels of trust, each has that of the place where it stands."""
    levels = [store.level_of(result.manifest.key, result.manifest.generation) for result in results]
    return [
        {
            "step": result.step.label,
            "state": "cached" if result.cached else "run",
            "seconds": round(result.manifest.usage.all_seconds, 2),
            "attempt": result.manifest.attempt,
            "host": result.manifest.host,
            "key": result.manifest.key[:KEY_DIGITS],
            **({"level": level} if level else {}),
        }
        for result, level in zip(results, levels, strict=True)
    ]


def lines_by_dataset(session: Session, results: Sequence[StepResult], store: Store) -> Metadata:
    """For a stage that merges datasets: lines by dataset and stage; empty for others.

    A stage between whose result this run does not know is known by what the next one read.
    """
    rows = {name: counts for result in results for name, counts in _merged(session, result, store)}
    return as_metadata(
        {
            "lines by dataset": [{"dataset": name, **counts} for name, counts in rows.items()],
            "lines by dataset, drawn": [*_drawn(rows)],
        }
    )


def _merged(session: Session, result: StepResult, store: Store) -> Iterator[tuple[str, Counts]]:
    """Each dataset that a step merged, and its counts."""
    stats = read_statistics(store, result.manifest.outputs, result.step.label)
    return merged_lines(result.step, stats, lambda step: _counted(session, step, store))


def _counted(session: Session, step: Step, store: Store) -> LineCounts | None:
    """Return what a step counted; None when this run knows no result of it, or it counted nothing."""
    result = session.results.result(step)
    stats = read_statistics(store, result.outputs, step.label) if result else None
    return stats.lines if stats else None


def _drawn(rows: Mapping[str, Counts]) -> Iterator[str]:
    """A bar for each dataset and stage, as an indented block of Markdown."""
    stages = list(dict.fromkeys(chain.from_iterable(rows.values())))
    longest = max((1, *chain.from_iterable(counts.values() for counts in rows.values())))
    for name, counts in rows.items():
        yield f"    {name}"
        for stage in stages:
            if stage in counts:
                yield f"      {stage:16} {_bar(counts[stage] / longest)} {counts[stage]:,}"


def _bar(share: float) -> str:
    eighths = round(share * BAR * 8)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def tell_notes(
    instance: dg.DagsterInstance, run_id: str, log: logging.Logger, notes: Sequence[Problem]
) -> None:
    """Write the notes into a run's log, and their number into its tags; nothing when there are none."""
    if not notes:
        return
    for note in notes:
        log.info(f"note: {note}")
    instance.add_run_tags(run_id, {NOTES_TAG: f"{len(notes)} in the log"})


def notes_table(notes: Sequence[Problem]) -> dg.MetadataValue:
    """The notes as metadata: line, key, what is to be known."""
    messages = [note.message.replace("|", r"\|") for note in notes]
    rows = [
        f"| {note.line or ''} | `{note.key}` | {message} |"
        for note, message in zip(notes, messages, strict=True)
    ]
    return dg.MetadataValue.md("\n".join(["| line | key | note |", "|---|---|---|", *rows]))
