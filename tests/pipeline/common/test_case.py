"""Upper, lower and title case are those of each language, as Unicode's SpecialCasing.txt and CLDR say."""

import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context

import pytest

from pipeline.common.case import (
    _has_own_capitals,
    _has_own_small_letters,
    _has_own_titles,
    _mapped,
    lower,
    title,
    title_words,
    upper,
    with_capitals,
)
from translations_assets.config.languages import languages

UPPER = {
    ("tr", "bir ışık, İstanbul'daki"): "BİR IŞIK, İSTANBUL'DAKİ",
    ("az", "bir istilik şəbəkəsi"): "BİR İSTİLİK ŞƏBƏKƏSİ",
    ("en", "bir ışık"): "BIR IŞIK",
    ("el", "η άλλη γαϊδούρα του Μαΐου"): "Η ΑΛΛΗ ΓΑΪΔΟΥΡΑ ΤΟΥ ΜΑΪΟΥ",  # accents go, and diaereses stay
    ("el", "νερό ή κρασί"): "ΝΕΡΟ Ή ΚΡΑΣΙ",  # but that of the word for "or" stays, too
    ("lt", "i\u0307\u0300 j\u0307 įėš"): "I\u0300 J ĮĖŠ",  # the dot that keeps an accent apart goes
    ("nl", "het ijs"): "HET IJS",
    ("de", "straße"): "STRASSE",
    ("hy", "և"): "ԵՎ",
    ("zh", "第 abc 章"): "第 ABC 章",
    ("ar", "نص"): "نص",
    ("en", ""): "",
}
LOWER = {
    ("tr", "BİR IŞIK, İSTANBUL'DAKİ"): "bir ışık, istanbul'daki",
    ("az", "İSTİ HAVA, QIZIL"): "isti hava, qızıl",
    ("en", "INN"): "inn",
    ("el", "ΟΔΟΣ ΆΛΛΗ"): "οδος άλλη",
    ("lt", "Ì ĮĖŠ"): "i\u0307\u0300 įėš",  # a dot keeps the accent apart
    ("zh", "第 ABC 章"): "第 abc 章",
    ("tr", ""): "",
}
TITLE = {
    ("tr", "ilk ışık"): "İlk Işık",
    ("az", "istilik"): "İstilik",
    ("el", "άλλη μέρα"): "Άλλη Μέρα",  # in title case accents stay
    ("nl", "ijs 'ijsland' ijzer"): "IJs 'IJsland' IJzer",
    ("nl", "NAVO ijsBERG"): "NAVO IJsBERG",  # other letters stay as they are
    ("en", "ijs mcDonald's NASA 3rd"): "Ijs McDonald's NASA 3rd",
    ("de", "straße"): "Straße",
    ("hr", "ǆep"): "ǅep",
    ("zh", "第一 章"): "第一 章",
}


@pytest.mark.parametrize(("locale", "text"), UPPER)
def test_upper_case_is_the_languages(locale: str, text: str) -> None:
    assert upper(text, locale) == UPPER[locale, text]


@pytest.mark.parametrize(("locale", "text"), LOWER)
def test_lower_case_is_the_languages(locale: str, text: str) -> None:
    assert lower(text, locale) == LOWER[locale, text]


@pytest.mark.parametrize(("locale", "text"), TITLE)
def test_title_case_is_the_languages(locale: str, text: str) -> None:
    assert title_words(text, locale) == TITLE[locale, text]


def test_texts_that_grow_are_whole() -> None:
    """A letter may become three (ΐ in upper case), which is more than is reserved at first."""
    assert title("ﬃ" + "x" * 5, "en") == "Ffi" + "x" * 5
    assert upper("\u0390" * 1000, "en") == "\u0399\u0308\u0301" * 1000


def test_unknown_locales_have_unicodes_rules() -> None:
    text = "straße ŉ ﬃ ǰ i ı"
    assert upper(text, "xx") == upper(text, "") == text.upper()
    assert lower("İ I ΑΣ", "xx") == lower("İ I ΑΣ", "") == "İ I ΑΣ".lower()


def test_letters_get_their_capitals_of_one_character() -> None:
    assert with_capitals("iıß", "tr") == "Iißİı"
    assert with_capitals("ià", "en") == "IiÀà"
    assert with_capitals("ά", "el") == "ΆΑά"  # upper case and title case
    assert with_capitals("ǆ", "hr") == "Ǆǅǆ"


def test_white_space_stays() -> None:
    assert title_words(" a\u3000 b\t", "en") == " A\u3000 B\t"
    assert upper("i\0i", "tr") == "İ\0İ"


def test_threads_and_processes_disturb_nobody() -> None:
    words = [f"istilik{number}" for number in range(5000)]
    expected = [f"İstilik{number}" for number in range(5000)]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(4):
            assert list(pool.map(title, words, ["tr"] * len(words), chunksize=7)) == expected
    for start in ("fork", "spawn"):
        with get_context(start).Pool(2) as processes:
            assert processes.starmap(upper, [("bir", "tr"), ("άλλη", "el")] * 5) == ["BİR", "ΑΛΛΗ"] * 5


def test_python_and_icu_agree_where_languages_have_no_rules_of_their_own() -> None:
    """On all characters but those that are newer than Python's Unicode."""
    assert {code for code in languages() if _has_own_capitals(code)} == {"az", "el", "hy", "lt", "tr"}
    assert {code for code in languages() if _has_own_small_letters(code)} == {"az", "lt", "tr"}
    assert {code for code in languages() if _has_own_titles(code)} == {"az", "hy", "nl", "tr"}
    known = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code))[0] != "C"]
    assert len([one for one in known if upper(one, "en") != _mapped("ToUpper", one, "en")]) < 10
    assert len([one for one in known if lower(one, "en") != _mapped("ToLower", one, "en")]) < 10
    assert len([one for one in known if title(one, "en") != _mapped("ToTitle", one, "en")]) < 10
    for letter in "iıßŉﬃǰΐάǆⅰʰაꭰԵև":
        for text in (letter, f"{letter}j\u0301", f"“{letter}"):
            assert upper(text, "en") == _mapped("ToUpper", text, "en")
            assert title(text, "en") == _mapped("ToTitle", text, "en")
