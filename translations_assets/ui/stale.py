"""Reasons for a stale asset, in Dagster's own mark: the changes, in place of "a new data version"."""

from __future__ import annotations

from typing import Any

import dagster as dg
from graphene import Schema

from translations_assets.defs.changes import RECIPE, what_changed

LINES = 5  # of a reason; all of them stand at the recipe


def name_changes(schema: Schema) -> Schema:
    """The same schema, whose reasons for staleness name what has changed."""
    field = schema.graphql_schema.type_map["StaleCause"].fields["reason"]
    field.resolve = _reason
    return schema


def _reason(cause: Any, info: Any) -> str:
    path = cause.key.path
    said = str(cause.reason)
    if path[0] != RECIPE:
        return said
    lines = what_changed(info.context.instance, dg.AssetKey(path), cause.partition_key)
    more = [f"and {len(lines) - LINES} more"] if len(lines) > LINES else []
    return f"has changed: {'; '.join([*lines[:LINES], *more])}" if lines else said
