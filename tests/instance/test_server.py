"""Tests of the requests of a web server's client, by the schema of the locked Dagster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from dagster_graphql.schema import create_schema
from graphql import parse, validate

from translations_assets.instance import server
from translations_assets.records.run import RunOptions

QUERIES = Path(server.__file__).with_suffix(".graphql")


def test_every_query_fits_the_schema() -> None:
    document = parse(QUERIES.read_text(encoding="utf-8"))
    assert validate(create_schema().graphql_schema, document) == []


def test_reloads_and_launches_are_waited_for_longer_than_dagster_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waited: dict[str, float] = {}

    def ask(_: server.Server, name: str, timeout: float = 0.0, /, **variables: Any) -> Any:
        waited[name] = timeout
        return {"reloadRepositoryLocation": {"__typename": "RepositoryLocation"}}

    monkeypatch.setattr(server.Server, "_ask", ask)
    monkeypatch.setattr(server.Server, "_repository", {"repositoryLocationName": "here"}, raising=False)
    asked = server.Server("http://127.0.0.1:3000")
    asked._reload()
    with pytest.raises(KeyError):
        asked.launch("en-ru", ["export"], RunOptions())
    dagster = yaml.safe_load((Path(server.__file__).parent / "dagster.yaml").read_text())
    assert min(waited["Reload"], waited["Launch"]) > dagster["code_servers"]["reload_timeout"]
