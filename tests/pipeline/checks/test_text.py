"""Numbers of texts."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.checks import held_out
from pipeline.checks import text as checked
from pipeline.checks.lengths import LengthRatios
from pipeline.checks.letters import Letters
from pipeline.checks.repetitions import Repetitions
from pipeline.checks.text import main
from pipeline.clean.merge_parallel import main as merge_parallel
from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines
from tests.pipeline.checks.helpers import numbers, text
from tests.pipeline.clean.neighbours import GROUPS

WORDS = ["river", "house", "quickly", "green", "mountain", "letter", "winter", "between", "garden"]
WORDS += ["simple", "paper", "market", "doctor"]
LONG = "The committee met on Tuesday in order to discuss the plans for a new bridge across the old river."
NEAR = "The committee met on Friday in order to discuss the plans for a new bridge across the old river."
FAR = "The committee met in a bridge on Tuesday to plan for the discussion of an order across the old new."


def sentences(count: int, seed: int = 1) -> list[str]:
    random_ = random.Random(seed)
    return [" ".join(random_.choices(WORDS, k=14)).capitalize() + "." for _ in range(count)]


def of_pair(folder: Path, sources: list[str], targets: list[str], *more: object) -> dict[str, Any]:
    texts = [text(folder / "corpus.en.zst", sources), text(folder / "corpus.ru.zst", targets)]
    return numbers(main, folder / "out", "--langs", "en", "ru", "--texts", *texts, "--seed", "1", *more)


def of_text(folder: Path, lines: list[str], *more: object, lang: str = "en") -> dict[str, Any]:
    lines_file = text(folder / "mono.zst", lines)
    own = {"en": "eng", "lt": "lit"}.get(lang)
    languages = ("--scripts", "Latin", "--labels-first", *([own] if own else []))
    return numbers(
        main, folder / "out", "--langs", lang, "--texts", lines_file, *languages, "--seed", "1", *more
    )


def overlap(folder: Path, lines: list[str], held: list[str]) -> dict[str, Any]:
    held_file = text(folder / "test.en.zst", held)
    side = of_text(folder, lines, "--held-out-first", held_file)["sides"][0]
    found: dict[str, Any] = side["held_out"]
    return found


def test_held_out_lines_by_how_alike_they_are(tmp_path: Path) -> None:
    held = [LONG, "This one is rather short.", "Short one.", "2010", *sentences(50)]
    lines = [
        *sentences(200, seed=2),
        f"  {LONG.replace(' ', '   ')} ",
        LONG.upper().replace(".", "!"),
        NEAR,
        FAR,
        "This one is  rather short.",
        "short one",
        "Short one.",
        "2010",
        "2011",
    ]
    found = overlap(tmp_path, lines, held)
    assert (found["exact"], found["same_letters"], found["similar"]) == (2, 1, 1)
    assert (found["held_out_lines"], found["held_out_lines_found"]) == (52, 2)
    assert found["samples"]["similar"][0]["line"] == NEAR
    assert found["samples"]["similar"][0]["held_out"] == LONG
    assert 0.8 <= found["samples"]["similar"][0]["similarity"] < 1


def test_each_side_has_its_own_held_out_lines(tmp_path: Path) -> None:
    line, string = "Этот дом стоит на горе.", "Дом."
    one, other = text(tmp_path / "a", [line, string]), text(tmp_path / "b", [line, string])
    found = of_pair(
        tmp_path, [line, "x", string], ["y", line, "z"], "--held-out-first", one, "--held-out-second", other
    )
    assert [side["held_out"]["exact"] for side in found["sides"]] == [1, 1]
    assert "held_out_pairs" not in found


def test_whole_pairs_however_short(tmp_path: Path) -> None:
    one, other = text(tmp_path / "a", ["Cancel", "5 %"]), text(tmp_path / "b", ["Отмена", "5 %"])
    sources = ["Cancel", " Cancel", "cancel", "Cancel", "5 %", "6 %"]
    targets = ["Отменить", "Отмена ", "отмена", "5 %", "5 %", "6 %"]
    held = ("--held-out-first", one, "--held-out-second", other)
    found = of_pair(tmp_path, sources, targets, *held, "--whole-pairs")["held_out_pairs"]
    assert found == {"held_out_pairs": 2, "exact": 2, "samples": [["Cancel", "Отмена"], ["5 %", "5 %"]]}
    with pytest.raises(InputError, match="two parallel texts"):
        of_text(tmp_path, sources, *held, "--whole-pairs")


@pytest.mark.parametrize("near", [False, True])
def test_what_merging_leaves_has_nothing_that_the_gate_counts(tmp_path: Path, near: bool) -> None:
    """And what it removes as held out is what the gate would have counted."""
    tests = [("Cancel", "Отмена"), (LONG, "Отмена"), ("Show the next page of it", "Показать страницу")]
    pairs = [*tests, (LONG, "Первое"), ("Cancel", "Второе"), ("Some", "Отмена"), ("Cancel!", "Отмена!")]
    files = [
        text(tmp_path / f"{name}.{side}", [pair[side] for pair in of])
        for name, of in (("corpus", pairs), ("test", tests))
        for side in (0, 1)
    ]
    held = ("--held-out-src", files[2], "--held-out-trg", files[3])
    command = ["--src", "en", "--trg", "ru", "--datasets", "d", "--seed", "1", *map(str, held)]
    command += ["--corpus-src", str(files[0]), "--corpus-trg", str(files[1])]
    merge_parallel(([*command, "--near-duplicates"] if near else command) + ["--output", str(tmp_path / "m")])
    dropped = json.loads((tmp_path / "m" / "stats.json").read_text())["lines"]["dropped"]
    assert dropped == {"held_out_pair": 4 if near else 3, "held_out_src": 1}
    options = ("--held-out-first", files[2], "--held-out-second", files[3], "--whole-pairs")
    for name in ("before", "after"):
        (tmp_path / name).mkdir()
    before = of_pair(tmp_path / "before", *map(list, zip(*pairs, strict=True)), *options)
    assert (before["held_out_pairs"]["exact"], before["sides"][0]["held_out"]["exact"]) == (3, 3)
    left = [list(read_lines(tmp_path / "m" / f"corpus.{lang}.zst")) for lang in ("en", "ru")]
    after = of_pair(tmp_path / "after", *left, *options)
    assert after["held_out_pairs"]["exact"] == 0
    assert [side["held_out"]["exact"] for side in after["sides"]] == [0, 0]


def test_similar_lines_are_those_that_comparing_all_with_all_finds(tmp_path: Path) -> None:
    """The search by parts misses none of the lines that one or two changed words make of held-out ones."""
    held = sentences(60)
    random_ = random.Random(5)
    lines = []
    for line in held * 3:
        words = line.split()
        for place in random_.sample(range(len(words)), random_.choice([1, 1, 2])):
            words[place] = random_.choice(WORDS)
        lines.append(" ".join(words))
    letters = [Letters([line]).of_line(0) for line in [*lines, *held]]
    grams = [held_out.trigrams(content) for content in letters]
    alike = sum(
        any(held_out.jaccard(one, other) >= held_out.SIMILAR for other in grams[len(lines) :])
        for one in grams[: len(lines)]
    )
    found = overlap(tmp_path, lines, held)
    assert alike > 100
    assert found["exact"] + found["same_letters"] + found["similar"] == alike


def test_what_is_not_asked_for_is_not_counted(tmp_path: Path) -> None:
    assert of_pair(tmp_path, ["A line."], ["x"])["sides"][0] == {"lang": "en", "empty": 0}


def test_short_lines_are_no_near_duplicates(tmp_path: Path) -> None:
    """Nor is what differs in few of its few letters; a Han character counts as three letters."""
    held = ["He is not so young.", "我们明天早上去火车站。"]
    found = overlap(tmp_path, ["HE IS NOT SO YOUNG!", "We is not so young.", "我们明天早上去火车站！"], held)
    assert (found["exact"], found["same_letters"], found["similar"]) == (0, 1, 0)


def test_empty_held_out_files(tmp_path: Path) -> None:
    assert overlap(tmp_path, ["", "a line"], [])["held_out_lines"] == 0


def test_empty_lines(tmp_path: Path) -> None:
    found = of_pair(tmp_path, ["a", "", " \u3000", "12"], ["", "b", "", "12"])
    assert [side["empty"] for side in found["sides"]] == [2, 2]


def test_duplicates_are_pairs_with_the_same_letters(tmp_path: Path) -> None:
    sources = ["One house.", "one HOUSE", "One house.", "Two.", "1", "2"]
    targets = ["Дом.", "дом!", "Домик.", "Два.", "1", "2"]
    found = of_pair(tmp_path, sources, targets)["duplicates"]
    assert (found["counted"], found["repeated"], found["share"]) == (4, 1, 0.25)
    assert found["samples"] == ["One house."]


def test_duplicates_of_more_lines_than_are_kept_are_estimated() -> None:
    repetitions = Repetitions(capacity=2_000)
    lines = [f"{word} {'a' * (number % 7)}" for number, word in enumerate(sentences(5_000, seed=3))]
    for _ in range(2):  # each line twice
        for start in range(0, len(lines), 1000):
            block = lines[start : start + 1000]
            repetitions.add(Letters(block).line_hashes, np.arange(len(block)), block)
    found = repetitions.to_json()
    assert found["counted"] == 10_000
    assert found["share"] == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize("others", [0, 5_000])
def test_copies_of_one_line_are_counted_however_many_they_are(others: int) -> None:
    repetitions = Repetitions(capacity=2_000)
    lines = [*sentences(others, seed=3), *["Page 1"] * 5_000]
    for start in range(0, len(lines), 1000):
        block = lines[start : start + 1000]
        repetitions.add(Letters(block).line_hashes, np.arange(len(block)), block)
    found = repetitions.to_json()
    assert found["counted"] == 5_000 + others
    assert found["share"] == pytest.approx(4_999 / (5_000 + others), abs=0.03)
    assert repetitions.distinct() == pytest.approx(1 + others, rel=0.06)


def test_as_many_lines_as_are_kept_are_counted_one_by_one() -> None:
    repetitions = Repetitions(capacity=4)
    block = ["one", "two", "three", "one"]
    repetitions.add(Letters(block).line_hashes, np.arange(4), block)
    assert (repetitions.to_json()["counted"], repetitions.distinct()) == (4, 3)


def test_copies(tmp_path: Path) -> None:
    found = of_pair(tmp_path, ["Same text", "one", "12"], ["same, text", "два", "12"])["copied"]
    assert (found["lines"], found["share"]) == (1, 0.5)
    assert found["samples"] == [["Same text", "same, text"]]


def test_length_ratios_far_from_the_median() -> None:
    ratios = LengthRatios()
    line = "a" * 50
    ratios.add([line] * 97 + ["b" * 50, "c" * 200, "d"], [line * 2] * 97 + ["b" * 500, "c" * 20, "e"])
    found = ratios.to_json()
    assert found["median"] == pytest.approx(110 / 60, rel=0.05)
    assert (found["outliers"], found["share"]) == (2, 0.02)
    assert sorted(source[0] for source, _ in found["samples"]) == ["b", "c"]


def test_lines_in_another_language(tmp_path: Path) -> None:
    german = "Der Ausschuss hat gestern in Berlin beschlossen, die neue Brücke nicht zu bauen."
    found = of_text(tmp_path, [LONG, NEAR, german, "Hallo."])["sides"][0]["language"]
    assert (found["identified_as"], found["asked"], found["other"]) == ("eng", 3, 1)
    assert found["guesses"] == {"deu": 1}
    assert found["samples"] == [["deu", german]]


def test_a_neighbour_language_among_the_lines_is_seen(tmp_path: Path) -> None:
    group = next(group for group in GROUPS if "lit" in group)
    lines = [*group["lit"] * 8, *group["lav"] * 2]
    found = of_text(tmp_path, lines, lang="lt")["sides"][0]["language"]
    assert (found["asked"], found["share"], found["guesses"]) == (30, 0.2, {"lav": 6})


def test_a_language_that_the_identifier_does_not_know(tmp_path: Path) -> None:
    found = of_text(tmp_path, [LONG], lang="tlh")["sides"][0]["language"]
    assert (found["identified_as"], found["asked"], found["share"]) == (None, 0, 0.0)


def test_the_same_bytes_whatever_the_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [*sentences(300), *sentences(100), "", LONG]
    held = text(tmp_path / "held", [*sentences(20, seed=9), NEAR])
    arguments = ("--held-out-first", held, "--held-out-second", held)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    of_pair(tmp_path / "a", lines, lines[::-1], *arguments)
    monkeypatch.setattr("pipeline.checks.letters.read_blocks.__defaults__", (7,))
    of_pair(tmp_path / "b", lines, lines[::-1], *arguments)
    one, other = (tmp_path / name / "out" / "numbers.json" for name in "ab")
    first, second = one.read_text(), other.read_text()
    # examples of duplicates are looked for within a block
    assert first.split('"duplicates"')[0] == second.split('"duplicates"')[0]
    assert first.split('"length_ratio"')[1] == second.split('"length_ratio"')[1]


def test_an_empty_text_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="empty"):
        of_text(tmp_path, [])


def test_as_many_languages_as_texts(tmp_path: Path) -> None:
    lines = text(tmp_path / "a", ["a"])
    with pytest.raises(InputError, match="one text and its language"):
        numbers(main, tmp_path / "out", "--langs", "en", "ru", "--texts", lines, "--seed", "1")


def test_each_text_is_identified_by_its_own_labels_script_and_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[object, ...]] = []
    monkeypatch.setattr(checked, "make_identifier", lambda *given: asked.append(given))
    models = [str(tmp_path / name) for name in ("first", "second")]
    words = ["--langs", "en", "ru", "--texts", "a", "b", "--scripts", "Latin", "Cyrillic", "--output", "out"]
    words += ["--seed", "1"]
    words += ["--labels-first", "eng", "--labels-second", "rus"]
    words += ["--language-model-first", models[0], "--language-model-second", models[1]]
    checked._languages(checked.parse_arguments(words))
    assert asked == [(["eng"], "Latin", Path(models[0])), (["rus"], "Cyrillic", Path(models[1]))]
