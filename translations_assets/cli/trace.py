"""`translations trace`: where a sentence stands, from the datasets to the text that models learn from."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from translations_assets.cli import common, completion
from translations_assets.cli.common import Json, Set
from translations_assets.cli.output import number_of, print_json, print_note
from translations_assets.cli.runs_many import named
from translations_assets.common.errors import TranslationsError
from translations_assets.common.settings import state_folder
from translations_assets.config.errors import ConfigError
from translations_assets.project import this_project
from translations_assets.records.manifest import Blob
from translations_assets.running.events import StepEvent
from translations_assets.trace.dropped import DroppedOnTheWay
from translations_assets.trace.found import PartitionTexts, Place
from translations_assets.trace.indexes import index_session, index_steps
from translations_assets.trace.search import FoundLine, SearchAnswer, search

SHOWN = 10  # lines of a text
KINDS = ("exact", "inside", "near")


@common.reads
def trace(
    partitions: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PARTITION ...]",
            help="Training configs' names, or patterns such as 'en-*'. Defaults to all.",
            autocompletion=completion.partitions,
        ),
    ] = None,
    sentence: Annotated[
        str, typer.Argument(metavar="SENTENCE", help="A sentence, or ten letters of one or more.")
    ] = ...,  # type: ignore[assignment] # it is required, behind what is not
    overrides: Set = None,
    json: Json = False,
) -> None:
    """Find a sentence in the texts of trainings: the line itself, lines that hold it, and near duplicates.

    For every text, from the imported datasets to the distilled corpus: the lines, counted from 1, both sides,
    the trainings that read it, and the step that dropped a line. Near is a chrF of 80 or more. The first call
    makes an index of each text, which is kept in the store.
    """
    if not "".join(sentence.split()):
        raise TranslationsError('Give a sentence to look for: translations trace en-ru "A sentence."')
    found = _partitions(partitions or [], overrides)
    if not any(texts.made for texts in found.values()):
        raise TranslationsError(
            f"The store has no texts of {', '.join(found) or 'any training config'}. "
            "To make them: translations train PARTITION"
        )
    state_folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=state_folder(), prefix=".trace-") as work:  # links from the store
        places, answers = _look(found, sentence, Path(work))
    if json:
        print_json(
            {
                "sentence": sentence,
                "partitions": {name: _as_json(found[name], answers[name], places[name]) for name in found},
            }
        )
        return
    for name in found:
        _print(name, found[name], answers[name], places[name])


def _partitions(words: Sequence[str], overrides: Sequence[str] | None) -> dict[str, PartitionTexts]:
    """The texts of the named partitions, or of all; of these, a config that cannot be read is told."""
    if words:
        sessions = {name: common.reading_session(name, overrides) for name in named(words)}
        return {session.partition: PartitionTexts(session) for session in sessions.values()}
    found = {}
    for name in this_project().configs.partitions().states:
        try:
            session = common.reading_session(name, overrides)
        except (ConfigError, TranslationsError) as error:
            print_note(f"{name} is left out: {error}")
            continue
        found[session.partition] = PartitionTexts(session)
    return found


def _look(
    found: Mapping[str, PartitionTexts], sentence: str, work: Path
) -> tuple[dict[str, list[Place]], dict[str, list[SearchAnswer]]]:
    """The places of a sentence in each partition, and the answer for each of its texts."""
    indexed = {name: texts.indexed(_indexes(texts)) for name, texts in found.items()}
    store = this_project().store
    given = iter(search(store, sentence, [text for texts in indexed.values() for text in texts], work))
    answers = {name: [next(given) for _ in texts] for name, texts in indexed.items()}
    places = {}
    for name, texts in found.items():
        folder = Path(tempfile.mkdtemp(dir=work))
        places[name] = texts.places(answers[name], folder)
        common.print_warnings(texts.session)
    return places, answers


def _indexes(texts: PartitionTexts) -> dict[str, Mapping[str, Blob]]:
    """Digest of a file's contents → the files of its index, which is made if it is not there."""
    steps = index_steps(texts.files)
    session = index_session(texts.session, texts.manifests, list(steps.values()))
    ran = False

    def listen(event: StepEvent) -> None:
        nonlocal ran
        ran = ran or event.what.kind in common.RAN
        common.tell_event(event)

    try:
        this_project().engine.run(session, list(steps.values()), threading.Event(), listen)
    finally:
        if ran:
            session.end()
    return {digest: session.results.result_of(step).outputs for digest, step in steps.items()}


def _print(
    name: str, texts: PartitionTexts, answers: Sequence[SearchAnswer], places: Sequence[Place]
) -> None:
    """Print the places of a partition, or where it was looked."""
    lines = sum(answer.lines for answer in answers)
    looked = f"{number_of(len(answers), 'text')} with {lines:,} lines"
    nearest = max((answer.nearest for answer in answers), default=0.0)
    near = f" The nearest line that was compared has a chrF of {nearest:.1f}." if nearest else ""
    told = f"found in {len(places)} of {looked}" if places else f"not found in {looked}.{near}"
    typer.echo(f"{name}: {told}")
    if texts.missing:
        print_note(
            f"{number_of(len(texts.missing), 'text')} of {name} not made yet, such as {texts.missing[0]}"
        )
    for place in places:
        _print_place(place)


def _print_place(place: Place) -> None:
    answer = place.answer
    counts = [f"{vars(answer)[kind]:,} {kind}" for kind in KINDS if vars(answer)[kind]]
    read_by = f"; read by {', '.join(place.read_by)}" if place.read_by else ""
    typer.echo(f"\n{place.text.label}  ({', '.join(counts)} of {answer.lines:,} lines{read_by})")
    for line in answer.found[:SHOWN]:
        typer.echo(f"    {line.line:>10,}  {_how(line):<11}  {' | '.join(line.sides)}")
    if answer.number > SHOWN:
        typer.echo(f"    and {answer.number - SHOWN:,} more")
    for dropped in place.dropped:
        typer.echo(f"    {_told(dropped)}")


def _how(line: FoundLine) -> str:
    return line.kind if line.kind == "exact" else f"{line.kind} {line.chrf:.1f}"


def _told(dropped: DroppedOnTheWay) -> str:
    """Say which step dropped lines, and why, as far as that is known."""
    lines = f"line {dropped.lines[0]:,}"
    more = f" and {number_of(len(dropped.lines) - 1, 'other')}" if len(dropped.lines) > 1 else ""
    if dropped.changed:
        return f"{dropped.label} changes {lines}{more}: {dropped.changed}"
    if dropped.rules:
        return f"{dropped.label} drops {lines}{more}: {', '.join(dropped.rules)}"
    counts = ", ".join(f"{reason} {number:,}" for reason, number in dropped.reasons.items())
    why = f"; of all its lines it dropped: {counts}" if counts else ""
    return f"{dropped.label} drops or changes {lines}{more}{why}"


def _as_json(
    texts: PartitionTexts, answers: Sequence[SearchAnswer], places: Sequence[Place]
) -> dict[str, Any]:
    return {
        "texts": len(answers),
        "lines": sum(answer.lines for answer in answers),
        "nearest": max((answer.nearest for answer in answers), default=0.0),
        "missing": texts.missing,
        "found": [
            {
                "label": place.text.label,
                "stage": place.text.step.stage,
                **place.answer.to_dict(),
                "read_by": list(place.read_by),
                "dropped": [vars(dropped) | {"reasons": dict(dropped.reasons)} for dropped in place.dropped],
            }
            for place in places
        ],
    }
