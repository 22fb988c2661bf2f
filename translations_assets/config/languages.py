"""Languages by their codes: of our own table, of `other_languages`, or none.

A config's section `languages` (`own_languages`) has the last word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from translations_assets.config.errors import ConfigError, nearest
from translations_assets.config.language_table import TABLE, Language, languages

__all__ = ["TABLE", "Language", "find_language", "language", "languages", "unknown"]
_FORM = re.compile(r"[a-z]{2,3}(_[a-z]{4})?(_([a-z]{2}|[0-9]{3}))?")
LONGEST_CODE = 3
_EXAMPLES = ("en", "kab", "zh_hant")


def language(code: str) -> Language:
    """The language of a pipeline code. Raises ConfigError, with the code that may be meant, when unknown."""
    found = find_language(code)
    if found is None:
        raise unknown(code)
    return found


def find_language(code: str) -> Language | None:
    """The language of a pipeline code; None when it is unknown, or not the language's own code (`deu`)."""
    if code in languages():
        return languages()[code]
    if not _FORM.fullmatch(code) or code.partition("_")[0] in _other_codes():
        return None
    from translations_assets.config.other_languages import other_language  # loads a library

    return other_language(code)


def unknown(code: str) -> ConfigError:
    """An error that says that there is no such language, and which one may be meant."""
    return ConfigError.of(f"{code!r} is not a known language.{_meant(code)}")


@cache
def _other_codes() -> Mapping[str, str]:
    """Codes by ISO 639-3 that languages of the table have besides their own: `deu`, `lvs`, `cmn`."""
    return {
        name: known.code
        for known in reversed([*languages().values()])
        for name in (known.iso639_3, known.flores[:3], known.hplt[:3])
        if name and name != known.code
    }


def _meant(word: str) -> str:
    names: dict[str, str] = {}
    for known in languages().values():
        for name in filter(None, (known.code, known.iso639_3, known.name.lower(), known.flores.lower())):
            names.setdefault(name, known.code)
    names = {**_other_codes(), **names}
    normal = word.lower().replace("-", "_")
    near = nearest(normal, names) if len(normal) > LONGEST_CODE else ""  # most codes are near to some other
    for candidate in (normal, normal.partition("_")[0], _standard(normal), near):
        if candidate and (candidate in names or (candidate != word and find_language(candidate))):
            return f" Did you mean {names.get(candidate, candidate)!r}?"
    return f" Write an ISO 639 code such as {', '.join(_EXAMPLES)}, or describe {word!r} in `languages`."


def _standard(word: str) -> str:
    """The pipeline code of a language that is called by another code or by its English name; or nothing."""
    from translations_assets.config.other_languages import standard_code

    return standard_code(word)
