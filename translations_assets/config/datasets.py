"""Dataset keys: `provider_name`, or `provider_aug-modifier_name` for a variant of a dev or test set.

opus_ParaCrawl/v9    flores_devtest    flores_aug-upper_devtest    news-crawl_news.2021

In a config a dataset is its key, or a mapping of the key and a name of the config's own, its alias:

- dataset: url_https://example.org/bulletins.[LANG].zst
  alias: bulletins
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from translations_assets.config.errors import ConfigError, suggestion
from translations_assets.config.urls import check_url, shown

PARALLEL_PROVIDERS = ("opus", "mtdata", "sacrebleu", "flores", "ntrex", "tmx", "hfp", "url", "demo")
MONO_PROVIDERS = ("news-crawl", "opus", "hplt", "hf", "url", "demo")

AUGMENTATIONS = (
    *("upper", "title", "typos", "punct", "noise", "inline-noise"),
    *("mix", "mix-nocase", "mix-cjk", "short"),
)

# Providers whose sets are few and known.
SETS = {
    ("parallel", "flores"): ("dev", "devtest"),
    ("parallel", "ntrex"): ("test",),
    ("parallel", "tmx"): ("pontoon",),
    ("parallel", "demo"): ("train", "dev", "test"),
    ("mono", "demo"): ("mono",),
}

# The form of other providers' names, and an example.
FORMS = {
    ("parallel", "opus"): (r"[^/\s]+/[^/\s]+", "opus_ParaCrawl/v9"),
    ("mono", "opus"): (r"[^/\s]+/[^/\s]+", "opus_NLLB/v1"),
    ("parallel", "mtdata"): (r"[^-]+-.+-[^-]+(-[a-z]{3}(_[^\W_]+)*){2}", "mtdata_Tilde-airbaltic-1-eng-rus"),
    ("parallel", "hfp"): (r"[^:@]+/[^:@]+(:[^:@]+){3,4}(@[\w./-]+)?", "hfp_owner/corpus:train:en:ru"),
    ("mono", "hf"): (r"[^:@]+/[^:@]+(:[^:@]+){2,3}(@[\w./-]+)?", "hf_owner/corpus:subset:train:text"),
    ("mono", "hplt"): (r"mono/v(1\.2|2\.0|3\.0)", "hplt_mono/v3.0"),
    ("mono", "news-crawl"): (r"news\.\d{4}", "news-crawl_news.2021"),
}

CATEGORIES = ("train", "devtest", "test", "mono-src", "mono-trg")
PLACEHOLDER = "[LANG]"
BY_URL = ("url", "tmx")  # providers whose names may be URLs
KEY_LENGTH = 4000  # some forms take the square of it
SLUG_LENGTH = 50
ALIAS_LENGTH = 50
ALIAS_KEYS = ("dataset", "alias")

_KEY = re.compile(r"(?P<provider>[a-z]+(?:-[a-z]+)*)_(?:aug-(?P<augmentation>[a-z-]+)_)?(?P<name>\S+)")


# The forms of keys and aliases as regular expressions of JavaScript, for editors.
PARALLEL_KEY = rf"^({'|'.join(PARALLEL_PROVIDERS)})_(aug-({'|'.join(AUGMENTATIONS)})_)?\S+$"
ALIAS = rf"^[^\s!-,./:-@\[-\^`{{-~]{{1,{ALIAS_LENGTH}}}$"
MONO_KEY = rf"^({'|'.join(MONO_PROVIDERS)})_\S+$"


@dataclass(frozen=True)
class Dataset:
    """A dataset key in its parts, and what the config calls it.

    augmentation  the modifier's name without `aug-`
    alias         the config's own name for the dataset; empty when it gives none
    """

    key: str
    provider: str
    augmentation: str | None
    name: str
    alias: str = ""

    @property
    def shown_key(self) -> str:
        """The key as messages may hold it: of a URL without login and query."""
        return shown(self.key)

    @property
    def short_name(self) -> str:
        """The name in labels, results, thresholds, weights and names of filter files."""
        return self.alias or self.slug

    @cached_property
    def slug(self) -> str:
        """The name that follows from the key: letters and digits of any script, `_` and `-`.

        Written as upstream writes it: dots and slashes become `_`; a long name is cut at 50 characters and
        a URL to its host and file name, and both end in the start of the name's MD5. The slug of a slug is
        the slug itself.
        """
        prefix = f"aug-{self.augmentation}_" if self.augmentation else ""
        name = prefix + self.name
        digest = hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()[:6]
        if "://" in self.name:
            name = f"{prefix}{_url_slug(self.name)}_{digest}"
        elif len(name) > SLUG_LENGTH and not _is_cut(self.provider, name):
            name = f"{name[:SLUG_LENGTH]}_{digest}"
        return f"{self.provider}_{''.join(c if _stands_in_slugs(c) else '_' for c in name)}"


@lru_cache(maxsize=1 << 16)
def parse_dataset(key: str) -> Dataset:
    """Take a dataset key apart. Raises ConfigError when it does not have the form of one."""
    if len(key) > KEY_LENGTH:
        raise ConfigError.of(
            f"'{shown(key)[:40]}…' is no dataset key: it has more than {KEY_LENGTH:,} characters"
        )
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
            allowed = ", ".join(ALIAS_KEYS)
            raise ConfigError.of(
                f"unknown key {name!r}.{suggestion(str(name), ALIAS_KEYS)} Allowed: {allowed}"
            )
    key, alias = (entry.get(name) for name in ALIAS_KEYS)
    if not isinstance(key, str) or not isinstance(alias, str):
        wanted = "dataset" if not isinstance(key, str) else "alias"
        raise ConfigError.of(
            f"{wanted} is missing, or is no text: a mapping has `dataset: key` and `alias: name`"
        )
    return replace(parse_dataset(key), alias=_checked_alias(alias))


def listed(config: Mapping[str, Any], category: str) -> Iterator[tuple[int, Dataset]]:
    """The datasets of a category of a config as it was read, with their index, as far as they can be read."""
    datasets = config.get("datasets")
    entries = datasets.get(category) if isinstance(datasets, Mapping) else None
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        try:
            yield index, read_dataset(entry)
        except ConfigError:
            continue  # told of by the schema


def written(dataset: Dataset) -> str | dict[str, str]:
    """A dataset as it stands in a config's list."""
    return {"dataset": dataset.key, "alias": dataset.alias} if dataset.alias else dataset.key


