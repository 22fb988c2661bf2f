"""The metadata of a materialization: what its steps counted, made and used; and notes on its config."""

import base64
import json
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import dagster as dg

from translations_assets.config.errors import Problem
from translations_assets.graph.step import Step
from translations_assets.records.manifest import Blob, Usage
from translations_assets.records.scores import METRICS, scores_in, shown
from translations_assets.report.flow import merged_lines
from translations_assets.running.engine import StepResult
from translations_assets.running.protocols import Store
from translations_assets.running.session import Session

MAX_IMAGES = 4
MAX_SAMPLES = 10
MAX_SOURCES = 3  # addresses of a dataset that consists of many
MAX_CURVE_ROWS = 200
KEY_DIGITS = 12  # enough to tell keys apart, and the table stays narrow
CURVES = {"train": "training curve", "valid": "validation curve"}  # kind of a point → how people call it
BAR = 40  # characters of the longest
NOTES_TAG = "translations/notes"  # how many there are, among the tags by which the UI lists runs

Metadata = dict[str, dg.MetadataValue[Any]]
Counts = Mapping[str, int]  # stage → lines that are left after it


def stage_metadata(
    partition: str, results: Sequence[StepResult], store: Store, warnings: Sequence[str]
) -> Metadata:
    """Everything worth knowing of a stage's results: counts, sizes, scores, curves, samples, cost, logs."""
    metadata: Metadata = {
        "steps run": dg.MetadataValue.int(sum(not result.cached for result in results)),
        "steps cached": dg.MetadataValue.int(sum(result.cached for result in results)),
    }
    if not results:
        metadata["note"] = dg.MetadataValue.text("This training config needs no steps here.")
        return metadata
    if warnings:
        metadata["warnings"] = dg.MetadataValue.md("\n".join(f"* {warning}" for warning in warnings))
    metadata.update(_reasons(results))
    metadata.update(_usage(results))
    statistics = list(_documents(results, store, "stats.json"))
    metadata.update(_lines(statistics))
    metadata.update(_sources(statistics))
    samples = chain.from_iterable(value.get("samples", []) for _, value in statistics)
    metadata.update(
        shown_samples(" ||| ".join(map(str, one)) if isinstance(one, list) else str(one) for one in samples)
    )
    for label, metrics in _documents(results, store, "metrics.json"):
        metadata.update(_scores(label, metrics) if "dataset" in metrics else _training(label, metrics))
    for label, scores in _documents(results, store, "scores.json"):
        metadata.update(_scores(label, scores))
    metadata.update(_images(results, store))
    metadata["steps"] = _steps(partition, results)
    return metadata


def _reasons(results: Sequence[StepResult]) -> Metadata:
    """Why steps ran, as `translations explain` says it."""
    rows = [
        {"step": result.step.label, "why it ran": result.manifest.reason}
        for result in results
        if not result.cached
    ]
    return {"reasons": table(rows)} if rows else {}


def _usage(results: Sequence[StepResult]) -> Metadata:
    usages = [result.manifest.usage for result in results]
    sizes = sum(blob.size for result in results for blob in result.manifest.outputs.values())
    return {
        "size (bytes)": dg.MetadataValue.int(sizes),
        "duration (s)": dg.MetadataValue.float(round(sum(usage.seconds for usage in usages), 2)),
        "CPU time (s)": dg.MetadataValue.float(round(sum(usage.cpu_seconds for usage in usages), 2)),
        "peak memory (MB)": dg.MetadataValue.float(round(max(u.peak_memory for u in usages) / 1e6, 1)),
        **_gpu_usage([usage for usage in usages if usage.gpus]),
    }


def _gpu_usage(usages: Sequence[Usage]) -> Metadata:
    """What steps with GPUs used of them; utilisation is the mean over the time of all of them."""
    held = sum(usage.gpus * usage.seconds for usage in usages)
    if not held:
        return {}
    busy = sum(usage.gpus * usage.seconds * usage.gpu_utilisation for usage in usages)
    memory = max(usage.gpu_memory for usage in usages)
    return {
        "GPU time (s)": dg.MetadataValue.float(round(held, 2)),
        "GPU utilisation (%)": dg.MetadataValue.float(round(100 * busy / held, 1)),
        "peak GPU memory (MB)": dg.MetadataValue.float(round(memory / 1e6, 1)),
    }


