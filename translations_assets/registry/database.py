"""The registry's database: SQLite, made whole from the rows of a store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import astuple
from pathlib import Path

from translations_assets.registry.read import Data, RunRow, Score, Speed

SCHEMA = """
create table runs (
    run text primary key, pair text, partition text, space text, started real, overrides text, config text
);
create table scores (run text, model text, dataset text, metric text, score real, interval real);
create table speeds (run text, model text, size integer, words_per_second real, memory real);
create table data (run text, dataset text, lines integer, licence text, revision text);
create index scores_of_run on scores (run);
create index speeds_of_run on speeds (run);
create index data_of_run on data (run);
"""


def write(path: Path, rows: Iterable[RunRow]) -> None:
    """Make the database at a path where nothing stands."""
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(SCHEMA)
        for row in rows:
            pair = "-".join(row.pair)
            run = (row.run, pair, row.partition, row.space, row.started, row.overrides, row.config)
            database.execute("insert into runs values (?, ?, ?, ?, ?, ?, ?)", run)
            _add(database, "scores", row.run, row.scores)
            _add(database, "speeds", row.run, row.speeds)
            _add(database, "data", row.run, row.data)


def _add(database: sqlite3.Connection, table: str, run: str, values: Iterable[Score | Speed | Data]) -> None:
    for value in values:
        columns = (run, *astuple(value))
        marks = ", ".join("?" * len(columns))
        database.execute(f"insert into {table} values ({marks})", columns)
