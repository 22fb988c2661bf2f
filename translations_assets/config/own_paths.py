"""Files of one's own that a config names by their paths: datasets, prompts and examples."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from translations_assets.config import datasets
from translations_assets.config.evaluation import JUDGE_PROMPT
from translations_assets.config.translators import SECTION
from translations_assets.config.yaml_reader import KeyPath, at, mapping_at

OF_ENDPOINTS = ("prompt", "examples")


def prompts(config: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    """The files with prompts and examples that a config as it was read names, with their key paths."""
    of_endpoints = (
        (SECTION, name, "endpoint", key) for name in mapping_at(config, (SECTION,)) for key in OF_ENDPOINTS
    )
    for path in (*of_endpoints, JUDGE_PROMPT):
        file = at(config, path)
        if isinstance(file, str) and file:
            yield path, file


def locate(config: Mapping[str, Any], folder: Path) -> None:
    """Write out the relative paths of a config as it was read, which count from a folder."""
    datasets.locate(config, folder)
    for path, file in prompts(config):
        if not Path(file).is_absolute():
            at(config, path[:-1])[path[-1]] = os.path.normpath(folder / file)
