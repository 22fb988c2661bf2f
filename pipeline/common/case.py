"""Upper and title case as a language writes them, by ICU.

`str.upper` knows no language: of Turkish `bir` it makes BIR (BİR is right), of Greek `άλλη` ΆΛΛΗ (ΑΛΛΗ), and
in title case of Dutch `ijs` Ijs (IJs). icu4py has no function for it, but ICU's library, which this calls.
"""

import ctypes
import re
from functools import cache
from pathlib import Path
from typing import Any

import icu4py.breakers  # loads the library

# ICU's options of title case: a text is one word, whose other letters stay as they are.
_WHOLE_STRING, _NO_LOWERCASE = 0x20, 0x100
_BUFFER_OVERFLOW = 15
_LIBRARY = re.compile(r"/\S*/libicuuc[^/\s]*\.so\.(\d+)[.\d]*$", re.M)


def upper(text: str, locale: str) -> str:
    """A text in upper case; an unknown locale has Unicode's rules, as `str.upper`."""
    return _mapped("ToUpper", text, locale)


def title(word: str, locale: str) -> str:
    """A word whose first letter is a capital (Dutch `ij`: both); marks before it and other letters stay."""
    return _mapped("ToTitle", word, locale)


def title_words(text: str, locale: str) -> str:
    """A text each of whose words, which white space parts, is in title case; single spaces part them then."""
    return " ".join(title(word, locale) for word in text.split())


def _mapped(name: str, text: str, locale: str) -> str:
    encoded = text.encode("utf-8", "surrogatepass")
    convert, case_map = _function(f"ucasemap_utf8{name}"), _case_map(locale)
    size = 2 * len(encoded) + 16
    while True:
        buffer, error = ctypes.create_string_buffer(size), ctypes.c_int(0)
        length = convert(case_map, buffer, size, encoded, len(encoded), ctypes.byref(error))
        if error.value == _BUFFER_OVERFLOW:
            size = length
            continue
        _check(error, locale)
        return buffer.raw[:length].decode("utf-8", "surrogatepass")


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
    """A function of ICU's; their names end with its major version."""
    found = _LIBRARY.search(Path("/proc/self/maps").read_text())
    if found is None:
        raise RuntimeError(
            f"{icu4py.breakers.__name__} has loaded no ICU: /proc/self/maps names no libicuuc."
        )
    function = ctypes.CDLL(found[0])[f"{name}_{found[1]}"]
    function.restype = result
    return function


def _check(error: ctypes.c_int, locale: str) -> None:
    if error.value > 0:
        raise RuntimeError(
            f"ICU could not change the case of a text in {locale!r} (UErrorCode {error.value})."
        )
