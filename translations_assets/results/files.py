"""The one reader of the JSON files that steps leave beside models and texts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

from translations_assets.errors import DamagedError
from translations_assets.records.checked import mapping
from translations_assets.records.manifest import Blob
from translations_assets.running.protocols import Reading

STATISTICS = "stats.json"  # lines that a step read, kept and dropped
METRICS = "metrics.json"  # of a training or an evaluation
SCORES = "scores.json"  # further metrics of an evaluation
NUMBERS = "numbers.json"  # for gates

Outputs: TypeAlias = Mapping[str, Blob]
Contents: TypeAlias = "dict[str, Any]"


def read_file(store: Reading, outputs: Outputs, name: str, label: str) -> Contents | None:
    """A file among the outputs of the step of a label; None where it leaves none of that name.

    Raises DamagedError when it is damaged, or is not what a script writes.
    """
    blob = outputs.get(name)
    return None if blob is None else parse(store.read_blob(blob), name, label)


def parse(contents: bytes, name: str, label: str) -> Contents:
    """The contents of the file of a name that the step of a label left. Raises DamagedError."""
    try:
        return mapping(json.loads(contents))
    except ValueError as error:
        raise DamagedError(
            f"{name} of {label} cannot be read: {error}. To make it anew, name the step's stage: "
            "translations train PARTITION --start STAGE"
        ) from error
