"""`translations logs`: the log of a step, finished, failed or running."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from translations_assets.cli.common import (
    PARTITION_OR_RUN,
    READING,
    Label,
    Set,
    find_step,
    overrides_of,
    plan_of,
)
from translations_assets.errors import TranslationsError
from translations_assets.project import Project, this_project
from translations_assets.records.run import RunOptions

if TYPE_CHECKING:
    from translations_assets.running.protocols import Store

POLL_SECONDS = 0.5
RETRY_SECONDS = 10.0  # the engine pauses some seconds before it tries again


def command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="PARTITION|RUN",
            help=PARTITION_OR_RUN,
        ),
    ],
    label: Label,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on until the step ends, through all its attempts.")
    ] = False,
    overrides: Set = None,
) -> None:
    """Print the log of a step's newest attempt."""
    project = this_project()
    key, generation = _find(project, name, label, overrides)
    generation, attempt = _newest(project.store, label, key, generation, follow)
    part = 0
    while True:
        running = follow and project.store.is_owned(key, generation)
        part = _print(project.store, key, generation, attempt, part)
        if not running:
            later = _next_attempt(project.store, key, generation, attempt) if follow else None
            if later is None:
                return
            attempt, part = later, 0
            typer.echo(f"attempt {attempt}:", err=True)
        time.sleep(POLL_SECONDS)


def _find(project: Project, name: str, label: str, overrides: list[str] | None) -> tuple[str, int]:
    """The step's key, and the generation of its result that counts; 0 when it has none."""
    from translations_assets.cli.runs import find_run, is_run

    partition, options = name, RunOptions(overrides=overrides_of(overrides or ()))
    if is_run(project, name):
        run = find_run(project, name)
        if used := (run.uses or {}).get(label):
            return used
        partition = run.partition
        options = RunOptions(overrides={**run.options.overrides, **options.overrides})
    session = project.session(READING, partition, options)
    step = find_step(session.graph, partition, label)
    plan = plan_of(project, session, step.stage)
    planned = next(found for found in plan.steps if found.step is step)
    if planned.key is None:
        raise TranslationsError(f"{label} has not begun: {planned.reasons[0]}.")
    return planned.key, planned.manifest.generation if planned.manifest else 0


def _newest(store: Store, label: str, key: str, generation: int, follow: bool) -> tuple[int, int]:
    """Generation and number of the newest attempt: that of a repetition, when one has begun."""
    while True:
        for number in (generation + 1, generation):
            if attempts := store.attempts(key, number):
                return number, attempts[-1]
        if not follow:
            raise TranslationsError(
                f"{label} has no log yet. To wait for it, add -f; to run it: translations train."
            )
        time.sleep(POLL_SECONDS)


def _print(store: Store, key: str, generation: int, attempt: int, part: int) -> int:
    """Print the parts from one on that are there; the number of the next."""
    for data in store.read_log(key, generation, attempt, part):
        sys.stdout.buffer.write(data)
        part += 1
    sys.stdout.flush()
    return part


def _next_attempt(store: Store, key: str, generation: int, attempt: int) -> int | None:
    """The attempt after one that has ended, once it begins; None when the step is done, or nothing comes."""
    deadline = time.monotonic() + RETRY_SECONDS
    while store.generation(key, generation) is None and time.monotonic() < deadline:
        later = [number for number in store.attempts(key, generation) if number > attempt]
        if later:
            return later[0]
        time.sleep(POLL_SECONDS)
    return None