def check_parallel(entry: object) -> Dataset:
    """The dataset of a list's item, if it can be a parallel one. Raises ConfigError otherwise."""
    dataset = read_dataset(entry)
    _check_provider(dataset, "parallel", PARALLEL_PROVIDERS)
    _check_augmentation(dataset.augmentation)
    _check_name(dataset, "parallel")
    if dataset.provider == "url" and PLACEHOLDER not in dataset.name:
        raise ConfigError.of(f"the URL needs the placeholder {PLACEHOLDER} where the language's code goes")
    return dataset


def check_mono(entry: object) -> Dataset:
    """The dataset of a list's item, if it can be a monolingual one. Raises ConfigError otherwise."""
    dataset = read_dataset(entry)
    _check_provider(dataset, "mono", MONO_PROVIDERS)
    if dataset.augmentation is not None:
        raise ConfigError.of("only dev and test sets have variants (aug-…); monolingual text has none")
    _check_name(dataset, "mono")
    return dataset


def _checked_alias(alias: str) -> str:
    if len(alias) > ALIAS_LENGTH or not alias[:1].isalnum() or not all(map(_stands_in_slugs, alias)):
        raise ConfigError.of(
            f"the alias {alias!r} must consist of letters, digits, '_' and '-', begin with neither of these, "
            f"and have at most {ALIAS_LENGTH} characters"
        )
    return alias


