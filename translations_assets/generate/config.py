"""A training config for a language pair: searched, chosen, written, and read again to be sure of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from translations_assets.config.errors import ConfigError, Problem
from translations_assets.config.languages import language
from translations_assets.config.load import describe, parse_config
from translations_assets.config.providers import PROVIDERS
from translations_assets.config.providers.provider import Query
from translations_assets.config.schema import Experiment
from translations_assets.errors import TranslationsError
from translations_assets.generate.choose import USUAL, Choice, Search, choose, search
from translations_assets.generate.write import write

# huggingface_mono finds nothing that could stand in a config as it is.
IMPORTERS = tuple(name for name in USUAL if name != "huggingface_mono")


@dataclass(frozen=True)
class Generated:
    """The text of a config, what was chosen for it, and what could not be learnt."""

    text: str
    choice: Choice
    problems: Sequence[Problem]


def pair_of(src: str, trg: str, mirror: str) -> Query:
    """What to search for. Raises ConfigError for codes of no known language, and for one language twice."""
    query = Query(language(src), language(trg), mirror)
    if src == trg:
        raise ConfigError.of(f"{src} is both languages of the pair; give two")
    return query


def check_name(name: str, query: Query) -> None:
    """Raise ConfigError unless an experiment may have the name: before a search that takes a while."""
    try:
        Experiment.model_validate({"name": name, "src": query.src.code, "trg": query.trg.code})
    except ValidationError as error:
        details = error.errors(include_url=False)
        raise ConfigError([Problem(describe(each, Experiment), key="--name") for each in details]) from error


def generate(name: str, query: Query) -> Generated:
    """A config from a search; raises TranslationsError when it finds no training data."""
    check_name(name, query)
    return compose(name, query, search(query, IMPORTERS))


def compose(name: str, query: Query, searched: Search) -> Generated:
    """The config that a search leads to."""
    held_out = (each for provider in PROVIDERS for each in provider.held_out(query))
    choice = choose([*held_out, *searched.found], query)
    if not choice.chosen["train"]:
        problems = "".join(f"\n  {each}" for each in searched.problems)
        raise TranslationsError(
            f"no training data was found for {query.src.name} and {query.trg.name}"
            + (f". Try again when these can be reached:{problems}" if problems else "")
        )
    text = write(name, query, choice, searched.problems)
    parse_config(text, f"the config made for {query.src.code}-{query.trg.code}")
    return Generated(text, choice, searched.problems)
