"""The letters of a script: patterns that find them, or those of all others."""

from collections.abc import Callable
from functools import cache

import regex

from pipeline.common.errors import InputError

JAPANESE = "Han Hiragana Katakana"
# What people call the scripts of languages that Unicode composes of several, or does not tell apart.
_COMPOSED = {
    "hani": "Han",
    "hans": "Han",
    "hant": "Han",
    "simplified han": "Han",
    "traditional han": "Han",
    "jpan": JAPANESE,
    "japanese": JAPANESE,
    "kore": "Hangul Han",
    "korean": "Hangul Han",
}
_PROLONGED_SOUND = "\u30fc"  # Katakana's long vowel mark, which Unicode files under no script


def composition(script: str) -> str:
    """Unicode's names of the scripts that a script is composed of: Japanese is Han Hiragana Katakana."""
    return _COMPOSED.get(script.lower(), script)


@cache
def own_letters(script: str) -> "regex.Pattern[str]":
    """Runs of a script's letters, with its marks. Raises InputError for an unknown script."""
    return _pattern(script, lambda classes: rf"[{classes}&&[\p{{L}}\p{{M}}]]")


@cache
def other_letters(script: str) -> "regex.Pattern[str]":
    """Runs of letters of other scripts, with their marks; those that many share (µ, accents) are none.

    Raises InputError for an unknown script.
    """
    shared = r"\p{Script=Common}\p{Script=Inherited}"
    return _pattern(script, lambda classes: rf"[\p{{L}}\p{{M}}--[{classes}{shared}]]\p{{Script=Inherited}}*")


def _pattern(script: str, form: Callable[[str], str]) -> "regex.Pattern[str]":
    parts = composition(script).split()
    classes = "".join(rf"\p{{Script={part}}}" for part in parts)
    if "Katakana" in parts:
        classes += _PROLONGED_SOUND
    try:
        return regex.compile(f"(?V1)(?:{form(classes)})+")
    except regex.error as error:
        raise InputError(
            f"Unknown script {script!r}. Give Unicode's name for it (Latin, Cyrillic, Arabic, …), "
            "or Han, Japanese, Korean."
        ) from error