# Of Snakemake, with what takes their place.
FORMER_PROVIDERS = {
    "custom-corpus": "files are named url_file:///folder/name.[LANG].gz now",
    "custom-mono": "a file is named url_file:///folder/name.gz now",
    "commoncrawl": "hplt_mono/v3.0 has text of the web now",
    "paracrawl-mono": "hplt_mono/v3.0 has text of the web now",
}


def _check_provider(dataset: Dataset, kind: str, providers: tuple[str, ...]) -> None:
    if dataset.provider in FORMER_PROVIDERS:
        todays = FORMER_PROVIDERS[dataset.provider]
        raise ConfigError.of(f"{dataset.provider!r} in {dataset.shown_key!r} is a provider of 2022: {todays}")
    if dataset.provider not in providers:
        raise ConfigError.of(
            f"{dataset.provider!r} in {dataset.shown_key!r} provides no {kind} datasets."
            f"{suggestion(dataset.provider, providers)} Providers: {', '.join(providers)}"
        )


def _check_name(dataset: Dataset, kind: str) -> None:
    provider = dataset.provider
    if provider == "url" or (provider == "tmx" and "://" in dataset.name):
        return _check_url(dataset.name)
    sets = SETS.get((kind, provider))
    if sets is not None and dataset.name not in sets:
        allowed = ", ".join(f"{provider}_{name}" for name in sets)
        raise ConfigError.of(f"{provider} has no set {dataset.name!r}; allowed: {allowed}")
    if provider == "mtdata" and (reason := _why_not_of_mtdata(dataset.name)):
        raise ConfigError.of(f"{dataset.key!r} {reason}")
    form, example = FORMS.get((kind, provider), (r"\S+", ""))
    if not re.fullmatch(form, dataset.name):
        raise ConfigError.of(
            f"{dataset.shown_key!r} does not have the form of a key of {provider}, as {example}"
        )


def _why_not_of_mtdata(name: str) -> str:
    """What became of a dataset of 2021, whose names had no publisher, number and languages: `JW300`."""
    if name.startswith("JW300"):
        return "was withdrawn: the owner of its text does not allow its use; remove it"
    if re.fullmatch(r"[A-Za-z0-9_.]+", name):
        return (
            "is a name of 2021, which mtdata has no more; its names are as mtdata_Tilde-airbaltic-1-eng-rus. "
            "`translations find-corpus SRC TRG` lists them; what was newstest2019 is sacrebleu_wmt19"
        )
    return ""


def _check_augmentation(augmentation: str | None) -> None:
    if augmentation is not None and augmentation not in AUGMENTATIONS:
        raise ConfigError.of(
            f"'aug-{augmentation}' is not a modifier.{suggestion(augmentation, AUGMENTATIONS)} "
            f"Allowed: {', '.join(f'aug-{name}' for name in AUGMENTATIONS)}"
        )


def _check_url(name: str) -> None:
    check_url(name)
    path = re.split(r"[?#]", name.partition("://")[2].partition("/")[2])[0]
    if PLACEHOLDER in name and PLACEHOLDER not in path:
        raise ConfigError.of(
            f"the placeholder {PLACEHOLDER} must be in the URL's path, not in its host or query"
        )


def _is_cut(provider: str, name: str) -> bool:
    """Whether a name is that of a slug already, which ends in a digest; no provider has such names itself."""
    most = "" if provider in BY_URL else SLUG_LENGTH
    return re.fullmatch(rf".{{{SLUG_LENGTH},{most}}}_[0-9a-f]{{6}}", name) is not None


def _stands_in_slugs(character: str) -> bool:
    """Letters with their marks, digits, `_` and `-`."""
    return character in "_-" or unicodedata.category(character)[0] in "LMN"


def _url_slug(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:  # told of by the schema
        parts = urlsplit(re.sub(r"[^\w.:/-]", "", url, flags=re.ASCII))
    host = "gcp" if parts.hostname == "storage.googleapis.com" else parts.hostname or parts.scheme
    return f"{host}_{PurePosixPath(parts.path).stem.replace(f'.{PLACEHOLDER}', '').replace(PLACEHOLDER, '')}"
