"""Lines of merges: each is judged as the merge judged it; beside a duplicate stands the pair in its place."""

from collections import Counter
from pathlib import Path

import pytest

from pipeline.clean import merge_mono, merge_parallel, merge_translated
from tests.pipeline.clean.helpers import corpus, read, stats_of
from tests.pipeline.samples.drawing import draw, ran, texts

SCRIPT = "pipeline.clean.merge_parallel"
LONG = "Ein ganzer Satz aus dem Test steht hier.", "Целое предложение из теста стоит здесь."
FIRST = [
    ("Guten Tag.", "Добрый день."),
    ("Hallo!", "Добрый  день."),  # the same target, and worse
    ("Ja.", "Да."),
    LONG,
    (LONG[0], "Что-то другое."),
    ("Etwas anderes.", LONG[1]),
]
SECOND = [("Aha.", "Да."), ("", "Пусто."), *((f"Satz {n}.", f"Предложение {n}.") for n in range(30))]
REASONS = {
    ("Hallo!", "Добрый  день."): "duplicate",
    ("Ja.", "Да."): "duplicate",
    LONG: "held_out_pair",
    (LONG[0], "Что-то другое."): "held_out_src",
    ("Etwas anderes.", LONG[1]): "held_out_trg",
    ("", "Пусто."): "empty",
}


def merged(folder: Path, *more: str) -> list[str]:
    options = ["--src=de", "--trg=ru", "--datasets", "opus_A/v1", "opus_B/v2", "--seed=1", *more]
    for side, lang in enumerate(("de", "ru")):
        files = [
            corpus(folder / f"{n}.{lang}.zst", [pair[side] for pair in pairs])
            for n, pairs in enumerate((FIRST, SECOND))
        ]
        options += [f"--corpus-{('src', 'trg')[side]}", *map(str, files)]
        test = corpus(folder / f"test.{lang}.zst", [LONG[side]])
        options += [f"--held-out-{('src', 'trg')[side]}", str(test)]
    scores = [["0.9", "0.5", "0.6", "1", "1", "1"], ["0.7", *["1"] * 31]]
    files = [corpus(folder / f"{n}.scores.zst", lines) for n, lines in enumerate(scores)]
    return ran(merge_parallel.main, [*options, "--scores", *map(str, files)], folder / "out")


def test_each_planted_pair_has_its_reason(tmp_path: Path) -> None:
    options = merged(tmp_path)
    found = draw(SCRIPT, tmp_path / "out", options, number=99)
    assert {tuple(row["text"]): row["reason"] for row in found["read"] if row["reason"]} == REASONS
    assert {reason: len(rows) for reason, rows in found["dropped"].items()} == stats_of(tmp_path / "out")[
        "lines"
    ]["dropped"]
    kept = [*zip(read(tmp_path / "out/corpus.de.zst"), read(tmp_path / "out/corpus.ru.zst"), strict=True)]
    assert sorted(texts(found["kept"])) == sorted(kept)
    hello = found["read"][0]
    assert (hello["dataset"], hello["line"], hello["beside"]) == ("opus_A/v1", 1, {"score": "0.9"})


def test_a_duplicate_has_the_pair_in_its_place_beside_it(tmp_path: Path) -> None:
    found = draw(SCRIPT, tmp_path / "out", merged(tmp_path), number=99)
    instead = {row["text"][0]: row["instead"] for row in found["dropped"]["duplicate"]}
    assert instead["Hallo!"]["text"] == ["Guten Tag.", "Добрый день."]
    assert (instead["Ja."]["text"], instead["Ja."]["dataset"], instead["Ja."]["line"]) == (
        ["Aha.", "Да."],
        "opus_B/v2",
        1,
    )


def test_lines_of_one_dataset(tmp_path: Path) -> None:
    found = draw(SCRIPT, tmp_path / "out", merged(tmp_path), "--dataset=opus_B/v2", number=99)
    assert found["rows"] == len(SECOND)
    assert texts(found["read"]) == SECOND
    assert {row["dataset"] for row in found["kept"]} == {"opus_B/v2"}


@pytest.mark.parametrize("more", [(), ("--weights", "1", "3")])
def test_what_a_limit_left_out(more: tuple[str, ...], tmp_path: Path) -> None:
    found = draw(SCRIPT, tmp_path / "out", merged(tmp_path, "--max-sentences=10", *more), number=99)
    assert {row["text"][0] for row in found["kept"]} == set(read(tmp_path / "out" / "corpus.de.zst"))
    assert len(found["dropped"]["sampled_out"]) == 22


@pytest.mark.parametrize("more", [(), ("--max-sentences=5",), ("--max-sentences=5", "--diverse")])
def test_text_of_one_language(more: tuple[str, ...], tmp_path: Path) -> None:
    known = corpus(tmp_path / "parallel.zst", ["Das ist bekannt."])
    lines = ["Das ist  bekannt.", "Neu.", "Neu.", "", *(f"Zeile {n} ist neu." for n in range(9))]
    text = corpus(tmp_path / "m.zst", lines)
    options = ["--lang=de", "--datasets", "news-crawl_news.2021", "--text", str(text), "--seed=1", *more]
    options = ran(merge_mono.main, [*options, f"--parallel={known}"], tmp_path / "out")
    found = draw("pipeline.clean.merge_mono", tmp_path / "out", options, number=99)
    assert Counter(row["reason"] for row in found["read"] if row["reason"]) == Counter(
        stats_of(tmp_path / "out")["lines"]["dropped"]
    )
    assert texts(found["dropped"]["in_parallel"]) == [("Das ist  bekannt.",)]
    assert sorted(row["text"][0] for row in found["kept"]) == sorted(read(tmp_path / "out" / "mono.de.zst"))


def test_translated_pairs_are_the_same_on_both_sides_only(tmp_path: Path) -> None:
    files = {
        "corpus-src": ["a b", "a b", "c"],
        "corpus-trg": ["x", "y", "z"],
        "mono-src": ["c", "d"],
        "mono-trg": ["z", "z"],
    }
    options = ["--src=de", "--trg=ru", "--seed=1"]
    options += [f"--{name}={corpus(tmp_path / f'{name}.zst', lines)}" for name, lines in files.items()]
    options = ran(merge_translated.main, options, tmp_path / "out")
    found = draw("pipeline.clean.merge_translated", tmp_path / "out", options)
    (duplicate,) = found["dropped"]["duplicate"]
    assert (duplicate["dataset"], duplicate["line"], duplicate["instead"]["dataset"]) == ("mono", 1, "corpus")
