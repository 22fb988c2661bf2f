"""Runs as people see them: what Dagster's instance and the store's records together know of one."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from translations_assets.cli.run import SILENT_SECONDS, Run
from translations_assets.dagster_home import home
from translations_assets.errors import TranslationsError
from translations_assets.records.run import RunRecord

if TYPE_CHECKING:
    from translations_assets.project import Project

_ID = re.compile(r"[0-9a-f]{1,8}|[0-9a-f]{8}-[0-9a-f-]*")


def newest_runs(project: Project, number: int) -> list[Run]:
    """The newest runs, those that began last first. Runs whose process has died are marked in Dagster."""
    ids = project.store.runs()[:number]
    found = {run: _of_record(run, project.store.read_run(run) or RunRecord()) for run in ids}
    for run in _dagster_runs(number):
        found[run.id] = _merged(run, found.get(run.id) or _of_store(project, run.id))
    newest = sorted(found.values(), key=lambda run: run.started or time.time(), reverse=True)
    return newest[:number]


def find_run(project: Project, name: str) -> Run:
    """The run with an id, or with an id that begins so. TranslationsError when there is none, or several."""
    ids = _ids_beginning(project, name)
    if not ids:
        raise TranslationsError(f"There is no run {name}. To list the runs: translations status")
    if len(ids) > 1 and name not in ids:
        raise TranslationsError(f"{name} may be {', '.join(sorted(ids))}: give more of the id.")
    return get_run(project, name if name in ids else ids.pop())


def get_run(project: Project, run: str) -> Run:
    """A run by its whole id, as it is now."""
    stored = _of_store(project, run)
    known = _dagster_run(run)
    if known is None and stored is None:
        raise TranslationsError(f"There is no run {run}. To list the runs: translations status")
    return _merged(known, stored) if known else stored or Run(run, "", "ended")


def running_of(project: Project, partition: str) -> list[Run]:
    """The runs of a partition that something works on."""
    return [run for run in newest_runs(project, 1000) if run.partition == partition and not run.is_over]


def is_run(project: Project, name: str) -> bool:
    """Whether a name can only be that of a run: partitions begin with a pair of languages."""
    return bool(_ID.fullmatch(name)) or project.store.read_run(name) is not None


def _ids_beginning(project: Project, name: str) -> set[str]:
    ids = {*project.store.runs(), *_dagster_ids()}
    return {run for run in ids if run.startswith(name)}


def _of_store(project: Project, run: str) -> Run | None:
    record = project.store.read_run(run)
    return _of_record(run, record) if record else None


def _of_record(run: str, record: RunRecord) -> Run:
    is_over = record.ended is not None
    is_silent = not is_over and time.time() - record.heartbeat > SILENT_SECONDS
    return Run(
        id=run,
        partition=record.partition,
        state="ended" if is_over else "lost its process" if is_silent else "running",
        started=record.started,
        ended=(record.heartbeat or None) if is_silent else record.ended,
        selection=record.stages,
        options=record.options,
        uses=record.uses,
        config=record.config,
    )


def _merged(known: Run, stored: Run | None) -> Run:
    """Dagster's word on the state, the store's on what was used."""
    if stored is None:
        return known
    return Run(
        **{
            **vars(known),
            "started": known.started or stored.started,
            "ended": known.ended or (stored.ended if known.is_over else None),
            "selection": stored.selection or known.selection,
            "options": stored.options,
            "uses": stored.uses,
            "config": stored.config,
        }
    )


def _has_dagster() -> bool:
    """Whether there is an instance to ask; importing Dagster takes longer than all the rest."""
    return (home() / "dagster.yaml").exists()


def _dagster_runs(number: int) -> Iterator[Run]:
    if _has_dagster():
        from translations_assets.cli.instance import runs

        yield from runs(number)


def _dagster_run(run: str) -> Run | None:
    if not _has_dagster():
        return None
    from translations_assets.cli.instance import get

    return get(run)


def _dagster_ids() -> list[str]:
    if not _has_dagster():
        return []
    from translations_assets.cli.instance import ids

    return ids()
