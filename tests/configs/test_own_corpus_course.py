"""Tests of the length of trainings on one's own text: by pieces, which have more characters in letters."""

from pathlib import Path

from translations_assets.config.languages import language
from translations_assets.config.providers.provider import Query
from translations_assets.configs.own_corpus import Split, _sections

PAIRS, CHARACTERS = 50_000, 40_000_000  # of the source


def updates(src: str, trg: str) -> int:
    made = Split(Path(), {"train": {"lines": PAIRS, "characters": CHARACTERS}})
    after: str = _sections(Query(language(src), language(trg)), made)["training-backward"]["after"]
    return int(after.removesuffix("u"))


def test_a_source_of_thousands_of_characters_has_a_piece_for_each() -> None:
    """Whatever the target is written in: the characters are counted of the source."""
    assert updates("en", "ru") == updates("en", "zh")
    assert updates("zh", "en") == updates("zh", "ja")
    assert 3.8 < updates("zh", "en") / updates("en", "zh") < 4.2
