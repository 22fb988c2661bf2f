"""Languages beyond our own table."""

from __future__ import annotations

import re
import unicodedata

import pytest
import regex
from heliport import Identifier
from icu4py.breakers import WordBreaker

from pipeline.clean.alphabet import other_letters, own_letters
from translations_assets.config.errors import ConfigError
from translations_assets.config.identification import _TABLES as _IDENTIFIERS
from translations_assets.config.identification import AUTO, GLOTLID, HELIPORT, heli_labels, identifier_of
from translations_assets.config.languages import find_language, language, languages
from translations_assets.config.other_languages import _TABLES, is_script, script_of

# As people ask for them: by ISO 639-1, by ISO 639-3, macrolanguages, variants
ASKED = "ug ps kab ku ckb kmr yue jv ti am lo bo dz dv mt sw ky tg tok kk_latn fr_ca nqo sat".split()  # noqa: SIM905


@pytest.mark.parametrize("code", ASKED)
def test_every_part_can_work_with_a_language(code: str) -> None:
    known = language(code)
    assert known.code == code
    assert known.name
    assert known.iso639_3
    own_letters(known.script)
    other_letters(known.script)
    assert "".join(map(str, WordBreaker("a b", known.icu))) == "a b"


@pytest.mark.parametrize(
    ("code", "facts"),
    [
        ("ug", ("Uyghur", "ug", "uig", "Arabic", "uig_Arab", "uig", "")),
        ("ps", ("Pashto", "ps", "pus", "Arabic", "pbt_Arab", "pus", "")),
        ("ku", ("Kurdish", "ku", "kur", "Latin", "kmr_Latn", "kmr", "")),
        ("ckb", ("Central Kurdish", "ckb", "ckb", "Arabic", "ckb_Arab", "ckb-Arab", "ckb")),
        ("kab", ("Kabyle", "kab", "kab", "Latin", "kab_Latn", "", "kab")),
        ("yue", ("Cantonese", "yue", "yue", "Han", "yue_Hant", "yue", "")),
        ("jv", ("Javanese", "jv", "jav", "Latin", "jav_Latn", "", "")),
        ("ti", ("Tigrinya", "ti", "tir", "Ethiopic", "tir_Ethi", "tir", "")),
        ("fy", ("Western Frisian", "fy", "fry", "Latin", "", "", "fy-NL")),
        ("kk_latn", ("Kazakh (Latin)", "kk", "kaz", "Latin", "", "", "")),
        ("fr_ca", ("French (Canada)", "fr", "fra", "Latin", "fra_Latn", "fra", "fr")),
    ],
)
def test_names_and_codes(code: str, facts: tuple[str, ...]) -> None:
    known = language(code)
    found = (known.name, known.iso639_1, known.iso639_3, known.script, known.flores, known.ntrex)
    assert (*found, known.pontoon) == facts


def test_scripts_decide_spaces_case_and_spelling() -> None:
    facts = {code: language(code) for code in ("lo", "bo", "yue", "kab", "ti", "ug")}
    assert [code for code, known in facts.items() if not known.spaced] == ["lo", "bo", "yue"]
    assert [code for code, known in facts.items() if known.bicameral] == ["kab"]
    assert [code for code, known in facts.items() if not known.phonemic] == ["yue"]
    assert script_of("Ethi") == script_of("Ethiopic") != script_of("Runic")
    assert is_script("Runic")
    assert not is_script("Elvish")


@pytest.mark.parametrize("code", _TABLES["scripts"])
def test_marks_of_a_script_are_those_that_unicode_says_are_used_with_it(code: str) -> None:
    script = _TABLES["scripts"][code]
    regex.compile(rf"\p{{Script={code}}}")
    own_letters(script["name"])
    pattern = regex.compile(rf"(?V1)[[\p{{scx={script['name']}}}]&&[\p{{Nd}}\p{{P}}\p{{Sc}}\p{{Lm}}]]")
    used = [chr(code) for code in range(0x80, 0x10000) if pattern.match(chr(code))]
    settled = {mark for mark in used if unicodedata.normalize("NFKC", mark) == mark}
    assert set(script["marks"]) == {mark for mark in settled if unicodedata.category(mark) != "Cn"}


def test_names_of_test_sets_are_of_no_language_of_our_own_table_and_each_stands_once() -> None:
    own = {name for known in languages().values() for name in (known.flores, known.ntrex)}
    for table in ("flores", "ntrex"):
        names = _TABLES[table].split()
        assert len(names) == len(set(names))
        assert own.isdisjoint(names)
    assert (
        len({known.flores for known in languages().values()} - {""}) + len(_TABLES["flores"].split()) == 204
    )
    assert all(re.fullmatch("[a-z]{3}_[A-Z][a-z]{3}", name) for name in _TABLES["flores"].split())


def test_the_identifier_is_one_that_knows_the_language() -> None:
    known = {*Identifier().get_confidence_all()}
    assert known >= {*_IDENTIFIERS["heli-also"].split()}
    assert {code: identifier_of(AUTO, language(code)) for code in ("ug", "ps", "ku", "ckb")} == dict.fromkeys(
        ("ug", "ps", "ku", "ckb"), HELIPORT
    )
    assert {identifier_of(AUTO, language(code)) for code in ("kab", "yue", "jv")} == {GLOTLID}
    for code in ("ug", "ps", "ku", "ckb", "bo", "fy"):
        assert known & {*heli_labels(language(code))}, code
    assert heli_labels(language("kab")) == []


@pytest.mark.parametrize(
    ("word", "meant"),
    [("uig", "ug"), ("Kabyle", "kab"), ("uighur", "ug"), ("cmn", "zh"), ("pes", "fa"), ("sh", "sr_latn")],
)
def test_another_name_of_a_language_is_answered_with_its_code(word: str, meant: str) -> None:
    with pytest.raises(ConfigError, match=f"Did you mean '{meant}'"):
        language(word)


@pytest.mark.parametrize("code", ["qqq", "mul", "und", "qaa", "x", "ug-arab", "ug_xxxx", "EN", ""])
def test_no_language(code: str) -> None:
    assert find_language(code) is None
