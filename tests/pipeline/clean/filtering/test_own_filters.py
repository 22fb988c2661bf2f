"""Tests of the filters that OpusCleaner does not have, on the strings of real programs' kinds."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pipeline.clean.filtering.numbers import numbers_of
from pipeline.clean.filtering.strings import without_code, without_numbering
from pipeline.common.errors import InputError
from tests.pipeline.clean.filtering.opuscleaner import filter_file, ours
from tests.pipeline.clean.filtering.pairs import Pair, random_pairs

LANGS = {"LANG1": "<src>", "LANG2": "<trg>"}
ALPHABET: dict[str, Any] = {"filter": "alphabet_ratio", "parameters": LANGS, "language": None}
RULE = "Rinderkennzeichnungsfleischetikettierungsüberwachungsaufgabenübertragungsgesetz"
LENGTH: dict[str, Any] = {"filter": "length_ratio", "parameters": {}, "language": None}
NUMBERS: dict[str, Any] = {"filter": "number_mismatch", "parameters": LANGS, "language": None}


def is_kept(folder: Path, entry: dict[str, Any], trg: str, pair: Pair, src: str = "en") -> bool:
    left = ours(filter_file(folder, entry), [pair], (src, trg))
    assert left in ([], [pair])
    return bool(left)


@pytest.mark.parametrize(
    ("trg", "source", "target"),
    [
        ("fr", "Workspace", "Espace de travail"),
        ("fr", "Last updated:", "Dernière mise à jour :"),
        ("fr", "Drag and drop", "Glisser-déposer"),
        ("de", "Suspend anyway", "Trotzdem in Bereitschaftsmodus gehen"),
        ("de", "Delete the user's settings", "Benutzereinstellungen löschen"),
        ("ru", "Sleet", "Дождь со снегом"),
        ("zh", "Click the button to open the next page of the list.", "单击该按钮可打开列表的下一页。"),
        (
            "ja",
            "Click the button to open the next page of the list.",
            "ボタンを押すと一覧の次のページが開きます。",
        ),
        (
            "ko",
            "Click the button to open the next page of the list.",
            "단추를 누르면 목록의 다음 쪽이 열립니다.",
        ),
        ("th", "The driver was not to blame, said the police.", "ตำรวจกล่าวว่าคนขับไม่ผิด"),
    ],
)
def test_translations_differ_in_length(trg: str, source: str, target: str, tmp_path: Path) -> None:
    assert is_kept(tmp_path, LENGTH, trg, (source, target))
    long = " ".join([source] * 12)
    assert not is_kept(tmp_path, LENGTH, trg, (long, target))
    assert not is_kept(tmp_path, LENGTH, trg, (source, " ".join([target] * 12)))


@pytest.mark.parametrize(
    ("trg", "target", "kept"),
    [
        ("fr", "un deux trois quatre", True),
        ("fr", "un", True),
        ("fr", "« un » — « deux » : « trois » ; « quatre » !", True),
        ("fr", "un deux trois quatre cinq six sept huit neuf dix onze", False),
        ("de", "eins zwei drei vier fünf sechs sieben acht neun zehn elf", False),
    ],
)
def test_words_are_compared_where_there_are_spaces(trg: str, target: str, kept: bool, tmp_path: Path) -> None:
    """Either side may be the one with four words; 2 · (4 + 2) > 11 + 2 would not hold."""
    words = {**LENGTH, "parameters": {"UNIT": "word", "RATIO": 0.5, "ALLOWANCE": 2}}
    assert is_kept(tmp_path, words, trg, ("one two three four", target)) is kept
    assert is_kept(tmp_path, words, "en", (target, "one two three four"), src=trg) is kept


@pytest.mark.parametrize(
    ("trg", "source", "target"),
    [
        (
            "th",
            "The police said yesterday that the driver was not to blame.",
            "ตำรวจกล่าวเมื่อวานว่าคนขับไม่ผิดแต่อย่างใด",
        ),
        (
            "zh",
            "The police said yesterday that the driver was not to blame.",
            "警方昨天表示，驾驶人没有任何责任。",
        ),
        (
            "ja",
            "The police said yesterday that the driver was not to blame.",
            "警察は昨日、運転手に責任はないと発表した。",
        ),
        ("de", "The law on delegation of duties for monitoring the labels of beef", RULE),
    ],
)
def test_words_are_not_compared_where_nothing_parts_them(
    trg: str, source: str, target: str, tmp_path: Path
) -> None:
    """The target is one word by its white space, of eleven or more: compared it would be dropped."""
    assert len(target.split()) == 1 < len(source.split()) / 5
    words = {**LENGTH, "parameters": {"UNIT": "word", "RATIO": 0.5, "ALLOWANCE": 2}}
    assert is_kept(tmp_path, words, trg, (source, target))
    assert is_kept(tmp_path, words, "en", (target, source), src=trg)
    assert not is_kept(tmp_path, words, "fr", (source, "un"))


def test_words_of_a_language_count_as_those_of_the_other(tmp_path: Path) -> None:
    """By the table that cleaning is given, Turkish says in 76 words what English says in 100."""
    rate = json.loads(Path("pipeline/clean/filters/words.json").read_text(encoding="utf-8"))["tr"]
    assert 0.7 < rate < 0.8
    english, turkish = "on " * 100, "on " * round(100 * rate)
    loose = {**LENGTH, "parameters": {"UNIT": "word", "RATIO": 0.95, "ALLOWANCE": 0, **LANGS}}
    for source, target, langs in ((english, turkish, ("en", "tr")), (turkish, english, ("tr", "en"))):
        assert is_kept(tmp_path, loose, langs[1], (source, target), src=langs[0])
        assert not is_kept(tmp_path, loose, langs[1], (target, source), src=langs[0])
        assert not is_kept(tmp_path, loose, langs[1], (source, source), src=langs[0])


def test_a_unit_is_letter_or_word(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="UNIT is 'byte'; write letter or word"):
        is_kept(tmp_path, {**LENGTH, "parameters": {"UNIT": "byte"}}, "fr", ("a", "a"))


def test_the_ratio_counts_from_some_length_on(tmp_path: Path) -> None:
    """Of lengths with the allowance added; signs and spaces are no letters."""
    strict = {**LENGTH, "parameters": {"ALLOWANCE": 0}}
    for source, most, most_strictly in ((10, 30, 16), (40, 80, 66), (100, 180, 166)):
        pairs = [("a " * source, "б" * target + " —!") for target in (most, most + 1)]
        assert [is_kept(tmp_path, LENGTH, "ru", pair) for pair in pairs] == [True, False]
        pairs = [("a" * source, "б" * target) for target in (most_strictly, most_strictly + 1)]
        assert [is_kept(tmp_path, strict, "ru", pair) for pair in pairs] == [True, False]


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
        ("fr", "-5 °C", "\u22125 °C"),
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
        ("ru", "Python 3", "Python для 64бит"),
        ("fr", "Sector 3", "Третий сектор"),
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
