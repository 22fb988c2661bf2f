"""Rows of data files, one after the other: Parquet, JSON lines, a JSON array, CSV, TSV, plain text."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.common.errors import InputError
from pipeline.common.limits import refuse_bomb
from pipeline.data.texts import file_lines

Row = Mapping[str, Any]

BATCH = 1_000  # rows of Parquet
LARGEST_ARRAY = 1 << 28  # characters of a JSON array, which is read as a whole


def read_rows(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    """The rows of a file, read by its suffix (`.gz` and `.zst` may follow); of Parquet the columns alone.

    Raises InputError when the file is damaged, is of another kind, or has none of the columns.
    """
    kind = next((suffix for suffix in reversed(path.suffixes) if suffix not in (".gz", ".zst")), "")
    if kind == ".parquet":
        return _parquet(path, columns)
    if kind == ".json":
        return _json(path)
    if kind in (".jsonl", ".ndjson"):
        return _json_lines(path)
    if kind in (".csv", ".tsv"):
        return _separated(path, "," if kind == ".csv" else "\t")
    return ({"text": line} for line in file_lines(path))


def _parquet(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            groups = (file.metadata.row_group(number) for number in range(file.metadata.num_row_groups))
            refuse_bomb(path.name, path.stat().st_size, sum(group.total_byte_size for group in groups))
            names = [name for name in file.schema_arrow.names if name in columns]
            if not names:
                has = ", ".join(file.schema_arrow.names)
                raise InputError(f"{path.name} has no column {' or '.join(columns)}, only {has}.")
            for batch in file.iter_batches(batch_size=BATCH, columns=names):
                yield from batch.to_pylist()
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path.name} cannot be read as Parquet: {error}. Fetch it again.") from error


def _json(path: Path) -> Iterator[Row]:
    """A file named .json holds an array of rows, or a row a line."""
    first = next((line for line in file_lines(path) if line.strip()), "")
    if not first.lstrip().startswith("["):
        yield from _json_lines(path)
        return
    yield from _checked(_parsed("\n".join(_at_most(LARGEST_ARRAY, path)), path, 1), path)


def _at_most(most: int, path: Path) -> Iterator[str]:
    for line in file_lines(path):
        most -= len(line) + 1
        if most < 0:
            raise InputError(
                f"{path.name} is a JSON array of more than {LARGEST_ARRAY >> 20} MiB. Use a file with a row "
                "a line."
            )
        yield line


def _json_lines(path: Path) -> Iterator[Row]:
    numbered = enumerate(file_lines(path), start=1)
    yield from _checked((_parsed(line, path, number) for number, line in numbered if line.strip()), path)


def _parsed(text: str, path: Path, number: int) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"Line {number:,} of {path.name} is no JSON: {error}.") from error


def _checked(rows: Iterable[Any], path: Path) -> Iterator[Row]:
    for row in rows:
        if not isinstance(row, dict):
            raise InputError(f"{path.name} holds {str(row)[:80]!r} in the place of a row with named fields.")
        yield row


def _separated(path: Path, separator: str) -> Iterator[Row]:
    csv.field_size_limit(1 << 20)
    try:
        yield from csv.DictReader((f"{line}\n" for line in file_lines(path)), delimiter=separator)
    except csv.Error as error:
        raise InputError(f"{path.name} cannot be read as a table: {error}.") from error


def field_of(row: Row, field: str, path: Path) -> str:
    """A row's field, as a column of its own or in its column `translation`; "" for a missing value.

    Raises InputError when the row has no such field, or something that is no text in it.
    """
    nested = row.get("translation")
    if field not in row and isinstance(nested, dict):
        row = nested
    if field not in row:
        raise InputError(f"{path.name} has no field {field!r}, only {', '.join(map(str, row))}.")
    value = row[field]
    if value is not None and not isinstance(value, str):
        raise InputError(f"The field {field!r} of {path.name} is no text: {str(value)[:80]!r}.")
    return value or ""
