"""The registry's database: SQLite, made whole from the rows of a store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

from translations_assets.registry.read import RunRow

SCHEMA = """
create table runs (
    run text primary key, pair text, partition text, space text, started real, overrides text, config text,
    model text, made_by text
);
create table scores (run text, model text, dataset text, metric text, score real, interval real);
create table speeds (run text, model text, size integer, words_per_second real, memory real);
create table publications (run text, url text, time real);
create table reports (run text primary key, made_of text);
create table data (run text, dataset text, lines integer, licence text, revision text);
create index publications_of_run on publications (run);
create index scores_of_run on scores (run);
create index speeds_of_run on speeds (run);
create index data_of_run on data (run);
"""


def write(path: Path, rows: Iterable[RunRow], reports: Mapping[str, str]) -> None:
    """Make the database at a path where nothing stands; `reports` are those that were written, by run."""
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(SCHEMA)
        for row in rows:
            for table, values in _rows(row):
                marks = ", ".join("?" * (1 + len(values)))
                database.execute(f"insert into {table} values ({marks})", (row.run, *values))
        database.executemany("insert into reports values (?, ?)", reports.items())


def _rows(row: RunRow) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Yield the name of a table and the values of a row of it, without the run."""
    run = ("-".join(row.pair), row.partition, row.space, row.started, row.overrides, row.config)
    yield "runs", (*run, row.model, row.made_by)
    for model, tests in row.evaluations.items():
        for dataset, scores in tests.items():
            for metric, found in scores.by_metric.items():
                yield "scores", (model, dataset, metric, found.score, found.ci)
    for model, speed in row.speeds.items():
        yield "speeds", (model, speed.model_bytes, speed.words_per_second, speed.memory_megabytes)
    for source in row.sources:
        yield "data", (source.dataset, source.lines, source.licence, source.revision)
    for place in row.published:
        yield "publications", (place.url, place.time)


def reports_in(path: Path) -> dict[str, str]:
    """Run → what its report was made of, of an earlier database; nothing where there is none that says so."""
    if not path.is_file():
        return {}
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
        try:
            return dict(database.execute("select run, made_of from reports").fetchall())
        except sqlite3.DatabaseError:  # of an earlier version, or damaged: everything is made anew
            return {}
