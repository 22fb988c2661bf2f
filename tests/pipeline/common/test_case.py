"""Upper and title case are those of each language, as Unicode's SpecialCasing.txt and CLDR say."""

import pytest

from pipeline.common.case import title, title_words, upper

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
TITLE = {
    ("tr", "ilk ışık"): "İlk Işık",
    ("az", "istilik"): "İstilik",
    ("el", "άλλη μέρα"): "Άλλη Μέρα",  # in title case accents stay
    ("nl", "ijs 'ijsland' ijzer"): "IJs 'IJsland' IJzer",
    ("en", "ijs mcDonald's NASA 3rd"): "Ijs McDonald's NASA 3rd",
    ("de", "straße"): "Straße",
    ("hr", "ǆep"): "ǅep",
    ("zh", "第一 章"): "第一 章",
}


@pytest.mark.parametrize(("locale", "text"), UPPER)
def test_upper_case_is_the_languages(locale: str, text: str) -> None:
    assert upper(text, locale) == UPPER[locale, text]


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
