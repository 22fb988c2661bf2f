"""How many lines of each dataset are left after each stage, from import to merge: a table and bars."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import dagster as dg

from translations_assets.defs.metadata import Metadata, table
from translations_assets.graph.step import Step
from translations_assets.running.engine import StepResult
from translations_assets.running.protocols import Store
from translations_assets.running.session import Session

TEXTS = ("corpus_trg", "text")  # inputs that hold a dataset's text, one side of it
BAR = 40  # characters of the longest

Counts = dict[str, int]  # stage → lines that are left after it


def lines_by_dataset(session: Session, results: Sequence[StepResult], store: Store) -> Metadata:
    """For a stage that merges datasets: lines by dataset and stage; empty for others.

    A stage between whose result this run does not know is told by what the next one read.
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
    step = result.step
    if not step.args.get("datasets"):
        return
    stats = json.loads(store.read_blob(result.manifest.outputs["stats.json"]))
    for lines, text in zip(stats["datasets"], _texts(step), strict=True):
        name = step.aliases.get(lines["dataset"], lines["dataset"])
        yield name, {**_before(session, text, lines["in"], store), step.stage: lines["kept"]}


def _texts(step: Step) -> list[Step]:
    """The steps that made the texts that a step reads, one for each text."""
    return [output.step for name, _, output in step.input_outputs() if name in TEXTS]


def _before(session: Session, step: Step, left: int, store: Store) -> Counts:
    """The counts of the stages up to the step that left so many lines, the first stage first."""
    lines = _lines(session, step, store)
    texts = _texts(step)
    before = _before(session, texts[0], lines["in"], store) if lines and texts else {}
    return {**before, step.stage: left}


def _lines(session: Session, step: Step, store: Store) -> Mapping[str, Any]:
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
