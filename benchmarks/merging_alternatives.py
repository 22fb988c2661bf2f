"""The merges of `pipeline.clean` made in other ways, for benchmarks.merging: same options, same text.

    python -m benchmarks.merging_alternatives {upstream,duckdb,polars} merge_parallel OPTIONS
    python -m benchmarks.merging_alternatives {duckdb,polars} merge_translated OPTIONS

`upstream` goes line by line through Python, as Mozilla's pipeline does: first the best score of each target,
by the hash of its NFC without white space at the ends, then the first pair with that score; no held-out sets,
no limit. What it keeps is shuffled in memory. DuckDB has no reader of lines, so a line is a CSV of one
column. Both libraries leave out sample.txt (one more reading), near-duplicates, weights, and messages that
name the damaged line; `uv pip install --group merging` brings them.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pipeline.clean import merge_parallel, merge_translated
from pipeline.clean.columns import Dataset
from pipeline.clean.held_out import held_out_lines, held_out_pairs
from pipeline.common.lines import read_lines, write_lines, zip_lines
from pipeline.common.resources import memory_mb, threads
from pipeline.common.selection import places

if TYPE_CHECKING:
    import duckdb
    import polars as pl

REASONS = ("kept", "empty", "held_out_pair", "held_out_src", "held_out_trg", "duplicate", "sampled_out")
KEPT, EMPTY, PAIR, SRC, TRG, DUPLICATE, SAMPLED_OUT = range(len(REASONS))
GOLDEN, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB  # of SplitMix64
SPACES = r"\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
ODD = rf"^ | $|  |[\x00-\x1f{SPACES}]"  # lines that are not in normal form as to white space
RUNS = rf"[ \t\x0b\f\r\x1c-\x1f{SPACES}]+"
WORD = (1 << 64) - 1
DUCKDB_MACROS = f"""
    create macro normal(line) as if(regexp_matches(line, '{ODD}'),
        trim(regexp_replace(nfc_normalize(line), '{RUNS}', ' ', 'g')), nfc_normalize(line));
    create macro multiplied(n, factor) as (n::uhugeint * factor::uhugeint & {WORD}::uhugeint);
    create macro mixed(n, bits, factor) as multiplied(xor(n, n >> bits), factor);
    create macro place(n, start) as (select xor(c, c >> 31) from (select mixed(mixed(
        (multiplied(n + 1, {GOLDEN}) + start) & {WORD}::uhugeint, 30, {FIRST}), 27, {SECOND}) as c))"""


@dataclass(frozen=True)
class Job:
    """A merge; one of translated text goes by both sides, others by the target."""

    datasets: Sequence[Dataset]
    held_out: Sequence[Iterable[str]]
    held_out_pairs: Iterable[tuple[str, ...]]
    limit: int | None
    seed: int
    translated: bool
    output: Path
    names: Sequence[str]

    @property
    def sides(self) -> list[list[str]]:
        """The files of each side."""
        return [[str(dataset.files[side]) for dataset in self.datasets] for side in (0, 1)]

    @property
    def scores(self) -> list[str]:
        """The files of scores: one a data set, or none."""
        return [str(dataset.scores) for dataset in self.datasets if dataset.scores]

    def write_stats(self, counts: Iterable[tuple[int, int, int]]) -> None:
        """Write stats.json from data sets' numbers, verdicts and numbers of rows."""
        tallies: list[dict[str, int]] = [{} for _ in self.datasets]
        for dataset, verdict, rows in counts:
            tallies[dataset][REASONS[verdict]] = rows
        parts = [
            {
                "dataset": dataset.name,
                "in": sum(tally.values()),
                "kept": tally.pop("kept", 0),
                "dropped": tally,
            }
            for dataset, tally in zip(self.datasets, tallies, strict=True)
        ]
        (self.output / "stats.json").write_text(json.dumps({"datasets": parts}))


def main() -> None:
    """Merge."""
    way, script, *options = sys.argv[1:]
    ways: dict[str, Callable[[Job], None]] = {
        "upstream": by_upstream,
        "duckdb": by_duckdb,
        "polars": by_polars,
    }
    scripts = {"merge_parallel": merge_parallel, "merge_translated": merge_translated}
    args = scripts[script].parse_arguments(options)
    job = job_of(args, scripts[script].datasets_of(args), translated=script == "merge_translated")
    job.output.mkdir()
    ways[way](job)


def job_of(args: argparse.Namespace, datasets: Sequence[Dataset], *, translated: bool) -> Job:
    """The merge that the options of a script ask for."""
    files = (args.held_out_src, args.held_out_trg)
    lines = [held_out_lines(paths, lang) for paths, lang in zip(files, (args.src, args.trg), strict=True)]
    pairs = frozenset() if translated else held_out_pairs(files)
    names = [f"corpus.{args.src}.zst", f"corpus.{args.trg}.zst"]
    limit = None if translated else args.max_sentences
    return Job(datasets, lines, pairs, limit, args.seed, translated, args.output, names)


