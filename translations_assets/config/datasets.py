"""Dataset keys: `provider_name`, or `provider_aug-modifier_name` for a variant of a dev or test set.

opus_ParaCrawl/v9    flores_devtest    flores_aug-upper_devtest    news-crawl_news.2021

In a config a dataset is its key, or a mapping of the key and a name of the config's own, its alias:

- dataset: url_https://example.org/bulletins.[LANG].zst
  alias: bulletins

A path, `corpora/news.[LANG].gz`, is short for `file_` and the path.
"""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from translations_assets.config.errors import ConfigError, suggestion
from translations_assets.config.languages import Language
from translations_assets.config.providers import BY_URL, FILE, FORMER, MONO, PARALLEL
from translations_assets.config.providers.provider import Provider
from translations_assets.config.urls import PLACEHOLDER, shown
from translations_assets.config.yaml_reader import KeyPath, at, mapping_at

Pair: TypeAlias = "tuple[Language | None, Language | None]"

AUGMENTATIONS = (
    *("upper", "title", "typos", "punct", "noise", "inline-noise"),
    *("mix", "mix-nocase", "mix-cjk", "short", "documents"),
)

CATEGORIES = ("train", "finetune", "devtest", "test", "mono-src", "mono-trg")
# Where a config names datasets by short names, and the category whose datasets those are.
THRESHOLDS: Mapping[tuple[str, ...], str] = {
    ("experiment", "bicleaner", "dataset-thresholds"): "train",
    ("experiment", "monocleaner", "mono-src", "dataset-thresholds"): "mono-src",
    ("experiment", "monocleaner", "mono-trg", "dataset-thresholds"): "mono-trg",
}
WEIGHTS: Mapping[tuple[str, ...], str] = {
    ("experiment", "merging", "dataset-weights", category): category
    for category in ("train", "mono-src", "mono-trg")
}
KEY_LENGTH = 4000  # some forms take the square of it
SLUG_LENGTH = 50
ALIAS_LENGTH = 50
ALIAS_KEYS = ("dataset", "alias")

_KEY = re.compile(
    r"(?P<provider>[a-z][a-z0-9]*(?:-[a-z0-9]+)*)_(?:aug-(?P<augmentation>[a-z-]+)_)?(?P<name>\S+)"
)


# The forms of keys and aliases as regular expressions of JavaScript, for editors.
# A path begins with `/`, `./` or `../`, or begins like no key and has a dot or a slash.
PATH = r"(\.{0,2}/|(?![a-z]+(-[a-z]+)*_|[a-z]+:)[^/.]*[/.]).*"
PARALLEL_KEY = rf"^(({'|'.join(PARALLEL)})_(aug-({'|'.join(AUGMENTATIONS)})_)?\S+|{PATH})$"
ALIAS = rf"^[^\s!-,./:-@\[-\^`{{-~]{{1,{ALIAS_LENGTH}}}$"
MONO_KEY = rf"^(({'|'.join(MONO)})_\S+|{PATH})$"


@dataclass(frozen=True)
class Dataset:
    """A dataset key in its parts, and what the config calls it.

    augmentation  the modifier's name without `aug-`
    alias         the config's own name for the dataset; empty when it gives none
    number        of a file: the how manyeth of its list
    """

    key: str
    provider: str
    augmentation: str | None
    name: str
    alias: str = ""
    number: int = 0

    @property
    def shown_key(self) -> str:
        """The key as messages may hold it: of a URL without login and query."""
        return shown(self.key)

    @property
    def known_as(self) -> str:
        """The dataset's name in scripts: its key, or for files their number, as no path is part of a key."""
        return f"{FILE.name}_{self._prefix}{self.number}" if self.provider == FILE.name else self.key

    @property
    def short_name(self) -> str:
        """The name in labels, results, thresholds, weights and names of filter files."""
        return self.alias or self.slug

    @property
    def names(self) -> tuple[str, ...]:
        """All names by which people can ask for it: its key, its alias, its short name without one."""
        return tuple(filter(None, (self.key, self.alias, self.slug)))

    def file(self, code: str) -> str:
        """The path of a dataset's file, if it is files: with a language's code in place of `[LANG]`."""
        return self.name.replace(PLACEHOLDER, code)

    @cached_property
    def slug(self) -> str:
        """The name that follows from the key: letters and digits of any script, `_` and `-`.

        Written as upstream writes it: dots and slashes become `_`; a long name is cut at 50 characters and
        a URL to its host and file name, and both end in the start of the name's MD5. The slug of a slug is
        the slug itself.
        """
        prefix = self._prefix
        if self.provider == FILE.name:
            return f"{self.provider}_{_in_slugs(prefix + _file_name(self.name))[:SLUG_LENGTH]}"
        name = prefix + self.name
        digest = hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()[:6]
        if "://" in self.name:
            name = f"{prefix}{_url_slug(self.name)}_{digest}"
        elif len(name) > SLUG_LENGTH and not _is_cut(self.provider, name):
            name = f"{name[:SLUG_LENGTH]}_{digest}"
        return f"{self.provider}_{_in_slugs(name)}"

    @property
    def _prefix(self) -> str:
        return f"aug-{self.augmentation}_" if self.augmentation else ""


