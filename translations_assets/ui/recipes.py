"""Recipes stand in no list and no lineage of the UI: each is only the reason why its asset is stale.

What the UI draws comes from one query, of a code location's assets and groups. Recipes are left out of its
answer, and of the dependencies of assets. By its key each is found: marks of what is stale lead to its page.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphene import Schema

from translations_assets.defs.changes import RECIPE, RECIPES

Resolve = Callable[..., Any]


def hide_recipes(schema: Schema) -> Schema:
    """The same schema, whose lists of assets and groups have no recipes."""
    types: Any = schema.graphql_schema.type_map
    _leave_out(types["Repository"].fields["assetNodes"], lambda node: _is_recipe(node.assetKey))
    _leave_out(types["Repository"].fields["assetGroups"], lambda group: group.groupName == RECIPES)
    _leave_out(types["AssetNode"].fields["dependencyKeys"], _is_recipe)
    return schema


def _leave_out(field: Any, is_hidden: Callable[[Any], bool]) -> None:
    resolve: Resolve = field.resolve

    def shown(*given: Any, **named: Any) -> list[Any]:
        return [value for value in resolve(*given, **named) if not is_hidden(value)]

    field.resolve = shown


def _is_recipe(key: Any) -> bool:
    return bool(key.path[0] == RECIPE)
