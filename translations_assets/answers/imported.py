"""Datasets as steps have imported them: their keys, their use, and the names that people call them by."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias

from translations_assets.common.errors import TranslationsError
from translations_assets.config.datasets import Dataset, listed, parse_dataset
from translations_assets.config.errors import ConfigError
from translations_assets.config.urls import shown
from translations_assets.records.manifest import Blob, Manifest
from translations_assets.running.protocols import Reading

Role: TypeAlias = Literal["parallel", "monolingual", "finetune", "dev", "test"]

# Categories of datasets as labels have them, and their use
ROLES: Mapping[str, Role] = {
    "train": "parallel",
    "finetune": "finetune",
    "mono-src": "monolingual",
    "mono-trg": "monolingual",
    "devtest": "dev",
    "test": "test",
}
TRAINING: tuple[Role, ...] = ("parallel", "monolingual", "finetune")
_SCRIPT = re.compile(r"pipeline\.data\.(?:parallel|mono)_(\w+)")
_LABEL = re.compile(rf"dataset-({'|'.join(ROLES)})-(.+)")
# The version that ends a key: opus_ParaCrawl/v9, news-crawl_news.2021, mtdata_Statmt-ccaligned-1-eng-fin
_VERSION = re.compile(r"[/._-]v?\d[\w.]*(?:-\w+-\w+)?")


@dataclass(frozen=True)
class Imported:
    """A dataset that a step has imported for a use; `names` are all by which it can be asked for."""

    key: str
    role: Role
    names: frozenset[str]

    @property
    def shown_key(self) -> str:
        """The key as people may see it: of a URL without login and query."""
        return shown(self.key)

    def is_called(self, name: str) -> bool:
        """True if a name is one of its names, one without the version, or a path as a config has it."""
        return name in self.names or any(
            _has_version(known, name) or _is_relative(known, name) for known in self.names
        )


def _has_version(known: str, name: str) -> bool:
    return known.startswith(name) and _VERSION.fullmatch(known[len(name) :]) is not None


def _is_relative(known: str, name: str) -> bool:
    """True for `./a.[LANG].zst` and `file_aug-upper_./a.[LANG].zst`; paths of known datasets are absolute."""
    prefix, dot, path = name.partition("./")
    return bool(dot) and known.startswith(f"{prefix}/") and known.endswith(f"/{path}")


class Importing:
    """Finds which dataset a step has imported; reads each training config once."""

    def __init__(self, store: Reading) -> None:
        self._store = store
        self._named = cache(self._datasets)

    def imported(self, manifest: Manifest, label: str) -> Imported | None:
        """The dataset that the step with a label has imported; None for steps that import none.

        The label is that of the run that is asked about: its config may have a name of its own for it.
        """
        script, found = _SCRIPT.fullmatch(manifest.provenance.parts.script), _parts(manifest, label)
        if script is None or found is None:
            return None
        category, short_name = found
        config = manifest.provenance.config
        for dataset in self._named(config, category) if config else ():
            if dataset.short_name == short_name:
                return _imported(dataset, category, short_name)
        name = str(manifest.provenance.parts.args.get("dataset", ""))
        key = f"{script[1].replace('_', '-')}_{name}" if name else short_name
        try:
            return _imported(parse_dataset(key), category, short_name)
        except ConfigError:
            return Imported(key, ROLES[category], frozenset((key, short_name)))

    def _datasets(self, config: Blob, category: str) -> list[Dataset]:
        """The datasets of a category in a stored config; none where it is damaged, or gone."""
        try:
            values: Mapping[str, Any] = json.loads(self._store.read_blob(config))
        except (TranslationsError, ValueError):
            return []
        return [dataset for _, dataset in listed(values, category)]


def _parts(manifest: Manifest, label: str) -> tuple[str, str] | None:
    """The category and the short name that a label has."""
    args = manifest.provenance.parts.args
    languages = str(args["lang"]) if "lang" in args else f"{args.get('src')}-{args.get('trg')}"
    # `…-unmodified` and `…-chinese` stand behind the languages
    match = re.fullmatch(rf"(dataset-.+)-{re.escape(languages)}(?:-unmodified|-chinese)?", label)
    named = _LABEL.fullmatch(match[1]) if match else None
    return (named[1], named[2]) if named else None


def _imported(dataset: Dataset, category: str, short_name: str) -> Imported:
    return Imported(dataset.key, ROLES[category], frozenset((short_name, *dataset.names)))


def is_called(dataset: Dataset, name: str) -> bool:
    """True if a name is one of a dataset's, or one without its version."""
    return Imported(dataset.key, "parallel", frozenset(dataset.names)).is_called(name)


def all_names(datasets: Iterable[Dataset]) -> list[str]:
    """What datasets are called in lists for people: their aliases, else their keys."""
    return list(dict.fromkeys(dataset.alias or dataset.shown_key for dataset in datasets))