def start_of(seed: str) -> int:
    """Return the start of the positions of pipeline.common.selection."""
    return int.from_bytes(blake2b(seed.encode(), digest_size=8).digest(), "big")


def by_upstream(job: Job) -> None:
    """Line by line; memory grows with the text that is kept."""
    best: dict[int, float] = {}
    for _, _, trg, score in _rows(job):
        key = hash(unicodedata.normalize("NFC", trg).strip())
        best[key] = max(best.get(key, score), score)
    counts = [[0] * len(REASONS) for _ in job.datasets]
    kept: list[tuple[str, str]] = []
    for dataset, src, trg, score in _rows(job):
        key = hash(unicodedata.normalize("NFC", trg).strip())
        verdict = KEPT if best.get(key) == score else DUPLICATE
        counts[dataset][verdict] += 1
        if verdict == KEPT:
            del best[key]
            kept.append((src, trg))
    order = np.argsort(places(0, len(kept), f"order {job.seed}")).tolist()
    for side, name in enumerate(job.names):
        write_lines(job.output / name, (kept[row][side] for row in order))
    job.write_stats(
        (n, reason, rows) for n, part in enumerate(counts) for reason, rows in enumerate(part) if rows
    )


def _rows(job: Job) -> Iterable[tuple[int, str, str, float]]:
    for n, dataset in enumerate(job.datasets):
        scores = map(float, read_lines(dataset.scores)) if dataset.scores else repeat(1.0)
        for (src, trg), score in zip(zip_lines(*dataset.files), scores, strict=False):
            yield n, src, trg, score


def by_duckdb(job: Job) -> None:
    """In SQL: keys and verdicts in a table, the text read twice."""
    import duckdb

    settings: dict[str, str | bool | int | float | list[str]] = {
        "threads": threads(),
        "memory_limit": f"{memory_mb() * 3 // 4}MB",
        "temp_directory": str(job.output / "spilled"),
    }
    database = duckdb.connect(config=settings)
    database.execute(DUCKDB_MACROS)
    _duckdb_rows(database, job)
    _duckdb_verdicts(database, job)
    _duckdb_text(database, job)
    counts = "select dataset, verdict, count(*) from verdicts group by all order by all"
    job.write_stats(database.sql(counts).fetchall())


def _duckdb_rows(database: duckdb.DuckDBPyConnection, job: Job) -> None:
    """Key, score, and the verdict on each row by itself."""
    tables = {"held_src": job.held_out[0], "held_trg": job.held_out[1]}
    for table, lines in {**tables, "held_pairs": map("\t".join, job.held_out_pairs)}.items():
        database.execute(f"create table {table} as select md5_number(unnest(?)) as key", [list(lines)])
    src, trg = map(_duckdb_lines, job.sides)
    scores = f"positional join (select line::double as score from {_duckdb_lines(job.scores)})"
    pair = "md5_number(s || chr(9) || t)"
    database.execute(f"""
        create table rows as
        select row_number() over () - 1 as n, list_position({job.sides[0]}, filename) - 1 as dataset,
            {pair if job.translated else "md5_number(t)"} as key, {"score" if job.scores else "1.0 as score"},
            case when s = '' or t = '' then {EMPTY} when {pair} in (from held_pairs) then {PAIR}
            when md5_number(s) in (from held_src) then {SRC}
            when md5_number(t) in (from held_trg) then {TRG} else {KEPT} end as verdict
        from (select normal(src.line) as s, normal(trg.line) as t, src.filename, * exclude (line, filename)
            from {src} src positional join {trg} trg {scores if job.scores else ""})""")


def _duckdb_verdicts(database: duckdb.DuckDBPyConnection, job: Job) -> None:
    """The verdict on each row among the others."""
    database.execute(f"""
        create table best as select min_by(n, (-score, n)) as n from rows where verdict = {KEPT} group by key;
        create table verdicts as select n, dataset, if(verdict = {KEPT} and n not in (from best),
            {DUPLICATE}, verdict) as verdict from rows order by n;
        drop table rows""")
    if job.limit:
        database.execute(f"""
            create table chosen as select n from (select n, row_number() over (order by n) - 1 as number
            from verdicts where verdict = {KEPT})
            order by place(number, {start_of(f"max-sentences {job.seed}")}) limit {job.limit};
            update verdicts set verdict = {SAMPLED_OUT} where verdict = {KEPT} and n not in (from chosen)""")


def _duckdb_text(database: duckdb.DuckDBPyConnection, job: Job) -> None:
    verdicts = "(select verdict from verdicts order by n)"
    for files, name in zip(job.sides, job.names, strict=True):
        kept = f"{_duckdb_lines(files)} side positional join {verdicts} where verdict = {KEPT}"
        numbered = f"(select line, row_number() over () - 1 as number from {kept})"
        kept = f"{numbered} order by place(number, {start_of(f'order {job.seed}')})"
        database.execute(f"""
            copy (select translate(line, chr(9) || chr(13), '  ') from {kept}) to '{job.output / name}'
            (format csv, header false, quote '', escape '', delimiter '\x01', compression zstd)""")


