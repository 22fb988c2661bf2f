"""What the client of a web server asks, by the schema of the locked Dagster."""

from __future__ import annotations

from pathlib import Path

from dagster_graphql.schema import create_schema
from graphql import parse, validate

from translations_assets import server

QUERIES = Path(server.__file__).with_suffix(".graphql")


def test_every_query_fits_the_schema() -> None:
    document = parse(QUERIES.read_text(encoding="utf-8"))
    assert validate(create_schema().graphql_schema, document) == []
