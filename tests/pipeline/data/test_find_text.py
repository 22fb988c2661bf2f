"""Sentences found in texts by their indexes: every line that is wanted, and no other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.chrf import CHRF

from pipeline.common.errors import InputError
from pipeline.common.lines import write_lines
from pipeline.data import candidates, find_text, text_index
from pipeline.data.candidates import NEAR, Sentence
from pipeline.data.find_text import Judge
from pipeline.data.signatures import GRAM, letters_of, most_chrf, signatures

DOG = "The big dog sees the old cat."


def index(text: Path) -> Path:
    folder = text.with_name(f"{text.name}.index")
    text_index.main(["--text", str(text), "--output", str(folder)])
    return folder


def find(sentence: str, *texts: Sequence[Path], most: int = 100) -> list[dict[str, Any]]:
    output = texts[0][0].parent / f"found-{len(list(texts[0][0].parent.iterdir()))}"
    words = [
        word
        for sides in texts
        for word in ("--text", *(str(path) for side in sides for path in (side, _known_index(side))))
    ]
    find_text.main([f"--sentence={sentence}", "--most", str(most), "--output", str(output), *words])
    found: list[dict[str, Any]] = json.loads((output / "found.json").read_text())
    return found


def _known_index(text: Path) -> Path:
    folder = text.with_name(f"{text.name}.index")
    return folder if folder.exists() else index(text)


def text(folder: Path, lines: Sequence[str], name: str = "corpus.en.zst") -> Path:
    write_lines(folder / name, lines)
    return folder / name


def kinds(answer: dict[str, Any]) -> list[tuple[int, str]]:
    return [(line["line"], line["kind"]) for line in answer["found"]]


def test_lines_are_found_that_are_it_hold_it_or_are_near(tmp_path: Path) -> None:
    lines = ["A bird.", f"Now: {DOG}", "The big dog sees the old rat.", DOG, "The dog sees cats."]
    (answer,) = find(DOG, [text(tmp_path, lines)])
    assert kinds(answer) == [(4, "exact"), (2, "inside"), (3, "near")]
    assert (answer["lines"], answer["exact"], answer["inside"], answer["near"]) == (5, 1, 1, 1)
    near = answer["found"][2]
    assert near["chrf"] == round(CHRF().sentence_score(lines[2], [DOG]).score, 2)
    inside = answer["found"][1]
    assert inside["chrf"] == round(CHRF().sentence_score(lines[1], [DOG]).score, 2)


@pytest.mark.parametrize("sentence", [DOG, " The  big dog\tsees the old\u00a0cat. "])
def test_white_space_counts_as_single_spaces(tmp_path: Path, sentence: str) -> None:
    lines = ["The   big dog sees the\u3000old cat. ", "He says: The big\tdog  sees the old cat.", "None"]
    (answer,) = find(sentence, [text(tmp_path, lines)])
    assert kinds(answer) == [(1, "exact"), (2, "inside")]


def test_words_that_are_parted_elsewhere_are_near_and_not_the_same(tmp_path: Path) -> None:
    (answer,) = find(DOG, [text(tmp_path, ["The big dog see sthe old cat."])])
    assert kinds(answer) == [(1, "near")]
    assert answer["found"][0]["chrf"] == 100.0


def test_a_short_sentence_is_found_as_a_line_alone(tmp_path: Path) -> None:
    lines = ["Cat.", "A cat. Cat.", "Cats.", "  Cat."]
    (answer,) = find("Cat.", [text(tmp_path, lines)])
    assert kinds(answer) == [(1, "exact"), (4, "exact")]


def test_a_part_of_a_word_is_found_from_ten_letters_on(tmp_path: Path) -> None:
    path = text(tmp_path, ["Donaudampfschifffahrt", "Dampf"])
    assert kinds(find("dampfschif", [path])[0]) == [(1, "inside")]
    assert kinds(find("dampfschi", [path])[0]) == []


def test_both_sides_are_shown_and_the_side_that_is_more_alike_counts(tmp_path: Path) -> None:
    src = text(tmp_path, ["A cow.", f"So: {DOG}", DOG])
    trg = text(tmp_path, ["Bovino.", DOG, "La hundo."], "corpus.eo.zst")
    (answer,) = find(DOG, [src, trg])
    assert [(line["line"], line["side"], line["sides"]) for line in answer["found"]] == [
        (2, 1, [f"So: {DOG}", DOG]),
        (3, 0, [DOG, "La hundo."]),
    ]
    assert (answer["exact"], answer["inside"]) == (2, 0)


def test_each_text_has_its_answer(tmp_path: Path) -> None:
    first, second = text(tmp_path, [DOG]), text(tmp_path, ["None.", "None."], "other.zst")
    answers = find(DOG, [second], [first], [first, second][:1])
    assert [(answer["lines"], answer["exact"]) for answer in answers] == [(2, 0), (1, 1), (1, 1)]


def test_only_so_many_lines_are_given_back_and_all_are_counted(tmp_path: Path) -> None:
    (answer,) = find(DOG, [text(tmp_path, [f"Oh: {DOG}", *[DOG] * 5])], most=2)
    assert kinds(answer) == [(2, "exact"), (3, "exact")]
    assert (answer["exact"], answer["inside"]) == (5, 1)


def test_the_nearest_of_those_that_are_not_near_is_told(tmp_path: Path) -> None:
    other = "The big dog sees the red cow."
    (answer,) = find(DOG, [text(tmp_path, [other])])
    score = CHRF().sentence_score(other, [DOG]).score
    assert answer["near"] == 0
    assert answer["nearest"] in (0.0, round(score, 2))


def test_numbers_of_lines_go_on_across_segments_and_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_index, "SEGMENT", 7)
    monkeypatch.setattr(candidates, "SEGMENT", 7)
    monkeypatch.setattr(find_text, "CHUNK", 50)
    lines = [f"{'x' * (number % 9)} line {number}" for number in range(60)]
    wanted = [0, 6, 7, 13, 14, 41, 58, 59]
    for number in wanted:
        lines[number] = f"{number} {DOG}"
    (answer,) = find(DOG, [text(tmp_path, lines)])
    assert sorted(line["line"] - 1 for line in answer["found"]) == wanted
    assert all(line["sides"] == [lines[line["line"] - 1]] for line in answer["found"])


def test_lines_that_are_longer_than_a_chunk_are_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find_text, "CHUNK", 8)
    lines = ["None.", f"First: {DOG}", "", f"Last: {DOG}"]
    (answer,) = find(DOG, [text(tmp_path, lines)])
    found = {line["line"]: line["sides"] for line in answer["found"]}
    assert found == {2: [lines[1]], 4: [lines[3]]}


def test_marks_of_other_systems_are_no_part_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "windows.txt"
    path.write_bytes(f"\ufeff{DOG}\r\nNone.\r\n{DOG}".encode())
    (answer,) = find(DOG, [path])
    assert kinds(answer) == [(1, "exact"), (3, "exact")]
    assert [line["sides"] for line in answer["found"]] == [[DOG], [DOG]]


def test_line_separators_other_than_the_line_feed_end_no_line(tmp_path: Path) -> None:
    (answer,) = find(DOG, [text(tmp_path, ["One\u2028two\x85three.", DOG])])
    assert kinds(answer) == [(2, "exact")]


def test_long_lines_are_found_too(tmp_path: Path) -> None:
    long = " ".join(f"word{number}" for number in range(400))
    lines = [f"{long} {DOG}", long, f"{long} changed", f"{long} {long}"]
    path = text(tmp_path, lines)
    assert kinds(find(DOG, [path])[0]) == [(1, "inside")]
    assert kinds(find(long, [path])[0]) == [(2, "exact"), (3, "inside"), (1, "inside"), (4, "inside")]
    assert kinds(find(long.replace("word7 ", "bird7 "), [path])[0])[0] == (2, "near")


def test_an_empty_text_has_nothing(tmp_path: Path) -> None:
    (answer,) = find(DOG, [text(tmp_path, [])])
    assert (answer["lines"], answer["found"]) == (0, [])


def test_blank_lines_are_lines(tmp_path: Path) -> None:
    (answer,) = find(DOG, [text(tmp_path, ["", "  ", DOG, ""])])
    assert answer["lines"] == 4
    assert kinds(answer) == [(3, "exact")]


@pytest.mark.parametrize("threads", ["1", "2"])
def test_an_index_is_the_same_for_any_number_of_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: str
) -> None:
    lines = [f"{number} {DOG * (number % 4)}" for number in range(11_000)]
    made = signatures(lines[:5])
    monkeypatch.setenv("TRANSLATIONS_THREADS", threads)
    folder = index(text(tmp_path, lines))
    widths = np.load(folder / "widths.npy")
    assert widths[:5].tolist() == made.widths.tolist()
    assert len(widths) == 11_000
    assert len(np.load(folder / "signatures.npy")) == widths.sum(dtype=int)
    assert json.loads((folder / "stats.json").read_text())["lines"]["in"] == 11_000


def test_text_in_another_encoding_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes(b"one\ncaf\xe9\n")
    with pytest.raises(InputError, match=r"latin\.txt, line 2"):
        index(path)
    assert not list((tmp_path / "latin.txt.index").iterdir())


@pytest.mark.parametrize(
    ("sentence", "words", "says"),
    [("  ", ["a", "b"], "is empty"), (DOG, ["a", "b", "c"], "give a file and its index")],
)
def test_bad_options_are_refused(tmp_path: Path, sentence: str, words: list[str], says: str) -> None:
    with pytest.raises(InputError, match=says):
        find_text.main([f"--sentence={sentence}", "--text", *words, "--output", str(tmp_path / "out")])
    assert not (tmp_path / "out").exists()


ALPHABETS = ("ab ", "abcdefgh ", "дом кот", "猫狗 鳥")
LINES = st.sampled_from(ALPHABETS).flatmap(
    lambda letters: st.tuples(
        st.text(letters, min_size=10, max_size=60),
        st.lists(st.tuples(st.integers(0, 60), st.integers(0, 6), st.text(letters, max_size=6)), max_size=6),
    )
)


def edited(line: str, edits: Sequence[tuple[int, int, str]]) -> str:
    for place, length, new in edits:
        line = line[:place] + new + line[place + length :]
    return line


@settings(max_examples=150, deadline=None)
@given(LINES)
def test_no_line_that_is_near_or_holds_it_is_overlooked(
    drawn: tuple[str, list[tuple[int, int, str]]],
) -> None:
    """The bound of chrF, and what signatures say of a line, against sacreBLEU's own scores."""
    first, edits = drawn
    sentence, line = Sentence(first), edited(first, edits)
    if not sentence.letters:
        return
    score = CHRF().sentence_score(line, [sentence.text]).score
    letters = letters_of(line)
    places = [sentence.letters[place : place + GRAM] for place in range(len(sentence.letters) - GRAM + 1)]
    missing = sum(gram not in letters for gram in places)
    assert most_chrf(len(sentence.letters), len(letters), missing) >= score - 1e-6
    text = " ".join(line.split())
    is_inside = sentence.text in text and (sentence.is_long or sentence.text == text)
    is_wanted = is_inside or (sentence.is_long and score >= NEAR)
    made = signatures([line])
    width = len(made.flat)
    if is_wanted:
        assert sentence.is_sought(width)
        assert sentence.among(made.flat[:, None]).tolist() == [True]
    hit = Judge(sentence)(line)
    assert (hit is not None and (hit.kind != "near" or hit.chrf >= NEAR)) == is_wanted
