"""Languages beyond our own table: all of ISO 639, as langcodes and `other_languages.yml` know them.

langcodes, a library, has names, codes and likely scripts (IANA's registry, Unicode's CLDR). What they do
not know of a language is left empty, so that a provider lacks it and no filter asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import regex
from langcodes import Language as Tag
from langcodes.tag_parser import LanguageTagError

from translations_assets.config.language_table import Language, facts_of_script, languages, scripts
from translations_assets.config.text import table

_TABLES = table(__file__, "other_languages.yml")
_NO_LANGUAGES = frozenset(("art", "mis", "mul", "root", "und", "zxx"))  # codes of ISO 639 for none or several
_UNKNOWN = "Unknown "  # as langcodes names what it does not know: Unknown language [qqq], Unknown Script
# Variants are sources of a language's own only in its own script
_SOURCES = ("flores", "ntrex", "hplt", "hplt2", "bouquet", "wmt24pp", "pontoon")


@cache
def other_language(code: str) -> Language | None:
    """The language of a pipeline code that our own table lacks; None when nobody knows it by that code."""
    tag = _tag(code)
    if tag is None or _code(tag) != code:
        return None
    script_code = tag.maximize().script or ""
    base = languages().get(tag.language or "")
    if base and base.script_code == script_code:
        return replace(base, code=code, name=tag.display_name())
    fields = {
        "code": code,
        "name": tag.display_name(),
        "iso639_1": tag.language,
        "iso639_3": tag.to_alpha3(),
        "script_code": script_code,
        "icu": tag.to_tag().replace("-", "_"),
        **_named(tag, script_code),
        **script_of(script_code),
    }
    return Language(**fields)


def standard_code(word: str) -> str:
    """The pipeline code of a language by another code or its English name; empty when there is none."""
    tag = _tag(word)
    if tag is None:
        try:
            tag = Tag.find(word.replace("_", " "))
        except LookupError:
            return ""
    return _code(tag)


def script_of(name: str) -> dict[str, Any]:
    """The fields of a language that follow from its script, which is named as in ISO 15924 or by Unicode."""
    row = _scripts().get(name.lower())
    if row is None:
        return {"script": name, "spaced": True, "bicameral": False, "phonemic": True, "marks": ""}
    return {"script": row["name"], "spaced": row["spaced"], **facts_of_script(row)}


def is_script(name: str) -> bool:
    """True if Unicode has a script of that name, or ISO 15924 such a code."""
    try:
        regex.compile(rf"\p{{Script={name}}}")
    except regex.error:
        return name.lower() in _scripts()
    return True


@cache
def _scripts() -> Mapping[str, Mapping[str, Any]]:
    """Scripts by their codes and names in lower case, with whether they put spaces between words."""
    found: dict[str, Mapping[str, Any]] = {}
    for known in languages().values():
        row = {**scripts()[known.script], "name": known.script, "spaced": known.spaced}
        found |= {known.script_code.lower(): row, known.script.lower(): row}
    for code, other in _TABLES["scripts"].items():
        row = {**other, "spaced": code not in _TABLES["unspaced"]}
        found |= {code.lower(): row, other["name"].lower(): row}
    return found


def _tag(code: str) -> Tag | None:
    try:
        tag = Tag.get(code.replace("_", "-"))
    except LanguageTagError:
        return None
    unknown = _UNKNOWN in tag.display_name() or tag.language in (None, *_NO_LANGUAGES)
    return None if unknown else tag


def _code(tag: Tag) -> str:
    return tag.to_tag().lower().replace("-", "_")


def _named(tag: Tag, script_code: str) -> dict[str, str]:
    """What providers of test sets call a language; empty where they lack it, or it is not known."""
    alpha3 = tag.to_alpha3()
    names = [alpha3, _TABLES["individuals"].get(tag.language, alpha3)]
    flores = next(iter(_listed("flores", [f"{name}_{script_code}" for name in names])), "")
    ntrex = next(iter(_listed("ntrex", [*names, *(f"{name}-{script_code}" for name in names)])), "")
    locale = _TABLES["pontoon-locales"].get(tag.to_tag(), "")
    pontoon = locale or next(iter(_listed("pontoon", [tag.to_tag()])), "")
    named = {"flores": flores, "hplt": flores, "hplt2": flores, "ntrex": ntrex, "pontoon": pontoon}
    return {**dict.fromkeys(_SOURCES, ""), **named}


def _listed(table_name: str, names: list[str]) -> list[str]:
    known = {*_TABLES[table_name].split()}
    return [name for name in names if name in known]