@lru_cache(maxsize=1 << 16)
def parse_dataset(key: str) -> Dataset:
    """Take a dataset key apart. Raises ConfigError when it does not have the form of one.

    >>> dataset = parse_dataset("flores_aug-upper_devtest")
    >>> dataset.provider, dataset.augmentation, dataset.name
    ('flores', 'upper', 'devtest')
    """
    if len(key) > KEY_LENGTH:
        said = f"is no dataset key: it has more than {KEY_LENGTH:,} characters"
        raise ConfigError.of(f"'{shown(key)[:40]}…' {said}")
    if re.fullmatch(PATH, key, re.DOTALL):
        return Dataset(key, FILE.name, None, key)
    match = _KEY.fullmatch(key)
    if match is None:
        raise ConfigError.of(
            f"{shown(key)!r} is not a dataset key: write provider_name, such as opus_ParaCrawl/v9 or "
            "flores_devtest"
        )
    return Dataset(key, match["provider"], match["augmentation"], match["name"])


def read_dataset(entry: object) -> Dataset:
    """The dataset that an item of a config's list names. Raises ConfigError when it has no such form."""
    if isinstance(entry, str):
        return parse_dataset(entry)
    if not isinstance(entry, Mapping):
        raise ConfigError.of(f"must be a dataset key, or a mapping of {' and '.join(ALIAS_KEYS)}")
    for name in entry:
        if name not in ALIAS_KEYS:
            near = suggestion(str(name), ALIAS_KEYS)
            raise ConfigError.of(f"unknown key {name!r}.{near} Allowed: {', '.join(ALIAS_KEYS)}")
    key, alias = (entry.get(name) for name in ALIAS_KEYS)
    if not isinstance(key, str) or not isinstance(alias, str):
        wanted = "dataset" if not isinstance(key, str) else "alias"
        raise ConfigError.of(
            f"{wanted} is missing, or is no text: a mapping has `dataset: key` and `alias: name`"
        )
    return replace(parse_dataset(key), alias=_checked_alias(alias))


def numbered(datasets: tuple[Dataset, ...]) -> tuple[Dataset, ...]:
    """The datasets of a list, where those that are files have their numbers."""
    files = iter(range(1, len(datasets) + 1))
    return tuple(
        replace(dataset, number=next(files)) if dataset.provider == FILE.name else dataset
        for dataset in datasets
    )


def locate(config: Mapping[str, Any], folder: Path) -> None:
    """Write out the relative paths of a config as it was read, which count from a folder."""
    for (*above, index), dataset in listed(config):
        if dataset.provider == FILE.name and not Path(dataset.name).is_absolute():
            name = os.path.normpath(folder / dataset.name)
            whole = replace(dataset, key=dataset.key.removesuffix(dataset.name) + name, name=name)
            at(config, tuple(above))[index] = written(whole)


def listed(config: Mapping[str, Any], *categories: str) -> Iterator[tuple[KeyPath, Dataset]]:
    """The datasets of a config as it was read, with their paths: of some categories, or of all.

    Those that cannot be read are left out.
    """
    for category in categories or CATEGORIES:
        entries = at(config, ("datasets", category))
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            with suppress(ConfigError):  # reported by the schema
                yield ("datasets", category, index), read_dataset(entry)


def pair_of(config: Mapping[str, Any]) -> Pair:
    """The languages of a config as it was read, source and target; None for what is no language."""
    from translations_assets.config.own_languages import SECTION, spoken

    given = mapping_at(config, (SECTION,))
    src, trg = (spoken(str(at(config, ("experiment", side))), given) for side in ("src", "trg"))
    return src, trg


