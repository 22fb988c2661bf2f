"""Tests of merging texts of one language, by the script's own command line."""

from pathlib import Path

import pytest

from pipeline.clean.merge_mono import main
from pipeline.common.errors import InputError
from tests.pipeline.clean.helpers import corpus, files_of, read, run_script, stats_of


def arguments(folder: Path, *texts: list[str], parallel: list[str]) -> list[str]:
    """The command line that merges Russian data sets named d0, d1, …, without --output."""
    names = [f"d{n}" for n in range(len(texts))]
    files = [str(corpus(folder / f"{name}.zst", lines)) for name, lines in zip(names, texts, strict=True)]
    known = str(corpus(folder / "parallel.zst", parallel))
    return ["--lang", "ru", "--seed", "1", "--datasets", *names, "--text", *files, "--parallel", known]


def test_lines_are_new_and_not_held_out(tmp_path: Path) -> None:
    first = ["Да.", "Нет.", "Чай", "Ёлка", ""]
    second = [" Нет.", "Кофе", "Тест", "Это  строка из пяти слов", "Кафе\tи чай"]
    command = arguments(tmp_path, first, second, parallel=["Чай ", "Е\u0308лка", "Чай"])
    held_out = corpus(tmp_path / "test.ru", ["Тест ", "Это строка из пяти слов", ""])
    done = run_script("merge_mono", *command, "--held-out", held_out, "--output", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    kept = ["Да.", "Нет.", "Кофе", "Тест", "Кафе и чай"]  # a string that a test set has, too
    assert sorted(read(tmp_path / "out" / "mono.ru.zst")) == sorted(kept)
    assert sorted(read(tmp_path / "out" / "sample.txt")) == sorted(kept)
    stats = stats_of(tmp_path / "out")
    dropped = {"in_parallel": 2, "empty": 1, "duplicate": 1, "held_out": 1}
    assert stats["lines"] == {"in": 10, "kept": 5, "dropped": dropped}
    assert stats["datasets"][1]["dropped"] == {"duplicate": 1, "held_out": 1}
    assert "Да." in stats["samples"]


def test_a_sample_is_shuffled_and_repeats(tmp_path: Path) -> None:
    lines = [f"Номер {n}" for n in range(200)]
    command = arguments(tmp_path, lines[:120], lines[120:], parallel=[])
    for name in ("one", "two"):
        main([*command, "--max-sentences", "50", "--output", str(tmp_path / name)])
    sample = read(tmp_path / "one" / "mono.ru.zst")
    assert len(set(sample)) == 50
    assert set(sample) < set(lines)
    assert sample != [line for line in lines if line in sample]
    early = [lines.index(line) < 120 for line in sample]
    assert any(early[30:])
    assert not all(early[:20])
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")


def test_an_empty_result_says_what_dropped_everything(tmp_path: Path) -> None:
    command = arguments(tmp_path, ["Да.", "Да."], parallel=["Да."])
    with pytest.raises(InputError, match=r"none of 2 lines of d0; dropped: in_parallel 2"):
        main([*command, "--output", str(tmp_path / "out")])
    assert files_of(tmp_path / "out") == {}


def test_the_limit_must_be_positive(tmp_path: Path) -> None:
    command = arguments(tmp_path, ["Да."], parallel=[])
    done = run_script("merge_mono", *command, "--max-sentences", 0, "--output", tmp_path / "out")
    assert done.returncode == 2
    assert "--max-sentences" in done.stderr
