"""What is known of a provider of datasets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from translations_assets.config.errors import ConfigError
from translations_assets.config.languages import Language
from translations_assets.config.providers.found import Found, Problem, Query
from translations_assets.config.urls import PLACEHOLDER, check_url

# All of the outer list are needed; of an inner one, the first that exists.
Addresses: TypeAlias = "list[list[str]]"
Search: TypeAlias = "Callable[[Query], Iterator[Found | Problem]]"


@dataclass(frozen=True)
class Provider:
    """A provider of datasets of one kind, parallel or monolingual. Its script fetches them (`pipeline/data`).

    name       as in keys: provider_name
    code       (name of a dataset, language) → what the provider calls the language; empty if it lacks it
    example    a key
    title      what messages call it, where that is not its name
    sets       the names of its datasets, where they are few
    form       the form of the names otherwise, a regular expression
    by_url     names may be URLs
    check      raises ConfigError for a name that cannot be used although it has the form
    misfit     (name, source, target) → what is wrong with a dataset of another pair: `is of …`
    addresses  (name, languages) → where the files of a dataset lie; raises ConfigError as `check` does
    secrets    variables with tokens that any of its datasets may ask for
    searches   importer → what it finds for a pair, by asking a catalogue
    held_out   the dev and test sets that it is known to have for a pair; no server is asked
    """

    name: str
    code: Callable[[str, Language], str]
    example: str = ""
    title: str = ""
    sets: tuple[str, ...] = ()
    form: str = r"\S+"
    by_url: bool = False
    check: Callable[[str], None] = lambda name: None
    misfit: Callable[[str, Language, Language], str] = lambda name, src, trg: ""
    addresses: Callable[..., Addresses] = lambda name, *sides: []
    secrets: tuple[str, ...] = ()
    searches: Mapping[str, Search] = field(default_factory=dict)
    held_out: Callable[[Query], Iterator[Found]] = lambda query: iter(())

    def lacking(self, name: str, spoken: Language) -> str:
        """What is wrong with a dataset for a language; empty when the provider has it."""
        return "" if self.code(name, spoken) else f"{self.title or self.name} has no {spoken.name}"

    def check_name(self, name: str, shown_key: str) -> None:
        """Raise ConfigError when no dataset can have the name."""
        if self.by_url and (not self.sets or "://" in name):
            check_url(name)
            _check_placeholder(name)
        elif self.sets and name not in self.sets:
            allowed = ", ".join(f"{self.name}_{known}" for known in self.sets)
            raise ConfigError.of(f"{self.name} has no set {name!r}; allowed: {allowed}")
        self.check(name)
        if not re.fullmatch(self.form, name):
            raise ConfigError.of(
                f"{shown_key!r} does not have the form of a key of {self.name}, as {self.example}"
            )


def same_code(attribute: str) -> Callable[[str, Language], str]:
    """The codes of a provider that has the same for all its datasets, by the name of Language's attribute."""

    def code(name: str, spoken: Language) -> str:
        found: str = getattr(spoken, attribute)
        return found

    return code


def _check_placeholder(name: str) -> None:
    path = re.split(r"[?#]", name.partition("://")[2].partition("/")[2])[0]
    if PLACEHOLDER in name and PLACEHOLDER not in path:
        raise ConfigError.of(
            f"the placeholder {PLACEHOLDER} must be in the URL's path, not in its host or query"
        )
