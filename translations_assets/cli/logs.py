"""`translations logs`: the log of a step, finished, failed or running."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from translations_assets.cli.common import Label, Partition, find_step, plan_of
from translations_assets.project import Project
from translations_assets.steps.errors import TranslationsError

if TYPE_CHECKING:
    from translations_assets.steps.plan import PlannedStep
    from translations_assets.steps.protocols import Store

POLL_SECONDS = 0.5


def command(
    partition: Partition,
    label: Label,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the step ends.")] = False,
) -> None:
    """Print the log of a step's newest attempt."""
    project = Project()
    graph = project.read_graph(partition)
    step = find_step(graph, partition, label)
    planned = next(found for found in plan_of(project, graph, step.stage, None).steps if found.step is step)
    if planned.key is None:
        raise TranslationsError(f"{label} has not begun: {planned.reasons[0]}.")
    generation = planned.manifest.generation if planned.manifest else 1
    attempt = _newest_attempt(project.store, planned, generation, follow)
    _print(project.store, planned.key, generation, attempt, follow)


def _newest_attempt(store: Store, planned: PlannedStep, generation: int, follow: bool) -> int:
    assert planned.key is not None
    while True:
        if attempts := store.attempts(planned.key, generation):
            return attempts[-1]
        if not follow:
            raise TranslationsError(
                f"{planned.step.label} has no log yet. To wait for it, add -f; to run it: translations train."
            )
        time.sleep(POLL_SECONDS)


def _print(store: Store, key: str, generation: int, attempt: int, follow: bool) -> None:
    part = 0
    while True:
        ended = not follow or not _is_running(store, key, generation)
        for data in store.read_log(key, generation, attempt, part):
            sys.stdout.buffer.write(data)
            part += 1
        sys.stdout.flush()
        if ended:
            return
        time.sleep(POLL_SECONDS)


def _is_running(store: Store, key: str, generation: int) -> bool:
    with store.lock(key, generation) as free:
        return not free
