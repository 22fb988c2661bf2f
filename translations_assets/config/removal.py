"""A training config's text without some of its datasets, and without what names them elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from translations_assets.config import documents
from translations_assets.config.datasets import THRESHOLDS, WEIGHTS, Dataset, listed
from translations_assets.config.errors import ConfigError
from translations_assets.config.migrate import migrated
from translations_assets.config.page import NotEditable, Page
from translations_assets.config.yaml_reader import KeyPath, at, dotted, mapping_at, read_yaml


@dataclass(frozen=True)
class Removal:
    """A config's text after datasets were taken out, and the keys of all that went: `datasets.train[2]`."""

    text: str
    removed: list[str]


def without_datasets(text: str, file: str, goes: Callable[[Dataset], bool]) -> Removal:
    """The text of a config, in today's form, without the datasets that go, their thresholds and weights.

    Comments, order and spelling stay; an item's own comment goes with it. Errors call the text `file`. Raises
    ConfigError where it cannot be edited so.

    >>> text = "datasets:\\n  train:\\n  - opus_A/v1\\n  - opus_B/v1 # large\\n"
    >>> removal = without_datasets(text, "en-ru.yml", lambda dataset: dataset.key == "opus_B/v1")
    >>> removal.text
    'datasets:\\n  train:\\n  - opus_A/v1\\n'
    >>> removal.removed
    ['datasets.train[1]']
    """
    text, _ = migrated(text, file)
    values = read_yaml(text, file).value
    page, wanted, removed = Page(text), deepcopy(values), [*_paths(values, goes)]
    for path in sorted(removed, key=_from_the_end, reverse=True):
        try:
            page.remove_entry(path)
        except NotEditable:
            message = f"{dotted(path)} cannot be taken out of a text of this form; take it out by hand"
            raise ConfigError.of(message, file) from None
        del at(wanted, path[:-1])[path[-1]]
    if read_yaml(page.text, file).value != wanted:
        raise ConfigError.of("the datasets cannot be taken out with the same meaning; do it by hand", file)
    return Removal(page.text, [dotted(path) for path in removed])


def _from_the_end(path: KeyPath) -> int:
    return path[-1] if isinstance(path[-1], int) else 0


def _paths(values: Mapping[str, Any], goes: Callable[[Dataset], bool]) -> Iterator[KeyPath]:
    """Yield the paths of datasets that go, and of what names one of them."""
    gone: dict[str, set[str]] = {}
    for path, dataset in listed(values):
        if goes(dataset):
            gone.setdefault(str(path[1]), set()).add(dataset.short_name)
            yield path
    for section, category in {**THRESHOLDS, **WEIGHTS}.items():
        yield from (
            (*section, name) for name in mapping_at(values, section) if name in gone.get(category, ())
        )
    joined = at(values, (documents.SECTION, "datasets"))
    for number, name in enumerate(joined if isinstance(joined, list) else ()):
        if name in gone.get("train", ()):
            yield (documents.SECTION, "datasets", number)
