"""The filters beside OpusCleaner's own: what is left of the same pairs must be identical.

Needs an environment of requirements/opuscleaner.lock, whose interpreter OPUSCLEANER_PYTHON names.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pipeline.clean.filtering.currencies import Currencies, without_words
from pipeline.common.errors import InputError
from tests.pipeline.clean.filtering.opuscleaner import FILTERS, filter_file, ours, theirs
from tests.pipeline.clean.filtering.pairs import SENTENCES, Pair, mirrored_pairs, random_pairs
from tests.pipeline.data.conftest import REAL_MIRROR

pytestmark = pytest.mark.skipif(
    "OPUSCLEANER_PYTHON" not in os.environ,
    reason="OPUSCLEANER_PYTHON names no interpreter of an environment with OpusCleaner",
)

SIZE = 3_000
CURRENCIES = Currencies(json.loads((FILTERS / "currencies.json").read_text(encoding="utf-8")))
DEFAULT = [
    entry
    for entry in json.loads((FILTERS / "upstream" / "default.filters.json").read_text(encoding="utf-8"))[
        "filters"
    ]
    if entry["filter"] != "fasttext_filter"  # its models are not here
]
OTHERS: list[dict[str, Any]] = [
    {"filter": "currency_mismatch", "parameters": {"FIX": False}, "language": None},
    {"filter": "normalize_whitespace", "parameters": {"COLLAPSE": False}, "language": "en"},
    {"filter": "src_trg_ratio", "parameters": {"RATIO": 0.6, "LOG": True}, "language": None},
    {"filter": "fix_wiki", "parameters": {"ALWAYS": True, "HEADINGS": False}, "language": None},
    {"filter": "num_mismatch", "parameters": {"RATIO": 1.5}, "language": None},
    {"filter": "regexp", "parameters": {"PATTERN": r"s/(?!\n)\p{C}//g"}, "language": "en,ru"},
    {"filter": "sed", "parameters": {"PATTERN": r"\[[0-9]+\]", "REPLACEMENT": ""}, "language": "ru,en"},
    {"filter": "detokenizer", "parameters": {"LANG1": "ru"}, "language": "ru"},
]


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    """Real pairs, where the mirror of real data is there, and made ones."""
    real = list(mirrored_pairs(REAL_MIRROR))[:SIZE]
    return [*real, *random_pairs(SIZE, 1, [*SENTENCES, *real])]


@pytest.mark.parametrize(
    "entry", [*DEFAULT, *OTHERS], ids=lambda entry: f"{entry['filter']}-{entry['language']}"
)
def test_each_filter(entry: dict[str, Any], pairs: list[Pair], tmp_path: Path) -> None:
    if entry["filter"] == "src_trg_ratio":  # it divides by the number of words
        pairs = [pair for pair in pairs if all(side.split() for side in pair)]
    if entry["filter"] == "currency_mismatch":  # ARM is money to it in "ARM 32" beside "32 bit ARM"
        pairs = [pair for pair in pairs if not has_currency_for_word(pair)]
    path = filter_file(tmp_path, entry)
    assert ours(path, pairs) == theirs(path, pairs)


def has_currency_for_word(pair: Pair) -> bool:
    """True if a side has a currency's code beside a number that is a word of the other side."""
    found = [CURRENCIES.of(text) for text in pair]
    return any(without_words(found[side], found[1 - side], pair[1 - side]) != found[side] for side in (0, 1))


def test_upstreams_default_filters_together(pairs: list[Pair], tmp_path: Path) -> None:
    path = filter_file(tmp_path, *DEFAULT)
    left = ours(path, pairs)
    assert SIZE / 10 < len(left) < len(pairs)
    assert left == theirs(path, pairs)


@pytest.mark.parametrize("codes", [("en", "de"), ("uk", "hi"), ("ko", "th"), ("zh", "ja"), ("nb", "vi")])
def test_letters_of_other_alphabets(codes: tuple[str, str], tmp_path: Path) -> None:
    """Any letters will do, if only they are counted alike; these have none that OpusCleaner lacks."""
    pairs = list(random_pairs(SIZE, 2))
    known = [code.replace("nb", "no") for code in codes]  # OpusCleaner has no alphabet for nb
    parameters = {
        "LANG1": known[0],
        "LANG2": known[1],
        "SRCALPHARAT": 0.1,
        "TRGALPHARAT": 0.1,
        "SRCWORDRAT": 0.1,
    }
    path = filter_file(tmp_path, {"filter": "alpha_ratio", "parameters": parameters, "language": None})
    assert ours(path, pairs, codes) == theirs(path, pairs, codes)


def test_a_filter_that_only_opuscleaner_has(tmp_path: Path) -> None:
    pairs = [("'Quoted\"", "„Так“"), ("'", "Нет"), *SENTENCES]
    others = [entry for entry in DEFAULT if entry["filter"] in ("normalize_whitespace", "max_length")]
    quotes: dict[str, Any] = {"filter": "fix_quotes", "parameters": {}, "language": None}
    path = filter_file(tmp_path, others[0], quotes, others[-1])
    left = ours(path, pairs, opuscleaner=True)
    assert ("Quoted", "Так“") in left
    assert left == theirs(path, pairs)


def test_its_mistakes_are_told_before_any_work(tmp_path: Path) -> None:
    path = filter_file(tmp_path, {"filter": "no_such_filter", "parameters": {}, "language": None})
    with pytest.raises(InputError, match=r"filter 1 \(no_such_filter\): OpusCleaner ended with 1"):
        ours(path, SENTENCES, opuscleaner=True)