def sides_of(path: KeyPath, pair: Pair) -> Sequence[Language | None]:
    """Those languages of a pair that the dataset at a path is in."""
    return {"mono-src": pair[:1], "mono-trg": pair[1:]}.get(str(path[1]), pair)


def written(dataset: Dataset) -> str | dict[str, str]:
    """A dataset in a config's list."""
    return {"dataset": dataset.key, "alias": dataset.alias} if dataset.alias else dataset.key


def provider_of(dataset: Dataset, path: KeyPath) -> Provider | None:
    """The provider of the dataset at a path; None when there is none of such datasets by the name."""
    return (MONO if str(path[1]).startswith("mono") else PARALLEL).get(dataset.provider)


def check_parallel(entry: object) -> Dataset:
    """The dataset of a list's item, if it can be a parallel one. Raises ConfigError otherwise."""
    dataset, provider = _provided(entry, "parallel", PARALLEL)
    modifier = dataset.augmentation
    if modifier is not None and modifier not in AUGMENTATIONS:
        allowed = ", ".join(f"aug-{name}" for name in AUGMENTATIONS)
        near = suggestion(modifier, AUGMENTATIONS)
        raise ConfigError.of(f"'aug-{modifier}' is not a modifier.{near} Allowed: {allowed}")
    provider.check_name(dataset.name, dataset.shown_key)
    return dataset


def check_mono(entry: object) -> Dataset:
    """The dataset of a list's item, if it can be a monolingual one. Raises ConfigError otherwise."""
    dataset, provider = _provided(entry, "mono", MONO)
    if dataset.augmentation is not None:
        raise ConfigError.of("only dev and test sets have variants (aug-…); monolingual text has none")
    provider.check_name(dataset.name, dataset.shown_key)
    return dataset


def _checked_alias(alias: str) -> str:
    if len(alias) > ALIAS_LENGTH or not alias[:1].isalnum() or not all(map(_stands_in_slugs, alias)):
        raise ConfigError.of(
            f"the alias {alias!r} must consist of letters, digits, '_' and '-', begin with neither of these, "
            f"and have at most {ALIAS_LENGTH} characters"
        )
    return alias


def _provided(entry: object, kind: str, providers: Mapping[str, Provider]) -> tuple[Dataset, Provider]:
    """The dataset of a list's item, and that of some providers which it names."""
    dataset = read_dataset(entry)
    name = dataset.provider
    if name in FORMER:
        raise ConfigError.of(f"{name!r} in {dataset.shown_key!r} is a provider of 2022: {FORMER[name]}")
    if name not in providers:
        raise ConfigError.of(
            f"{name!r} in {dataset.shown_key!r} provides no {kind} datasets."
            f"{suggestion(name, providers)} Providers: {', '.join(providers)}"
        )
    return dataset, providers[name]


def _is_cut(provider: str, name: str) -> bool:
    """True if a name is a slug already: it ends in a digest, as no provider's own names do."""
    most = "" if provider in BY_URL else SLUG_LENGTH
    return re.fullmatch(rf".{{{SLUG_LENGTH},{most}}}_[0-9a-f]{{6}}", name) is not None


def _in_slugs(name: str) -> str:
    return "".join(character if _stands_in_slugs(character) else "_" for character in name)


def _stands_in_slugs(character: str) -> bool:
    """Letters with their marks, digits, `_` and `-`."""
    return character in "_-" or unicodedata.category(character)[0] in "LMN"


def _url_slug(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:  # reported by the schema
        parts = urlsplit(re.sub(r"[^\w.:/-]", "", url, flags=re.ASCII))
    host = "gcp" if parts.hostname == "storage.googleapis.com" else parts.hostname or parts.scheme
    return f"{host}_{_without_language(PurePosixPath(parts.path).stem)}"


def _file_name(path: str) -> str:
    """A file's name without `[LANG]` and its suffixes; `[LANG]` alone is named after its folder."""
    name = PurePosixPath(path)
    stem = _without_language(name.name).partition(".")[0]
    return stem or name.parent.name or PLACEHOLDER


def _without_language(name: str) -> str:
    return name.replace(f".{PLACEHOLDER}", "").replace(PLACEHOLDER, "")
