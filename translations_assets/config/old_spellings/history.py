"""What training configs of other years hold, as `history.yml` tells it."""

from __future__ import annotations

from translations_assets.config.text import table
from translations_assets.config.yaml_reader import KeyPath

HISTORY = table(__file__, "history.yml")


def path_of(key: str) -> KeyPath:
    """The path of a dotted key."""
    return tuple(key.split("."))
