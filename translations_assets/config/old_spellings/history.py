"""What training configs of other years hold, as `history.yml` tells it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from translations_assets.config.yaml_reader import KeyPath

HISTORY: Any = yaml.load(
    Path(__file__).with_name("history.yml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader
)


def path_of(key: str) -> KeyPath:
    """The path of a dotted key."""
    return tuple(key.split("."))
