"""Upper, lower and title case as a language writes them, by ICU.

`str.upper` knows no language: of Turkish `bir` it makes BIR (BİR is right), of Greek `άλλη` ΆΛΛΗ (ΑΛΛΗ), in
lower case of Turkish `IŞIK` işik (ışık), and in title case of Dutch `ijs` Ijs (IJs). icu4py has no function
for it, but the ICU that it carries, which this calls.
"""

import ctypes
import re
from functools import cache, lru_cache
from typing import Any

from icu4py import breakers, icu_version

# ICU's options of title case: a text is one word, whose other letters stay as they are.
_WHOLE_STRING, _NO_LOWERCASE = 0x20, 0x100
_BUFFER_OVERFLOW = 15
_SPECIAL = ("i", "ı", "i\u0307\u0301", "ijs", "ή", "άι", "և")  # what languages have rules of their own for
_SPECIAL_CAPITALS = ("I", "İ", "Ì")
_KNOWN_WORDS = 1 << 14  # most words of a text are among so many
_WORD = re.compile(r"\S+")


def upper(text: str, locale: str) -> str:
    """A text in upper case; an unknown locale has Unicode's rules."""
    return _mapped("ToUpper", text, locale) if _has_own_capitals(locale) else text.upper()


def lower(text: str, locale: str) -> str:
    """A text in lower case; an unknown locale has Unicode's rules."""
    return _mapped("ToLower", text, locale) if _has_own_small_letters(locale) else text.lower()


def title(word: str, locale: str) -> str:
    """A word whose first letter is a capital (Dutch `ij`: both); what is before it and other letters stay."""
    if (word[:1].islower() or word[:1].isupper()) and not _has_own_titles(locale):
        return word[0].title() + word[1:]
    return _titled(word, locale)


def title_words(text: str, locale: str) -> str:
    """A text each of whose words, which white space parts, is in title case."""
    return _WORD.sub(lambda word: title(word[0], locale), text)


def with_capitals(letters: str, locale: str) -> str:
    """Letters and their capitals of upper and of title case, but those of several characters; in order."""
    cased = {change(letter, locale) for letter in letters for change in (upper, title)}
    return "".join(sorted({*letters, *(capital for capital in cased if len(capital) == 1)}))


@cache
def _has_own_capitals(locale: str) -> bool:
    """Whether Python, which is ten times as fast and knows Unicode's rules alone, writes other capitals."""
    return any(_mapped("ToUpper", word, locale) != word.upper() for word in _SPECIAL)


@cache
def _has_own_small_letters(locale: str) -> bool:
    return any(_mapped("ToLower", word, locale) != word.lower() for word in _SPECIAL_CAPITALS)


@cache
def _has_own_titles(locale: str) -> bool:
    return any(_mapped("ToTitle", word, locale) != word[0].title() + word[1:] for word in _SPECIAL)


@lru_cache(_KNOWN_WORDS)
def _titled(word: str, locale: str) -> str:
    return _mapped("ToTitle", word, locale)


def _mapped(name: str, text: str, locale: str) -> str:
    encoded = text.encode()
    convert, case_map = _function(f"ucasemap_utf8{name}"), _case_map(locale)
    size = 2 * len(encoded) + 16
    while True:
        buffer, error = ctypes.create_string_buffer(size), ctypes.c_int(0)
        length = convert(case_map, buffer, size, encoded, len(encoded), ctypes.byref(error))
        if error.value == _BUFFER_OVERFLOW:
            size = length
            continue
        _check(error, locale)
        return buffer.raw[:length].decode()


@cache
def _case_map(locale: str) -> ctypes.c_void_p:
    error = ctypes.c_int(0)
    opened = _function("ucasemap_open", ctypes.c_void_p)(
        locale.encode(), _WHOLE_STRING | _NO_LOWERCASE, ctypes.byref(error)
    )
    _check(error, locale)
    return ctypes.c_void_p(opened)


@cache
def _function(name: str, result: Any = ctypes.c_int32) -> Any:
    """A function of the ICU that icu4py's module is linked with; its name ends with ICU's major version.

    It is called with the interpreter's lock held: a case map in title case is for one thread at a time.
    """
    function = ctypes.PyDLL(breakers.__file__)[f"{name}_{icu_version.split('.')[0]}"]
    function.restype = result
    return function


def _check(error: ctypes.c_int, locale: str) -> None:
    if error.value > 0:
        raise RuntimeError(
            f"ICU could not change the case of a text in {locale!r} (UErrorCode {error.value})."
        )
