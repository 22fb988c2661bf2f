"""Tests of which pairs and lines of dev and test sets are held out."""

from pathlib import Path

import pytest

from pipeline.clean.held_out import HeldOut, count_words, held_out_lines, held_out_pairs
from pipeline.clean.keys import keys_of
from pipeline.common.errors import InputError
from tests.pipeline.clean.helpers import corpus


@pytest.mark.parametrize(
    ("lang", "text", "words"),
    [
        ("en", "Press Ctrl-C 2 times!", 5),
        ("fr", "« Annuler » : êtes-vous sûr ?", 4),
        ("ru", "Показать следующую страницу…", 3),
        ("de", "Zurücksetzen der Benutzereinstellungen", 3),
        ("zh", "我们明天早上去火车站。", 6),
        ("zh_hant", "取消", 1),
        ("ja", "明日の朝、駅に行きます。", 7),
        ("th", "พรุ่งนี้เราจะไปสถานีรถไฟ", 7),
        ("en", "… — (!) 🙂", 0),
        ("en", "", 0),
    ],
)
def test_words_are_counted_in_any_language(lang: str, text: str, words: int) -> None:
    assert count_words(text, lang) == words


def test_lines_are_held_out_from_five_words_on(tmp_path: Path) -> None:
    lines = ["Cancel", " Show the next page ", "Show  the next page now", "Show the next page now", ""]
    files = (corpus(tmp_path / "one", lines[:3]), corpus(tmp_path / "two", lines[3:]))
    assert held_out_lines(files, "en") == {"Show the next page now"}
    assert held_out_lines([corpus(tmp_path / "zh", ["我们明天早上去火车站。", "取消"])], "zh") == {
        "我们明天早上去火车站。"
    }


def test_pairs_are_held_out_however_short(tmp_path: Path) -> None:
    sides = [
        corpus(tmp_path / "en", ["Cancel ", "OK", "", "x"]),
        corpus(tmp_path / "ru", ["Отмена", "ОК", "y", ""]),
    ]
    assert held_out_pairs([sides[:1], sides[1:]]) == {("Cancel", "Отмена"), ("OK", "ОК")}
    with pytest.raises(InputError, match="Give each with both"):
        held_out_pairs([sides, sides[1:]])


@pytest.mark.parametrize("near", [False, True])
def test_keys_of_pairs_are_those_of_both_sides(tmp_path: Path, near: bool) -> None:
    files = [[corpus(tmp_path / "en", ["Cancel", "OK"])], [corpus(tmp_path / "ru", ["Отмена", "ОК"])]]
    keys = HeldOut(("en", "ru"), files, whole_pairs=True).keys(near=near)
    rows = [("Cancel", "Отмена"), ("Cancel", "ОК"), ("Отмена", "Cancel")]
    form = str.lower if near else str
    sides = [keys_of([form(row[side]).encode() for row in rows]) for side in (0, 1)]
    assert keys.has_pair(sides).tolist() == [True, False, False]
    assert not keys.has_line(0, sides[0]).any()
    assert not HeldOut(("en", "ru"), files).keys(near=near).has_pair(sides).any()
