"""The filters that there are, by the names that OpusCleaner gives them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from pipeline.clean.filtering import (
    addresses,
    alphabets,
    currencies,
    languages,
    lengths,
    mismatches,
    numbers,
    programs,
    segmented,
    texts,
    untranslated,
)
from pipeline.clean.filtering.block import Filter
from pipeline.clean.filtering.filter_file import FilterStep
from pipeline.clean.filtering.opuscleaner import OpusCleaner
from pipeline.clean.identification import Identifier
from pipeline.common.errors import InputError

AnyFilter: TypeAlias = "Filter | OpusCleaner"


@dataclass(frozen=True)
class Resources:
    """What filters need beside their parameters.

    alphabets   letters of each language, as the inside of a regular expression's class
    words_of_english  of a language, that stand for a word of English on the average
    currencies  for each symbol or code the codes it may stand for
    patterns    for each file of frequent patterns, by its name, its lines
    identifiers make what tells languages apart, for each side, which takes seconds, or a large model
    codes       of the languages, as filter files have them
    opuscleaner makes the environment of OpusCleaner; its interpreter
    """

    alphabets: Mapping[str, str]
    words_of_english: Mapping[str, float]
    currencies: Mapping[str, list[str]]
    patterns: Mapping[str, Sequence[str]]
    identifiers: Callable[[], Sequence[Identifier]]
    codes: Sequence[str]
    opuscleaner: Callable[[], Path] | None = None


def make_filters(steps: Sequence[FilterStep], resources: Resources) -> list[tuple[str, AnyFilter]]:
    """The filters of a filter file for pairs, with their names.

    Raises InputError for one that cannot be had, or names a language where it should not, or none.
    """
    for step in steps:
        _check_sides(step)
    return _made(steps, resources)


def _made(steps: Sequence[FilterStep], resources: Resources) -> list[tuple[str, AnyFilter]]:
    made: list[tuple[str, AnyFilter]] = []
    for step in steps:
        made.append((step.name, _make(step, resources)))
        if step.name in LEAVE_EMPTY:
            made.append((step.name, texts.remove_empty_lines(step)))
        if step.name in FILTERS:
            step.warn_of_unknown()
    return made


def make_mono_filters(
    steps: Sequence[FilterStep], code: str, opuscleaner: Callable[[], Path] | None = None
) -> list[tuple[str, AnyFilter]]:
    """The filters of a file for text of one language, with their names.

    Raises InputError for one that cannot be had, compares two languages, or should name the language.
    """
    for step in steps:
        _check_mono(step)
    nothing = Resources({}, {}, {}, {}, list, [code], opuscleaner)
    return _made(steps, nothing)


def _check_sides(step: FilterStep) -> None:
    if step.name in OF_ONE_SIDE and not step.sides:
        raise InputError(
            f'{step} works on one language, and names none. Write "<src>", "<trg>" or "<src>,<trg>".'
        )
    if step.name in FILTERS.difference(OF_ONE_SIDE, OF_ANY_SIDE) and step.sides:
        raise InputError(f'{step} works on pairs, and names a language. Write "language": null.')
    if step.name == "opus.RegExpFilter" and len(step.value("regexps", ["", ""])) != 2:
        raise InputError(f"{step}: regexps must have two expressions, for the source and the target.")


def _check_mono(step: FilterStep) -> None:
    if step.name in FILTERS and step.name not in (*OF_ONE_SIDE, *OF_EVERY_SIDE):
        raise InputError(f"{step} compares two languages. Remove it from the filters of a single text.")
    if step.name in OF_ONE_SIDE and not step.sides:
        raise InputError(f'{step} works on one language, and names none. Write "<lang>".')
    if step.name == "opus.RegExpFilter" and len(step.value("regexps", ["", ""])) != 1:
        raise InputError(f"{step}: regexps must have one expression, for the one language.")


def _make(step: FilterStep, resources: Resources) -> AnyFilter:
    if step.name in _PLAIN:
        return _PLAIN[step.name](step)
    if step.name in _WITH_RESOURCES:
        return _WITH_RESOURCES[step.name](step, resources)
    if resources.opuscleaner is None:
        known = ", ".join(sorted(FILTERS))
        raise InputError(
            f"{step} is for OpusCleaner itself, which needs --opuscleaner-lock. "
            f"These filters do not: {known}."
        )
    return OpusCleaner(step, resources.opuscleaner(), resources.codes)


def _patterns(step: FilterStep, resources: Resources) -> Sequence[str]:
    name = step.text("PATTERN_FILE", "remove_frequent_patterns.txt").rpartition("/")[2]
    step.flag("DEBUG", False)
    if name not in resources.patterns:
        raise InputError(f"{step}: the file {name} is not given. Put it beside the default filter file.")
    return resources.patterns[name]


# By their names in filter files.
_PLAIN: Mapping[str, Callable[[FilterStep], Filter]] = {
    "remove_empty_lines": texts.remove_empty_lines,
    "normalize_whitespace": texts.normalize_whitespace,
    "deescape-special-chars": texts.deescape,
    "opus.RegExpSub": texts.substitute,
    "opus.RegExpFilter": mismatches.regexp_filter,
    "max_length": lengths.max_length,
    "max_word_length": lengths.max_word_length,
    "src_trg_ratio": lengths.src_trg_ratio,
    "num_mismatch": mismatches.num_mismatch,
    "url_mismatch": mismatches.url_mismatch,
    "fix_wiki": mismatches.fix_wiki,
    "regexp": programs.regexp,
    "sed": programs.sed,
    "detokenizer": programs.detokenizer,
    # Not of OpusCleaner.
    "address_mismatch": addresses.address_mismatch,
    "desegment": segmented.desegment,
    "identical": mismatches.identical,
    "number_mismatch": numbers.number_mismatch,
    "untranslated": untranslated.untranslated,
}
_WITH_RESOURCES: Mapping[str, Callable[[FilterStep, Resources], Filter]] = {
    "alpha_ratio": lambda step, known: lengths.alpha_ratio(step, known.alphabets),
    "alphabet_ratio": lambda step, known: alphabets.alphabet_ratio(step, known.alphabets),
    "currency_mismatch": lambda step, known: currencies.currency_mismatch(step, known.currencies),
    "length_ratio": lambda step, known: lengths.length_ratio(step, known.words_of_english),
    "fasttext_filter": lambda step, known: languages.fasttext_filter(step, known.identifiers()),
    "remove_frequent_patterns": lambda step, known: texts.remove_frequent_patterns(
        step, _patterns(step, known)
    ),
}
FILTERS = frozenset((*_PLAIN, *_WITH_RESOURCES))
# The filters of text of one language: those that name a side, and those that treat all sides alike.
OF_ONE_SIDE = (
    *("deescape-special-chars", "desegment", "detokenizer", "normalize_whitespace", "regexp", "sed"),
)
OF_EVERY_SIDE = (
    *("max_length", "max_word_length", "opus.RegExpFilter", "opus.RegExpSub", "remove_empty_lines"),
)
OF_ANY_SIDE = ("opus.RegExpSub",)  # in pairs, the side that is named, or both
LEAVE_EMPTY = ("fix_wiki",)  # these drop pairs with an empty side in a second pass
