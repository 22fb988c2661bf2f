"""The config section `languages`: languages that nobody knows, or of which something else is true here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, ValidationError

from translations_assets.config.identification import identifier_of
from translations_assets.config.languages import Language, find_language, languages, unknown
from translations_assets.config.section import Section, Texts, default
from translations_assets.config.yaml_reader import Found, KeyPath, at, mapping_at

SECTION = "languages"
Source: TypeAlias = Literal[
    "opus", "mtdata", "flores", "ntrex", "hplt", "bouquet", "wmt24pp", "pontoon", "icu"
]
# The fields of a language that hold its names elsewhere, where they are not called like those
_FIELDS = {"opus": "iso639_1", "mtdata": "iso639_3"}
_SIDES = ("src", "trg")


def _script(name: str) -> str:
    from translations_assets.config.other_languages import is_script, script_of

    if not is_script(name):
        raise ValueError(
            f"{name!r} is no script; write Unicode's name or the code of ISO 15924: Cyrillic, Ethi"
        )
    return str(script_of(name)["script"])


class OwnLanguage(Section):
    """A language: what a config says of it, in place of what is known."""

    name: str | None = default(None, "the name in English")
    script: Annotated[str, AfterValidator(_script)] | None = default(
        None, "its script, by Unicode's name or ISO 15924: `Cyrillic`, `Ethi`"
    )
    spaced: bool | None = default(None, "whether spaces part its words; none: as usual in the script")
    labels: Texts = default((), "what identifiers call it: `[kmr]`; what they lack is passed over")
    sources: Mapping[Source, str] = default(
        {},
        "its names at providers of datasets and in ICU: `{flores: kmr_Latn}`; empty: it has none",
    )


def spoken(code: str, given: Mapping[str, Any]) -> Language | None:
    """The language of a code in a config whose section `languages`, as it was read, is given.

    None when it is neither known nor described by name and script, or its description is wrong.
    """
    known = find_language(code)
    own = at(given, (code,))
    if own is None:
        return known
    try:
        described = own if isinstance(own, OwnLanguage) else OwnLanguage.model_validate(own)
    except ValidationError:  # reported by the schema
        return known
    if known is None and not (described.name and described.script):
        return None
    return replace(known or _nameless(code), **_changes(described))


def check_languages(config: Mapping[str, Any]) -> Found:
    """The languages of a config as it was read that are not known, and what describes none of them."""
    given, named = mapping_at(config, (SECTION,)), dict(_named(config))
    for path, code in named.items():
        if spoken(code, given):
            continue
        if code in given:
            yield (SECTION, code), f"{code!r} is not a known language, so it needs a name and a script"
        else:
            yield path, unknown(code).problems[0].message
    for code in given:
        if code not in named.values():
            yield (SECTION, str(code)), "is no language of this config; remove it, or correct the code"


def _named(config: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    """The languages that a config names: those of the pair, and between the steps of a pivot."""
    paths: list[KeyPath] = [("experiment", side) for side in _SIDES]
    paths += [("translators", name, "pivot", "via") for name in mapping_at(config, ("translators",))]
    for path in paths:
        code = at(config, path)
        if isinstance(code, str):
            yield path, code


def remarks(config: Mapping[str, Any]) -> Found:
    """Languages beyond our own table: what is taken for granted of them."""
    given = mapping_at(config, (SECTION,))
    for side in _SIDES:
        code = at(config, ("experiment", side))
        found = spoken(code, given) if isinstance(code, str) and code not in languages() else None
        if found is None:
            continue
        choice = at(config, ("experiment", "language-identification")) or "auto"
        sets = [name for name in ("flores", "ntrex", "pontoon") if getattr(found, name)]
        yield (
            ("experiment", side),
            f"{found.name}: taken to be written in {found.script} letters, words "
            f"{'' if found.spaced else 'not '}parted by spaces; identified by "
            f"{identifier_of(str(choice), found)}, if that knows it; known test sets: "
            f"{', '.join(sets) or 'none'}. Say otherwise in {SECTION}.{code}",
        )


def _nameless(code: str) -> Language:
    texts = {field.name: "" for field in fields(Language) if field.type == "str"}
    return Language(
        **{**texts, "code": code, "icu": code},  # type: ignore[arg-type]
        spaced=True,
        bicameral=False,
        phonemic=True,
    )


def _changes(own: OwnLanguage) -> dict[str, Any]:
    from translations_assets.config.other_languages import script_of

    changes: dict[str, Any] = {"name": own.name, "spaced": own.spaced, "labels": own.labels or None}
    if own.script:
        changes = {**script_of(own.script), **{key: value for key, value in changes.items() if value}}
        if own.spaced is not None:
            changes["spaced"] = own.spaced
    changes |= {_FIELDS.get(source, source): name for source, name in own.sources.items()}
    if "hplt" in own.sources:
        changes["hplt2"] = own.sources["hplt"]
    return {key: value for key, value in changes.items() if value is not None}
