"""One SQLAlchemy engine for each of Dagster's SQLite databases, in place of one for each query.

A new engine compiles each statement anew: that is a fourth of what a run of made-up steps computes.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from dagster._core.storage.event_log.sqlite import sqlite_event_log
from dagster._core.storage.runs.sqlite import sqlite_run_storage
from dagster._core.storage.schedules.sqlite import sqlite_schedule_storage
from sqlalchemy import Engine, create_engine


def share_engines() -> None:
    """From now on Dagster takes its engines from here, in this process and those forked from it."""
    for module in (sqlite_event_log, sqlite_run_storage, sqlite_schedule_storage):
        vars(module)["create_engine"] = _engine


def _engine(url: str, **options: Any) -> Engine:
    arguments = options.pop("connect_args", {})
    return _shared(url, tuple(arguments.items()), **options)


@cache
def _shared(url: str, arguments: tuple[tuple[str, object], ...], **options: Any) -> Engine:
    return create_engine(url, connect_args=dict(arguments), **options)
