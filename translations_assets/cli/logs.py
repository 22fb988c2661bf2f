"""`translations logs`: the log of a step."""

from __future__ import annotations

import sys
import time
from contextlib import nullcontext
from typing import Annotated

import typer

from translations_assets.cli import common
from translations_assets.cli.common import Label, Set
from translations_assets.cli.output import tell
from translations_assets.common.errors import TranslationsError
from translations_assets.project import this_project
from translations_assets.running.protocols import Store
from translations_assets.running.reading import reading
from translations_assets.runs.run import Run

POLL_SECONDS = 0.5
RETRY_SECONDS = 10.0  # the engine pauses some seconds before it tries again


@common.reads
def logs(
    name: Annotated[str, common.PARTITION_OR_RUN],
    label: Label,
    follow: Annotated[
        bool,
        typer.Option("--follow", "-f", help="Follow the log until the step ends, through all its attempts."),
    ] = False,
    overrides: Set = None,
) -> None:
    """Print the log of a step's newest attempt."""
    store = this_project().store
    key, generations = _find_step(name, label, overrides)
    generation, attempt = _newest_attempt(store, label, key, generations, follow)
    with reading(store, key, generation) if follow else nullcontext():
        _print_log(store, key, generation, attempt, follow)


def _print_log(store: Store, key: str, generation: int, attempt: int, follow: bool) -> None:
    part = 0
    while True:
        running = follow and store.owners.is_owned(key, generation)
        for data in store.read_log(key, generation, attempt, part):
            sys.stdout.buffer.write(data)
            part += 1
        sys.stdout.flush()
        if not running:
            later = _next_attempt(store, key, generation, attempt) if follow else None
            if later is None:
                return
            attempt, part = later, 0
            tell(f"attempt {attempt}:")
        time.sleep(POLL_SECONDS)


def _find_step(name: str, label: str, overrides: list[str] | None) -> tuple[str, list[int]]:
    """The step's key, and the generations whose log is meant, the newest first.

    Of a run, that which it used, or had begun; of a partition, what is under way now, else what counts.
    """
    if run := common.run_named(name):
        key, generation = _of_run(run, label)
        return key, [generation]
    session = common.reading_session(name, overrides)
    step = common.find_step(session.graph, name, label)
    planned = next(found for found in common.plan_of(session, step.stage).steps if found.step is step)
    if planned.key is None:
        raise TranslationsError(f"{label} has not begun: {planned.reasons[0]}.")
    generation = planned.manifest.generation if planned.manifest else 0
    return planned.key, [generation + 1, generation]


def _of_run(run: Run, label: str) -> tuple[str, int]:
    """Key and generation of a step in a run."""
    made = {**run.record.begun, **run.record.uses}
    if label in made:
        return made[label]
    if label in run.record.labels:
        raise TranslationsError(f"{label} has not begun in run {run.short}.")
    raise TranslationsError(
        f"No step of run {run.short} is called {label!r}. To list them: "
        f"translations status {run.short} --steps"
    )


def _newest_attempt(
    store: Store, label: str, key: str, generations: list[int], follow: bool
) -> tuple[int, int]:
    """Generation and number of the newest attempt, of the first generation that has one."""
    while True:
        for number in generations:
            if attempts := store.attempts(key, number):
                return number, attempts[-1]
        if not follow:
            raise TranslationsError(
                f"{label} has no log yet. To wait for it, add -f; to run it: translations train."
            )
        time.sleep(POLL_SECONDS)


def _next_attempt(store: Store, key: str, generation: int, attempt: int) -> int | None:
    """The attempt after one that has ended, once it begins; None when the step is done, or nothing comes."""
    deadline = time.monotonic() + RETRY_SECONDS
    while store.generation(key, generation) is None and time.monotonic() < deadline:
        later = [number for number in store.attempts(key, generation) if number > attempt]
        if later:
            return later[0]
        time.sleep(POLL_SECONDS)
    return None
