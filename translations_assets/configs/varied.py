"""The training configs of a sweep's variants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from translations_assets.config.datasets import listed
from translations_assets.config.errors import ConfigError, among
from translations_assets.config.load import apply_overrides, parse_config, split_key
from translations_assets.config.migrate import located
from translations_assets.config.removal import without_datasets
from translations_assets.config.sweep import SEEDS, WITHOUT, TrainingSweep, Variant
from translations_assets.config.yaml_reader import at, read_yaml


def base_setting(text: str, source: Path | str, sweep: TrainingSweep) -> dict[str, Any]:
    """The base's own values of a sweep's axes, but for seeds. Raises ConfigError."""
    values = parse_config(text, source).model_dump(mode="json", by_alias=True)
    axes = [axis for axis in sweep.file.axes if not axis.startswith(SEEDS)]
    return {axis: "" if axis == WITHOUT else at(values, split_key(axis)) for axis in axes}


def varied(text: str, source: Path | str, variant: Variant, sweep: str) -> str:
    """The text of a training config with the values of a variant, and relative paths written out.

    `source` is the base's file, or its name; `sweep` the file that errors in the values name. Raises
    ConfigError.
    """
    whole = located(text, source) if isinstance(source, Path) else text
    if variant.without:
        whole = _without(whole, str(source), variant, sweep)
    base = parse_config(whole, str(source))
    try:
        config = apply_overrides(base, variant.overrides)
    except ConfigError as error:
        problems = [f"{variant.partition}: {problem.key}: {problem.message}" for problem in error.problems]
        raise ConfigError.of("; ".join(problems), sweep) from error
    values = config.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return yaml.safe_dump(values, allow_unicode=True, sort_keys=False)


def _without(text: str, source: str, variant: Variant, sweep: str) -> str:
    """The text without the dataset that a variant leaves out, called by one of its names."""
    removal = without_datasets(text, source, lambda dataset: variant.without in dataset.names)
    if not removal.removed:
        keys = [dataset.shown_key for _, dataset in listed(read_yaml(text, source).value)]
        near = among(variant.without, keys)
        said = f"{variant.partition}: without: {source} has no dataset {variant.without!r}.{near}"
        raise ConfigError.of(said, sweep)
    return removal.text
