"""Dagster's GraphQL schema as our web server answers by it: recipes are reasons, and nothing else.

Recipes stand in no list and no lineage of the UI: each is only the reason why its asset is stale. What the UI
draws comes from one query, of a code location's assets and groups: recipes are left out of its answer, and of
the dependencies of assets. By its key each is found: marks of what is stale lead to its page. Such a mark
names the changes, in place of "a new data version".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dagster as dg
from graphene import Schema

from translations_assets.defs.changes import RECIPE, RECIPES, what_changed

LINES = 5  # of a reason; all of them stand at the recipe


def with_recipes_as_reasons(schema: Schema) -> Schema:
    """The same schema, whose lists have no recipes, and whose reasons for staleness name what has changed."""
    types: Any = schema.graphql_schema.type_map
    _leave_out(types["Repository"].fields["assetNodes"], lambda node: _is_recipe(node.assetKey))
    _leave_out(types["Repository"].fields["assetGroups"], lambda group: group.groupName == RECIPES)
    _leave_out(types["AssetNode"].fields["dependencyKeys"], _is_recipe)
    types["StaleCause"].fields["reason"].resolve = _reason
    return schema


def _leave_out(field: Any, is_hidden: Callable[[Any], bool]) -> None:
    resolve: Callable[..., list[Any]] = field.resolve

    def shown(*given: Any, **named: Any) -> list[Any]:
        return [value for value in resolve(*given, **named) if not is_hidden(value)]

    field.resolve = shown


def _is_recipe(key: Any) -> bool:
    return bool(key.path[0] == RECIPE)


def _reason(cause: Any, info: Any) -> str:
    said = str(cause.reason)
    if not _is_recipe(cause.key):
        return said
    key = dg.AssetKey(cause.key.path)
    lines = what_changed(info.context.instance, key, cause.partition_key)
    more = [f"and {len(lines) - LINES} more"] if len(lines) > LINES else []
    return f"has changed: {'; '.join([*lines[:LINES], *more])}" if lines else said