def _documents(
    results: Sequence[StepResult], store: Store, name: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """(step label, contents) of every output with a name."""
    for result in results:
        blob: Blob | None = result.manifest.outputs.get(name)
        if blob is not None:
            yield result.step.label, json.loads(store.read_blob(blob))


def _lines(statistics: list[tuple[str, dict[str, Any]]]) -> Metadata:
    counts = [(label, value["lines"]) for label, value in statistics if "lines" in value]
    if not counts:
        return {}
    dropped: Counter[str] = Counter()
    for _, lines in counts:
        dropped.update(lines.get("dropped", {}))
    metadata: Metadata = {
        "lines in": dg.MetadataValue.int(sum(lines["in"] for _, lines in counts)),
        "lines kept": dg.MetadataValue.int(sum(lines["kept"] for _, lines in counts)),
        "lines dropped": dg.MetadataValue.int(sum(dropped.values())),
    }
    if dropped:
        rows = [{"reason": reason, "lines": number} for reason, number in dropped.most_common()]
        metadata["dropped, by reason"] = table(rows)
    return metadata


def _sources(statistics: list[tuple[str, dict[str, Any]]]) -> Metadata:
    """Where datasets came from: revision, licence as the provider states it, and what was downloaded."""
    rows = [
        {
            "step": label,
            "source": ", ".join(source["url"] for source in value["source"][:MAX_SOURCES]),
            "revision": value.get("revision", ""),
            "licence": value.get("licence", "") or "not stated",
            "downloaded (bytes)": sum(source["bytes"] for source in value["source"]),
        }
        for label, value in statistics
        if value.get("source")
    ]
    return {"sources": table(rows)} if rows else {}


def shown_samples(samples: Iterable[str]) -> Metadata:
    """The first of some lines, as an indented block; nothing when there are none."""
    lines = [f"    {sample}" for sample in islice(samples, MAX_SAMPLES)]
    return {"samples": dg.MetadataValue.md("\n".join(lines))} if lines else {}


def _scores(label: str, metrics: Mapping[str, Any]) -> Metadata:
    """What a script of `pipeline.eval` found on a test set."""
    speed = {name.replace("_", " "): float(value) for name, value in metrics.get("speed", {}).items()}
    found = scores_in(metrics)
    return {
        **{f"{name} {label}": dg.MetadataValue.float(value) for name, value in speed.items()},
        **{
            f"{METRICS[name]} {label}": dg.MetadataValue.float(score["score"])
            for name, score in found.items()
        },
        f"scores {label}": table(
            [
                {"metric": METRICS[name], "score": shown(score), "signature": score["signature"]}
                for name, score in found.items()
            ]
        ),
        **({f"translations {label}": table(metrics["samples"])} if "samples" in metrics else {}),
    }


def _training(label: str, metrics: Mapping[str, Any]) -> Metadata:
    """What `pipeline.train.train` noted: the best scores, and what it counted and scored at which update."""
    metadata: Metadata = {f"updates {label}": dg.MetadataValue.int(metrics["updates"])}
    for metric, best in metrics["best"].items():
        metadata[f"best {metric} {label}"] = dg.MetadataValue.float(best["score"])
    for kind, name in CURVES.items():
        points = [point for point in metrics["curve"] if point["kind"] == kind]
        if points:
            metadata[f"{name} {label}"] = table([_without_kind(point) for point in _thinned(points)])
    return metadata


def _without_kind(point: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in point.items() if name != "kind"}


def _thinned(points: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """At most `MAX_CURVE_ROWS` points at even distances, the last one always."""
    stride = -(-len(points) // MAX_CURVE_ROWS)
    return (point for number, point in enumerate(points, 1 - len(points)) if number % stride == 0)


def _images(results: Sequence[StepResult], store: Store) -> Metadata:
    images = [
        (f"{result.step.label} {name}", blob)
        for result in results
        for name, blob in result.manifest.outputs.items()
        if name.endswith(".png")
    ]
    return {
        name: dg.MetadataValue.md(
            f"![{name}](data:image/png;base64,{base64.b64encode(store.read_blob(blob)).decode()})"
        )
        for name, blob in images[:MAX_IMAGES]
    }


def _steps(partition: str, results: Sequence[StepResult]) -> dg.MetadataValue[Any]:
    return table(
        [
            {
                "step": result.step.label,
                "state": "cached" if result.cached else "run",
                "seconds": round(result.manifest.usage.seconds, 2),
                "attempt": result.manifest.attempt,
                "host": result.manifest.host,
                "log": f"translations logs {partition} {result.step.label}",
                "key": result.manifest.key[:KEY_DIGITS],
            }
            for result in results
        ]
    )


def table(rows: Sequence[Mapping[str, Any]]) -> dg.MetadataValue[Any]:
    """Rows as a table; a row may lack columns that others have."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    filled = [{name: _cell(row.get(name)) for name in columns} for row in rows]
    schema = dg.TableSchema(columns=[dg.TableColumn(name, _column_type(filled, name)) for name in columns])
    return dg.MetadataValue.table([dg.TableRecord(row) for row in filled], schema=schema)


def _cell(value: Any) -> str | int | float | bool | None:
    return value if value is None or isinstance(value, (str, int, float, bool)) else json.dumps(value)


def _column_type(rows: Sequence[Mapping[str, Any]], name: str) -> str:
    values = [row[name] for row in rows if row[name] is not None]
    if values and all(isinstance(value, int) for value in values):
        return "int"
    return "float" if values and all(isinstance(value, (int, float)) for value in values) else "string"


def lines_by_dataset(session: Session, results: Sequence[StepResult], store: Store) -> Metadata:
    """For a stage that merges datasets: lines by dataset and stage; empty for others.

    A stage between whose result this run does not know is known by what the next one read.
    """
    rows = {name: counts for result in results for name, counts in _merged(session, result, store)}
    if not rows:
        return {}
    stages = list(dict.fromkeys(chain.from_iterable(rows.values())))
    return {
        "lines by dataset": table([{"dataset": name, **counts} for name, counts in rows.items()]),
        "lines by dataset, drawn": dg.MetadataValue.md("\n".join(_drawn(rows, stages))),
    }


def _merged(session: Session, result: StepResult, store: Store) -> Iterator[tuple[str, Counts]]:
    """Each dataset that a step merged, and its counts."""
    blob = result.manifest.outputs.get("stats.json")
    stats = json.loads(store.read_blob(blob)) if blob else {}
    return merged_lines(result.step, stats, lambda step: _counted(session, step, store))


def _counted(session: Session, step: Step, store: Store) -> Mapping[str, Any]:
    """What a step counted, empty when this run knows no result of it, or it counted none."""
    result = session.result(step)
    blob = result.outputs.get("stats.json") if result else None
    lines: Mapping[str, Any] = json.loads(store.read_blob(blob)).get("lines", {}) if blob else {}
    return lines


def _drawn(rows: Mapping[str, Counts], stages: Sequence[str]) -> Iterator[str]:
    """A bar for each dataset and stage, as an indented block of Markdown."""
    longest = max(1, *(count for counts in rows.values() for count in counts.values()))
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
