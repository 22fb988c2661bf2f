"""Changes noted in observations of recipes; the web server reads them without the definitions."""

from __future__ import annotations

from collections.abc import Iterable

import dagster as dg

RECIPE = "recipe"  # begins the keys of recipes
RECIPES = "recipes"  # their group
_NAME = "what changed"
_BULLET = "* "


def recipe_key(stage: str) -> dg.AssetKey:
    """The key of a stage's recipe."""
    return dg.AssetKey([RECIPE, stage])


def changes_metadata(lines: Iterable[str]) -> dict[str, dg.MetadataValue]:
    """Make the metadata of an observation from lines on changes."""
    return {_NAME: dg.MetadataValue.md("\n".join(f"{_BULLET}{line}" for line in lines))}


def what_changed(instance: dg.DagsterInstance, recipe: dg.AssetKey, partition: str) -> list[str]:
    """Read the changes from the newest observation of a recipe; nothing when there is none."""
    newest = dg.AssetRecordsFilter(recipe, asset_partitions=[partition])
    for record in instance.fetch_observations(newest, limit=1).records:
        observation = record.asset_observation
        if observation and _NAME in observation.metadata:
            text = str(observation.metadata[_NAME].value)
            return [line.removeprefix(_BULLET) for line in text.splitlines()]
    return []
