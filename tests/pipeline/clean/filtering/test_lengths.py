"""Tests of the filters that count words and letters, on sentences of several scripts."""

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.common.errors import InputError
from tests.pipeline.clean.filtering.opuscleaner import is_kept

LANGS = {"LANG1": "<src>", "LANG2": "<trg>"}
RULE = "Rinderkennzeichnungsfleischetikettierungsüberwachungsaufgabenübertragungsgesetz"
LENGTH: dict[str, Any] = {"filter": "length_ratio", "parameters": {}, "language": None}


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
