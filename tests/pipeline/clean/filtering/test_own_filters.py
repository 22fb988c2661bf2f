"""Tests of the filters that OpusCleaner does not have, on the strings of real programs' kinds."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pipeline.clean.filtering.numbers import numbers_of
from pipeline.clean.filtering.strings import without_code, without_numbering
from tests.pipeline.clean.filtering.opuscleaner import filter_file, is_kept, ours
from tests.pipeline.clean.filtering.pairs import random_pairs

LANGS = {"LANG1": "<src>", "LANG2": "<trg>"}
ALPHABET: dict[str, Any] = {"filter": "alphabet_ratio", "parameters": LANGS, "language": None}
NUMBERS: dict[str, Any] = {"filter": "number_mismatch", "parameters": LANGS, "language": None}


@pytest.mark.parametrize(
    ("trg", "source", "target"),
    [
        ("fr", "_Quit", "_Quitter"),
        ("fr", "&Save as…", "Enregi&strer sous…"),
        ("fr", "~No", "~Non"),
        ("fr", "- Links", "— liens ;"),
        ("fr", "* Cameras", "–⋅caméras⋅;"),
        ("fr", "Games won: {0} ({1})", "Parties gagnées : {0} ({1})"),
        ("fr", "Is it “%s”?", "Est-ce « %s » ?"),
        ("fr", "<b>%1 in %2</b>", "<b>%1 dans %2</b>"),
        ("fr", "%s %2$d%% done", "%2$d %% de %s faits"),
        ("fr", "Total: ${total}", "Total : ${total}"),
        ("fr", "&Documents", "&Documents"),
        ("de", "3D view (X11)", "3D-Ansicht (X11)"),
        ("ru", "310 Hz", "310 Гц"),
        ("ru", "Solarized light", "Solarized светлая"),
        ("ru", "_Resources", "(_R) Ресурсы"),
        (
            "ru",
            "Reads FITS (Flexible Image Transport System) files",
            "Читает файлы FITS (Flexible Image Transport System)",
        ),
        ("zh", "_Quit", "退出(_Q)"),
        ("ja", "&Settings of GNOME", "GNOMEの設定(&S)"),
    ],
)
def test_strings_of_programs_have_letters(trg: str, source: str, target: str, tmp_path: Path) -> None:
    assert is_kept(tmp_path, ALPHABET, trg, (source, target))


@pytest.mark.parametrize(
    ("trg", "source", "target"),
    [
        ("fr", "%s: %s", "%s : %s"),
        ("fr", "29.97", "29,97"),
        ("fr", "<b>%1</b>", "<b>%1</b>"),
        ("fr", "1 2 3 4 5 a", "1 2 3 4 5 a"),
        ("fr", "a sum", "^^ == || ++ $$ a"),
        ("fr", "?plural:Sabines", "Sabins"),
        ("fr", "Девочка читает книгу.", "La fille lit."),
        ("ru", "Solarized", "Solarized"),
        ("ru", "The girl reads the book.", "The girl reads a book."),
        ("ru", "Reads FITS files", "Reads files FITS и"),
        ("zh", "Quit", "(_Q)"),
    ],
)
def test_what_is_no_text_of_the_language_goes(trg: str, source: str, target: str, tmp_path: Path) -> None:
    assert not is_kept(tmp_path, ALPHABET, trg, (source, target))


@pytest.mark.parametrize("codes", [("en", "fr"), ("en", "ru"), ("ja", "th")])
def test_nothing_goes_that_opuscleaners_filter_keeps(codes: Sequence[str], tmp_path: Path) -> None:
    pairs = list(random_pairs(2_000, 4))
    theirs = filter_file(tmp_path, {**ALPHABET, "filter": "alpha_ratio"})
    kept = ours(theirs, pairs, codes)
    mine = ours(filter_file(tmp_path, ALPHABET), pairs, codes)
    assert set(kept) <= set(mine)
    assert len(kept) < len(mine) < len(pairs)


@pytest.mark.parametrize(
    ("trg", "source", "target"),
    [
        ("fr", "It contains 79808 words.", "Il contient 79 808 mots."),
        ("fr", "79,808 and 1,234,567.5", "79\u00a0808 et 1\u202f234\u202f567,5"),
        ("de", "79,808 and 1,234,567.5", "79.808 und 1'234'567,5"),
        ("de", "Use 79808.50 of .5", "79.808,5 von 0,50"),
        ("hi", "It is 1,234,567.", "यह १२,३४,५६७ है।"),
        ("ar", "In 2020", "في ٢٠٢٠"),
        ("fr", "64bit libraries", "bibliothèques 64 bits"),
        ("de", "Python3 of level 2", "Python 3, Stufe2"),
        ("fr", "Grid01", "Grille 01"),
        ("ru", "4x speed", "4-кратная скорость"),
        ("fr", "the 2nd level", "niveau 2"),
        ("fr", "the 3D view", "la vue tridimensionnelle"),
        ("de", "on 05/12/2010 at 10:30", "am 05.12.2010 um 10.30"),
        ("fr", "%s of %s", "%2$s de %1$s"),
        ("fr", "90&#176; and 2&#x41;", "90° et 2A"),
        ("fr", "25 minutes", "vingt-cinq minutes"),
        ("fr", "1 second", "une seconde"),
        ("fr", "Play on three boards", "Jouez sur 3 plateaux"),
        ("de", "21 files, 1 video", "einundzwanzig Dateien, ein Video"),
        ("de", "30 FILES", "DREISSIG DATEIEN"),
        ("de", "30 files", "dreißig Dateien"),
        ("ru", "Sector 3", "Третий сектор"),
        ("ru", "1 page", "Одна страница"),
        ("zh", "Sector 3", "第三扇区"),
        ("ja", "12 pages", "十二ページ"),
        ("hi", "There are 2 books.", "दो किताबें हैं।"),
        ("hi", "the 22nd page", "बाईसवाँ पृष्ठ"),
        ("ta", "There are 2 books.", "இரண்டு புத்தகங்கள் உள்ளன."),
        ("th", "There are 2 books.", "มีหนังสือสองเล่ม"),
        ("th", "Sector 22", "ที่ยี่สิบ\u200bสอง"),
        ("km", "There are 22 books.", "មាន\u200bសៀវភៅ\u200bម្ភៃ\u200bពីរ\u200bក្បាល"),
        ("my", "There are 22 books.", "စာအုပ်နှစ်ဆယ်နှစ်အုပ်ရှိတယ်။"),
        ("ru", "Sector 2", "сектор два\u0301"),
        ("fr", "-5 °C", "\u22125 °C"),
        ("fr", 'in "-1" (-2)', "dans « -1 » (\u22122)"),
        ("fr", "Pages 1 to 3 of 7", "Pages 1 à 3"),
    ],
)
def test_numbers_are_compared_by_their_values(trg: str, source: str, target: str, tmp_path: Path) -> None:
    assert is_kept(tmp_path, NUMBERS, trg, (source, target))
    assert is_kept(tmp_path, NUMBERS, "en", (target, source), src=trg)


@pytest.mark.parametrize(
    ("trg", "source", "target"),
    [
        ("fr", "In 2020", "En 2021"),
        ("fr", "It contains 79808 words.", "Il contient 79 809 mots."),
        ("fr", "79808", "79 et 808"),
        ("fr", "It is 3.5.", "C'est 35."),
        ("fr", "version 1.2.3", "version 1.2.4"),
        ("fr", "12 files", "les fichiers"),
        ("fr", "2 files", "un fichier"),
        ("de", "1 file", "die Dateien einer Seite"),
        ("fr", "-5 °C", "5 °C"),
        ("fr", 'in "-1"', "dans « 1 »"),
        ("ru", "Python 3", "Python для 64бит"),
        ("fr", "Sector 3", "Третий сектор"),
        ("hi", "There are 2 books.", "किताबें हैं।"),
        ("hi", "There are 2 books.", "दोपहर में किताबें"),
        ("th", "There are 2 books.", "มีหนังสือ"),
        ("fr", "9" * 5_000, "9" * 5_001),
    ],
)
def test_pairs_with_other_numbers_go(trg: str, source: str, target: str, tmp_path: Path) -> None:
    assert not is_kept(tmp_path, NUMBERS, trg, (source, target))


def test_numbers_of_a_text() -> None:
    found = list(numbers_of("-5, 1 234 567,8 of 12 34; x86_64 and .50 in 5kg"))
    assert [(number.text, number.free) for number in found] == [
        ("5", True),
        ("1 234 567,8", True),
        ("12", True),
        ("34", True),
        ("86", False),
        ("64", False),
        (".50", True),
        ("5", False),
    ]
    assert [sorted(number.values) for number in found[:2]] == [["-5"], ["1234567.8"]]
    assert sorted(next(numbers_of("1.234")).values) == ["1.234", "1234"]
    assert found[6].values == {"0.5"}
    for text in ("1.234.567", "1,234,567", "1 234 567"):
        assert next(numbers_of(text)).values == {"1234567"}, "what parts groups twice is no decimal sign"


def test_what_strings_hold_besides_words() -> None:
    assert without_code("<b>%1 of %2$s</b> &amp; {name}: _Quit (&Q), 100% sure").split() == [
        "of",
        ":",
        "Quit",
        ",",
        "100%",
        "sure",
    ]
    assert without_numbering("%2$s is 5&#176;") == "%s is 5%"
