"""Providers of datasets: what is recorded of each, the query of a search and its results."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TypeAlias

from translations_assets.config.errors import ConfigError, Problem
from translations_assets.config.languages import Language
from translations_assets.config.text import table
from translations_assets.config.urls import PLACEHOLDER, check_url
from translations_assets.config.web import NoAnswer, NotThere

# All of the outer list are needed; of an inner one, the first that exists.
Addresses: TypeAlias = "list[list[str]]"
Search: TypeAlias = "Callable[[Query], Iterator[Found | Problem]]"
BYTES_PER_SENTENCE = 113  # of compressed text, as measured upstream on one dataset
LICENCE_LENGTH = 60
# In no catalogue's names: a way out of a folder or of an address, and what a shell would run
_NO_NAME = re.compile(r"(?:^|[/:@-])\.{1,2}(?:$|[/:@-])|[$`;|&<>\"'\\]")


@dataclass(frozen=True)
class Query:
    """A language pair, and the mirror that is tried first: a folder, `gs://bucket/prefix` or nothing."""

    src: Language
    trg: Language
    mirror: str = ""

    @property
    def sides(self) -> tuple[tuple[str, Language], tuple[str, Language]]:
        """The categories of monolingual text with their languages."""
        return ("mono-src", self.src), ("mono-trg", self.trg)


@dataclass(frozen=True)
class Found:
    """A dataset that was found.

    importer   where it was found
    key        its dataset key; a repository's name where the columns must be chosen by a person
    use        train, devtest, test, mono-src or mono-trg; empty where a person must say
    sentences  their number, None when unknown; `estimated` when it was made from the size
    bytes      the size of the download, None when unknown
    extent     the size in other words
    licence    as the source states it; empty when it does not
    skipped    why it is left out of a config; empty when it need not be
    """

    importer: str
    key: str
    use: str
    sentences: int | None = None
    estimated: bool = False
    bytes: int | None = None
    extent: str = ""
    licence: str = ""
    url: str = ""
    skipped: str = ""


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
    is_path    names are paths of files
    check      raises ConfigError for a name that cannot be used although it has the form
    misfit     (name, source, target) → what is wrong with a dataset of another pair: `is of …`
    addresses  (name, languages) → where the files of a dataset lie; raises ConfigError as `check` does
    secrets    variables with tokens that any of its datasets may ask for
    searches   importer → what it finds for a pair, by asking a catalogue, and a Problem for what it cannot
               tell, whose key is the importer's name
    held_out   the dev and test sets that it is known to have for a pair; no server is asked
    """

    name: str
    code: Callable[[str, Language], str]
    example: str = ""
    title: str = ""
    sets: tuple[str, ...] = ()
    form: str = r"\S+"
    by_url: bool = False
    is_path: bool = False
    check: Callable[[str], None] = lambda name: None
    misfit: Callable[[str, Language, Language], str] = lambda name, src, trg: ""
    addresses: Callable[..., Addresses] = lambda name, *sides: []
    secrets: tuple[str, ...] = ()
    searches: Mapping[str, Search] = field(default_factory=dict)
    held_out: Callable[[Query], Iterator[Found]] = lambda query: iter(())

    def lacking(self, name: str, spoken: Language) -> str:
        """Explain why the provider lacks a dataset for a language; empty when it has it."""
        return "" if self.code(name, spoken) else f"{self.title or self.name} has no {spoken.name}"

    def check_name(self, name: str, shown_key: str) -> None:
        """Raise ConfigError when no dataset can have the name."""
        if self.by_url and (not self.sets or "://" in name):
            check_url(name)
            _check_placeholder(name)
        elif self.sets and name not in self.sets:
            allowed = ", ".join(f"{self.name}_{known}" for known in self.sets)
            raise ConfigError.of(f"{self.name} has no set {name!r}; allowed: {allowed}")
        elif not self.is_path and (wrong := _NO_NAME.search(name)):
            raise ConfigError.of(f"{shown_key!r} holds {wrong[0]!r}, which no name of a dataset holds")
        self.check(name)
        if not re.fullmatch(self.form, name):
            raise ConfigError.of(
                f"{shown_key!r} does not have the form of a key of {self.name}, as {self.example}"
            )


def on_each_side(
    query: Query, importer: str, find: Callable[[Language, str, str], Iterable[Found]]
) -> Iterator[Found | Problem]:
    """Search each language alone: call `find` with language, category and mirror, and yield its results."""
    for category, language in query.sides:
        try:
            yield from find(language, category, query.mirror)
        except NotThere:
            continue
        except NoAnswer as error:
            yield Problem(str(error), key=importer)


def estimate(size: int | None) -> int | None:
    """About how many sentences a compressed file of so many bytes holds."""
    return None if size is None else size // BYTES_PER_SENTENCE


def reason_of(name: str, importer: str) -> str:
    """Return the reason to leave a name of a catalogue out (`left_out.yml`); empty when there is none."""
    return next((why for form, why in _left_out()[importer].items() if re.fullmatch(form, name)), "")


@cache
def _left_out() -> Mapping[str, Mapping[str, str]]:
    reasons: Mapping[str, Mapping[str, str]] = table(__file__, "left_out.yml")
    return reasons


def one_line(text: str) -> str:
    """Text of a server on one line, without characters that would end a comment or show nothing."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def licence_text(stated: object) -> str:
    """A licence on one line, without HTML and not too long; empty for what is none."""
    text = re.sub(r"<[^>]*>", "", stated) if isinstance(stated, str) else ""
    text = one_line(text)
    if text.lower() in ("empty", "unknown", "none", "n/a"):
        return ""
    return text if len(text) <= LICENCE_LENGTH else f"{text[: LICENCE_LENGTH - 1]}…"


def _check_placeholder(name: str) -> None:
    path = re.split(r"[?#]", name.partition("://")[2].partition("/")[2])[0]
    if PLACEHOLDER in name and PLACEHOLDER not in path:
        raise ConfigError.of(
            f"the placeholder {PLACEHOLDER} must be in the URL's path, not in its host or query"
        )
