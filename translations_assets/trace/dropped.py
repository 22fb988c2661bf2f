"""Lines of a text that the next one lacks: which step dropped or changed them, and by which rule."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import zstandard

from translations_assets.common.errors import TranslationsError
from translations_assets.common.scripts import run_script
from translations_assets.graph.step import Output, RepoFile
from translations_assets.records.manifest import Blob
from translations_assets.results.files import STATISTICS, read_statistics
from translations_assets.running.job import INPUT_FOLDER, OUTPUT_FOLDER, command
from translations_assets.running.session import Session
from translations_assets.trace.search import FoundLine, SearchAnswer
from translations_assets.trace.texts import WORKED_ON, Text

# What these do with a line depends, but for the identified language, on that line alone
BY_LINE = ("pipeline.clean.clean_parallel", "pipeline.clean.clean_mono", "pipeline.clean.apply_mono_filters")
COMPANY = 100  # lines that a step has kept, by which it knows the text's languages when it is run on one more


@dataclass(frozen=True)
class DroppedOnTheWay:
    """Lines that a step has dropped or changed.

    label    of the step
    lines    their numbers in the text before
    rules    for the first of them, the rules that drop it, or its score; empty where they are not known
    changed  or what the step makes of it; "" where it drops it, or that is not known
    reasons  reason → lines that the step dropped for it, of all
    """

    label: str
    lines: Sequence[int]
    rules: Sequence[str]
    changed: str
    reasons: Mapping[str, int]


def missing_lines(answer: SearchAnswer, there: SearchAnswer) -> list[FoundLine]:
    """The found lines of a text that are not among those of a text that was made of it.

    None where the latter has more than it names.
    """
    if there.number > len(there.found):
        return []
    kept = {line.alike for line in there.found}
    return [line for line in answer.found if line.alike not in kept]


def explain(
    session: Session,
    blobs: Mapping[Output, Blob],
    text: Text,
    after: Text,
    missing: Sequence[FoundLine],
    work: Path,
) -> DroppedOnTheWay:
    """Say why a step has dropped or changed lines: by its counts, and for the first by its rules.

    `blobs` are the known files of the graph; the script runs in the new folder `work`.
    """
    stats = blobs.get(after.step[STATISTICS]) if STATISTICS in after.step.outputs else None
    counted = read_statistics(session.store, {STATISTICS: stats}, after.label) if stats else None
    reasons = counted.lines.dropped if counted and counted.lines else {}
    rules, changed = _score(session, blobs, after, missing[0], work), ""
    if after.step.script in BY_LINE:
        with suppress(TranslationsError):  # then the counts are all that is known
            rules, changed = _again(session, blobs, text, after, missing[0], work)
    return DroppedOnTheWay(after.label, [line.line for line in missing], rules, changed, reasons)


def _score(
    session: Session, blobs: Mapping[Output, Blob], after: Text, line: FoundLine, work: Path
) -> Sequence[str]:
    """The score of a line, and the threshold, of a step that keeps lines by their scores; else nothing."""
    scores, threshold = after.step.inputs.get("scores"), after.step.args.get("threshold")
    if not isinstance(scores, Output) or scores not in blobs:
        return ()
    placed = work / "scores.zst"
    session.store.place_blob(blobs[scores], placed)
    score = next(islice(_lines(placed), line.line - 1, None), "none")
    return [f"score {score}" if threshold is None else f"score {score}, threshold {threshold}"]


def _again(
    session: Session, blobs: Mapping[Output, Blob], text: Text, after: Text, line: FoundLine, work: Path
) -> tuple[Sequence[str], str]:
    """Run a step's script on a line, behind some that it has kept: the rules that drop it, or the result.

    Nothing where one of the others is dropped now, or the line is kept as it is.
    """
    company = _company(session, blobs, after, work)
    for path, handle in after.step.files().items():
        placed = work / INPUT_FOLDER / path
        placed.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(handle, RepoFile):
            placed.write_bytes(session.keys.repo_bytes(handle))
        elif isinstance(handle, Output) and path.partition("/")[0] in WORKED_ON:
            side = text.files.index(handle)
            _write(placed, [*company[side], line.sides[side]])
        elif isinstance(handle, Output):
            session.store.place_blob(blobs[handle], placed)
    run_script(after.step.script, command(after.step), work)
    out = work / OUTPUT_FOLDER
    dropped = json.loads((out / STATISTICS).read_bytes())["lines"]["dropped"]
    if dropped:
        return (list(dropped), "") if sum(dropped.values()) == 1 else ((), "")
    last = [list(_lines(out / file.name))[-1] for file in after.files]
    return (), "" if tuple(last) == line.sides else " | ".join(last)


def _company(session: Session, blobs: Mapping[Output, Blob], after: Text, work: Path) -> list[list[str]]:
    """Some lines of each side of a text."""
    found = []
    for number, file in enumerate(after.files):
        placed = work / "kept" / f"{number}.zst"
        placed.parent.mkdir(parents=True, exist_ok=True)
        session.store.place_blob(blobs[file], placed)
        found.append(list(islice(_lines(placed), COMPANY)))
    return found


def _write(path: Path, lines: Sequence[str]) -> None:
    path.write_bytes(zstandard.compress("".join(f"{line}\n" for line in lines).encode()))


def _lines(path: Path) -> Iterator[str]:
    with path.open("rb") as raw, zstandard.open(raw, "rt", encoding="utf-8", newline="\n") as text:
        for line in text:
            yield line.removesuffix("\n")
