"""Training configs without a dataset, for models that are to be trained again."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from translations_assets.answers.imported import ROLES, TRAINING, is_called
from translations_assets.common.errors import TranslationsError
from translations_assets.common.whole_file import write_whole
from translations_assets.config.datasets import Dataset, listed
from translations_assets.config.errors import ConfigError
from translations_assets.config.load import read_values
from translations_assets.config.migrate import located
from translations_assets.config.removal import without_datasets
from translations_assets.configs.training_configs import TrainingConfigs, graph_of


@dataclass(frozen=True)
class ConfigUse:
    """A training config that has a dataset, and the categories of its list in which that stands."""

    partition: str
    categories: Sequence[str]
    text: str
    source: Path | str

    @property
    def trains(self) -> bool:
        """True if the dataset is text to train on, and no dev or test set alone."""
        return any(ROLES[category] in TRAINING for category in self.categories)


@dataclass(frozen=True)
class Rewritten:
    """A config without the dataset. `problem` says why there is none; else `file` is where it stands.

    removed  the keys that were taken out
    """

    partition: str
    text: str = ""
    removed: Sequence[str] = ()
    problem: str = ""
    file: Path = field(default=Path())


def configs_with(configs: TrainingConfigs, name: str) -> tuple[list[ConfigUse], list[Dataset]]:
    """The training configs that have the datasets of a name; and the datasets of all configs.

    Configs that cannot be read are left out: they train no model either.
    """
    found, datasets = list[ConfigUse](), dict[Dataset, None]()
    for partition in configs.partitions().states:
        with suppress(ConfigError, TranslationsError):
            text, source = configs.text(partition)
            values: Mapping[str, Any] = read_values(text, str(source)).value
            entries = [(str(path[1]), dataset) for path, dataset in listed(values)]
            datasets |= dict.fromkeys(dataset for _, dataset in entries)
            categories = dict.fromkeys(category for category, one in entries if is_called(one, name))
            if categories:
                found.append(ConfigUse(partition, list(categories), text, source))
    return found, list(datasets)


def rewritten(configs: TrainingConfigs, use: ConfigUse, name: str) -> Rewritten:
    """The config without the datasets of a name, checked as any config; or the problem of that."""
    try:
        text = located(use.text, use.source) if isinstance(use.source, Path) else use.text
        removal = without_datasets(text, str(use.source), lambda dataset: is_called(dataset, name))
        graph_of(configs.parse(removal.text, use.source))
    except (ConfigError, TranslationsError) as error:
        return Rewritten(use.partition, problem=str(error))
    return Rewritten(use.partition, removal.text, removal.removed)


def write_all(made: Sequence[Rewritten], folder: Path) -> list[Rewritten]:
    """Write the configs that can be written to a folder, each under its partition's name: all or none.

    Raises TranslationsError when a file of such a name is there already.
    """
    files = {one.partition: folder / f"{one.partition}.yml" for one in made if not one.problem}
    if there := [str(path) for path in files.values() if os.path.lexists(path)]:
        raise TranslationsError(
            f"{', '.join(there)}: already there, and nothing is replaced. Give another folder as --output."
        )
    folder.mkdir(parents=True, exist_ok=True)
    for one in made:
        if not one.problem:
            write_whole(files[one.partition], one.text)
    return [
        one if one.problem else Rewritten(one.partition, one.text, one.removed, file=files[one.partition])
        for one in made
    ]
