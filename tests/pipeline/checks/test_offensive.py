"""Offensive words in translations, by a stand-in for the engine that looks its answers up."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pipeline.checks import offensive
from pipeline.checks.offensive import LINES, WordList, main
from pipeline.common.errors import InputError
from tests.pipeline.checks.helpers import numbers, text

ANSWERS = {
    "Good morning.": "Bonan matenon.",
    "The door is heavy.": "La pordo estas FIPORDO.",
    "You swine!": "Vi fiporko!",
    "He is late.": "Li estas fi porko kaj fiporko.",
}


class StandIn:
    """Translates what it knows, and nothing else."""

    def __init__(self, answers: Mapping[str, str]) -> None:
        self._answers = answers

    def translate(self, line: str) -> str:
        return self._answers.get(line, line)


def found(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *lists: object, lines: Sequence[str] = tuple(ANSWERS)
) -> dict[str, Any]:
    """What the script finds; words are those of the option before them."""
    monkeypatch.setattr(offensive, "load_engine", lambda files: StandIn(ANSWERS))
    texts = [text(folder / "test.en.zst", lines), text(folder / "dev.en.zst", ["", *lines[:1]])]
    options = [
        text(folder / f"{n}.zst", one) if isinstance(one, list) else one for n, one in enumerate(lists)
    ]
    return numbers(main, folder / "out", "--exported", "any", "--texts", *texts, *options, "--seed", "1")


def test_what_the_model_adds_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lists = ("--trg-list", ["fipordo", "Fiporko", ""], "--src-list", ["swine"])
    told = found(tmp_path, monkeypatch, *lists)
    assert (told["asked"], told["offensive"], told["in_source"], told["share"]) == (4, 2, 1, 0.5)
    assert sorted(told["samples"]) == [
        ["fipordo", "The door is heavy.", ANSWERS["The door is heavy."]],
        ["fiporko", "He is late.", ANSWERS["He is late."]],
    ]


def test_without_the_sources_list_every_word_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = found(tmp_path, monkeypatch, "--trg-list", ["fipordo", "fiporko"])
    assert (told["offensive"], told["in_source"]) == (3, 0)


def test_no_more_lines_are_asked_than_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"Line {n}." for n in range(LINES + 50)]
    assert found(tmp_path, monkeypatch, "--trg-list", ["line 3"], lines=lines)["asked"] == LINES


@pytest.mark.parametrize(
    ("entries", "line", "expected"),
    [
        (["ass"], "Class and asses; bass.", []),
        (["ass"], "An ASS!", ["ass"]),
        (["ass"], "“ass”-like", ["ass"]),
        (["straße"], "AUF DER STRASSE", ["strasse"]),
        (["дурак"], "Дурака нет, дурак.", ["дурак"]),
        (["bad cat"], "A bad  Cat, a bad dog, cat", ["bad cat"]),
        (["bad cat", "bad"], "bad cat", ["bad", "bad cat"]),
        (["f*ck"], "F*CK you", ["f*ck"]),
        (["f*ck", "sh!t"], "f ck, sh t", []),
        (["a$$", "@$$", "$hit", "c++"], "I have a hit in c, bass.", []),
        (["a$$", "@$$", "$hit", "c++"], "A$$! ＠$$, “$hit” and C++.", ["$hit", "@$$", "a$$", "c++"]),
        (["a$$"], "A$$es, baa$$", []),
        (["son of a b!tch"], "Son of  a B!TCH!", ["son of a b!tch"]),
        (["🖕", "ass"], "Look🖕🏽you ass", ["ass", "🖕"]),
        (["idiot!", "(moron)", "a-hole"], "An idiot, a moron: A hole.", ["idiot", "moron", "a hole"]),
        (["caf\u00e9"], "Cafe\u0301s, cafe\u0301", ["café"]),
        (["कुत्ता"], "वह कुत्ता है", ["कुत्ता"]),
        (["कुत"], "वह कुत्ता है", []),
        (["混蛋"], "他是混蛋吗", ["混蛋"]),
        (["ばか", "ass"], "このばかclass", ["ばか"]),
        (["ass"], "他是ass吗", ["ass"]),
        (["混蛋ass", "ass"], "ass", ["ass"]),
        (["ไอ้บ้า"], "คนไอ้บ้าคนนี้", ["ไอ้บ้า"]),
        (["바보"], "바보 같은", ["바보"]),
    ],
)
def test_words_are_whole_and_of_any_case_and_parts_where_no_spaces_are(
    entries: list[str], line: str, expected: list[str]
) -> None:
    assert WordList(entries).found_in(line) == expected


def test_a_list_or_a_text_without_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="has no word. A list of offensive words has one a line"):
        found(tmp_path, monkeypatch, "--trg-list", ["", "!"])
    with pytest.raises(InputError, match="have no line to translate"):
        found(tmp_path, monkeypatch, "--trg-list", ["a"], lines=["  "])