def _duckdb_lines(files: Sequence[str]) -> str:
    return (
        f"read_csv({list(files)}, columns = {{'line': 'VARCHAR'}}, auto_detect = false, header = false, "
        "delim = '\x01', quote = '', escape = '', filename = true)"
    )


def by_polars(job: Job) -> None:
    """In expressions on the streaming engine: keys and verdicts in memory, the text read twice."""
    os.environ["POLARS_MAX_THREADS"] = str(threads())
    verdicts = _polars_verdicts(_polars_rows(job), job)
    _polars_text(verdicts, job)
    job.write_stats(verdicts.group_by("dataset", "verdict").len().sort("dataset", "verdict").iter_rows())


def _polars_rows(job: Job) -> pl.DataFrame:
    """Key, score, and the verdict on each row by itself."""
    import polars as pl

    src, trg = (pl.scan_lines(files, include_file_paths="file") for files in job.sides)
    columns = [src.select(s=_normal(pl.col("line")), file="file"), trg.select(t=_normal(pl.col("line")))]
    if job.scores:
        columns.append(pl.scan_lines(job.scores).select(score=pl.col("line").cast(pl.Float64)))
    s, t, pair = pl.col("s"), pl.col("t"), pl.col("s") + "\t" + pl.col("t")
    key = pair if job.translated else t
    numbers = range(len(job.datasets))
    rows = pl.concat(columns, how="horizontal").with_row_index("n").select(
        "n",
        pl.col("score") if job.scores else pl.lit(1.0).alias("score"),
        dataset=pl.col("file").replace_strict(job.sides[0], numbers, return_dtype=pl.UInt16),
        verdict=pl.when((s == "") | (t == "")).then(EMPTY)
        .when(_among(pair, map("\t".join, job.held_out_pairs))).then(PAIR)
        .when(_among(s, job.held_out[0])).then(SRC)
        .when(_among(t, job.held_out[1])).then(TRG)
        .otherwise(KEPT).cast(pl.UInt8),
        high=key.hash(0),
        low=key.hash(1),
    )  # fmt: skip
    return rows.collect(engine="streaming")


def _polars_verdicts(rows: pl.DataFrame, job: Job) -> pl.DataFrame:
    """The verdict on each row among the others."""
    import polars as pl

    kept = pl.col("verdict") == KEPT
    first = pl.col("n").sort_by("score", "n", descending=[True, False]).first()
    best = rows.lazy().filter(kept).group_by("high", "low").agg(first).select("n", best=pl.lit(True))
    verdicts = (
        rows.lazy().select("n", "dataset", "verdict").join(best, on="n", how="left", maintain_order="left")
    )
    duplicate = pl.when(kept & pl.col("best").is_null()).then(DUPLICATE)
    judged = verdicts.with_columns(verdict=duplicate.otherwise("verdict")).collect(engine="streaming")
    if not job.limit:
        return judged
    chosen = _place(f"max-sentences {job.seed}").rank("ordinal") <= job.limit
    choice = judged.filter(kept).select("n", chosen=chosen)
    sampled_out = pl.when(kept & ~pl.col("chosen")).then(SAMPLED_OUT)
    return judged.join(choice, on="n", how="left", maintain_order="left").with_columns(
        verdict=sampled_out.otherwise("verdict")
    )


def _polars_text(verdicts: pl.DataFrame, job: Job) -> None:
    import polars as pl

    for files, name in zip(job.sides, job.names, strict=True):
        side = pl.concat([pl.scan_lines(files), verdicts.lazy().select("verdict")], how="horizontal")
        kept = side.filter(pl.col("verdict") == KEPT)
        text = kept.select(pl.col("line").str.replace_all(r"[\t\r]", " "))
        text = text.with_columns(place=_place(f"order {job.seed}")).sort("place").select("line")
        text.sink_csv(
            job.output / name,
            include_header=False,
            quote_style="never",
            compression="zstd",
            engine="streaming",
        )


def _among(text: pl.Expr, lines: Iterable[str]) -> pl.Expr:
    import polars as pl

    return text.is_in(pl.Series(list(lines), dtype=pl.String).implode())


def _normal(line: pl.Expr) -> pl.Expr:
    import polars as pl

    text = line.str.normalize("NFC")
    spaced = text.str.replace_all(RUNS, " ").str.strip_chars(" ")
    return pl.when(text.str.contains(ODD)).then(spaced).otherwise(text)


def _place(seed: str) -> pl.Expr:
    """The rows' places, as pipeline.common.selection has them; Polars' integers wrap."""
    import polars as pl

    def literal(value: int) -> pl.Expr:
        return pl.lit(value, dtype=pl.UInt64)

    number = pl.int_range(pl.len(), dtype=pl.UInt64)
    place = (number + literal(1)) * literal(GOLDEN) + literal(start_of(seed))
    place = (place ^ (place // literal(1 << 30))) * literal(FIRST)
    place = (place ^ (place // literal(1 << 27))) * literal(SECOND)
    return place ^ (place // literal(1 << 31))


if __name__ == "__main__":
    main()
