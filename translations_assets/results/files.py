"""The one reader of the JSON files that steps leave beside models and texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

from translations_assets.common.errors import DamagedError
from translations_assets.records.checked import mapping
from translations_assets.records.manifest import Blob
from translations_assets.results.markup import MarkupScores
from translations_assets.results.scores import Comparison, Scores
from translations_assets.results.statistics import Statistics
from translations_assets.results.training import Training
from translations_assets.running.protocols import Reading

STATISTICS = "stats.json"  # lines that a step read, kept and dropped
CLASSIFIER = "model.json"  # which classifier of text a step fetched
METRICS = "metrics.json"  # of a training or an evaluation
SCORES = "scores.json"  # further metrics of an evaluation
NUMBERS = "numbers.json"  # for gates

Outputs: TypeAlias = Mapping[str, Blob]
Numbers: TypeAlias = dict[str, Any]
Value = TypeVar("Value")
# Store, a result's files, the step's label → what the step tells; None where it leaves no such file
Reader: TypeAlias = Callable[[Reading, Outputs, str], Value | None]


def read_statistics(store: Reading, outputs: Outputs, label: str) -> Statistics | None:
    """Read what the step of a label counted; None where it leaves no such file.

    Raises DamagedError when the file is damaged, or is not what a script writes; so do the others.
    """
    return _read(store, outputs, STATISTICS, label, Statistics.from_dict)


def read_classifier(store: Reading, outputs: Outputs, label: str) -> Statistics | None:
    """Read revision and licence of the classifier that a step fetched; None for other steps."""
    return _read(store, outputs, CLASSIFIER, label, Statistics.from_dict)


def read_metrics(store: Reading, outputs: Outputs, label: str) -> Training | Scores | None:
    """Read what a training or an evaluation tells; None for other steps."""
    return _read(store, outputs, METRICS, label, _metrics)


def read_scores(store: Reading, outputs: Outputs, label: str) -> Scores | None:
    """Read the scores by one more metric; None for other steps."""
    return _read(store, outputs, SCORES, label, Scores.from_dict)


def read_comparison(store: Reading, outputs: Outputs, label: str) -> Comparison | None:
    """Read the comparison of a model with others; None for steps that compare none."""
    return _read(store, outputs, NUMBERS, label, Comparison.from_dict)


def read_numbers(store: Reading, outputs: Outputs, label: str) -> Numbers | None:
    """Read what a script of `pipeline.checks` computed for a gate; only the two know what it is."""
    return _read(store, outputs, NUMBERS, label, mapping)


def read_markup(store: Reading, outputs: Outputs, label: str) -> MarkupScores | None:
    """Read what becomes of HTML in translation; None for steps without numbers."""
    return _read(store, outputs, NUMBERS, label, MarkupScores.from_dict)


def parse_scores(contents: bytes, label: str) -> Scores:
    """Read scores from the contents of an evaluation's file. Raises DamagedError."""
    return _parse(contents, METRICS, label, Scores.from_dict)


def _read(
    store: Reading, outputs: Outputs, name: str, label: str, form: Callable[[Any], Value]
) -> Value | None:
    blob = outputs.get(name)
    return None if blob is None else _parse(store.read_blob(blob), name, label, form)


def _parse(contents: bytes, name: str, label: str, form: Callable[[Any], Value]) -> Value:
    try:
        return form(json.loads(contents))
    except ValueError as error:
        raise DamagedError(
            f"{name} of {label} cannot be read: {error}. To make it anew, name the step's stage: "
            "translations train PARTITION --start STAGE"
        ) from error


def _metrics(value: object) -> Training | Scores:
    return Training.from_dict(value) if "curve" in mapping(value) else Scores.from_dict(value)
