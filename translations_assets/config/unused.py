"""Keys that are understood but have no effect in this version, so that they do not mislead in silence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from translations_assets.config.yaml_reader import KeyPath

_NEVER: tuple[Any, ...] = ()
# Each key with the values that ask for nothing, and so have the effect they should have.
UNUSED: Mapping[tuple[str, ...], tuple[Any, ...]] = {
    ("experiment", "archive-corpora"): (False,),
    ("wandb-publication",): (False,),
    ("taskcluster", "upload-bucket"): _NEVER,
    ("start-stage",): (None,),
    ("start-task-prefix",): (None, ""),
    ("previous-group-ids",): _NEVER,
}
# What describes one launch of a run; the command line and the UI ask for it.
_LAUNCH: Mapping[KeyPath, str] = {
    ("start-stage",): "--start",
    ("start-task-prefix",): "--start",
    ("previous-group-ids",): "--previous-run",
}


def unused_keys(given: Mapping[str, Any]) -> list[KeyPath]:
    """The keys that a config, as it was read, sets and that change nothing in this version.

    Values that ask for nothing (`archive-corpora: false`, `wandb-publication: false`) are honoured.
    """
    return [path for path, idle in UNUSED.items() if not _is_idle(_given(given, path), idle)]


def why_unused(path: KeyPath) -> str:
    """The note on a key that changes nothing, with what to do instead."""
    option = _LAUNCH.get(path)
    if option:
        return f"has no effect: it describes one launch; give {option} to `translations train`, or in the UI"
    return "has no effect in this version"


def has_effect(path: tuple[str, ...]) -> bool:
    """Whether the key at a path has an effect in this version."""
    return path not in UNUSED


def _given(values: Any, path: tuple[str, ...]) -> Any:
    """The value at a path as a list: of itself or of a mapping's values; empty when the key is not given."""
    for key in path:
        if not isinstance(values, Mapping) or key not in values:
            return []
        values = values[key]
    if isinstance(values, list):
        return values
    return list(values.values()) if isinstance(values, dict) else [values]


def _is_idle(values: list[Any], idle: tuple[Any, ...]) -> bool:
    return all(value in idle for value in values)
