"""Values as Dagster's metadata: text, numbers, lines of Markdown, tables."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import dagster as dg

Metadata: TypeAlias = "dict[str, dg.MetadataValue[Any]]"


def as_metadata(values: Mapping[str, object]) -> Metadata:
    """Make metadata of values, without empty ones: Markdown of a list of lines, a table of a list of rows."""
    return {name: _shown(value) for name, value in values.items() if value not in (None, "", [])}


def _shown(value: Any) -> dg.MetadataValue[Any]:
    match value:
        case dg.MetadataValue():  # before the others: it is a tuple
            return value
        case int():
            return dg.MetadataValue.int(value)
        case float():
            return dg.MetadataValue.float(value)
        case str():
            return dg.MetadataValue.text(value)
        case [str(), *_]:
            return dg.MetadataValue.md("\n".join(value))
    return _table(value)


def _table(rows: Sequence[Mapping[str, Any]]) -> dg.MetadataValue[Any]:
    """Rows as a table; a row may lack columns that others have."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    filled = [{name: _cell(row.get(name)) for name in columns} for row in rows]
    schema = dg.TableSchema(columns=[dg.TableColumn(name, _column_type(filled, name)) for name in columns])
    return dg.MetadataValue.table([dg.TableRecord(row) for row in filled], schema=schema)


def _cell(value: Any) -> str | int | float | bool | None:
    return value if value is None or isinstance(value, (str, int, float, bool)) else json.dumps(value)


def _column_type(rows: Sequence[Mapping[str, Any]], name: str) -> str:
    values = [row[name] for row in rows if row[name] is not None]
    if values and all(isinstance(value, int) for value in values):
        return "int"
    return "float" if values and all(isinstance(value, (int, float)) for value in values) else "string"
