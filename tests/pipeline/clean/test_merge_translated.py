"""Tests of merging the student's training text, by the script's own command line."""

from pathlib import Path

import pytest

from pipeline.clean import merged, tasks
from pipeline.clean.merge_translated import main
from pipeline.common.errors import InputError
from tests.pipeline.clean.helpers import corpus, files_of, read, run_script, stats_of

TESTS = ("I have a test for you.", "У меня есть тест для тебя.")
CORPUS = [("Yes.", "Да."), ("No.", "Нет."), (TESTS[0], "Проверка"), ("Yes.", "Да. "), ("Yes.", "Ага.")]
MONO = [("Tea", "Чай"), (" No.", "Нет."), ("Tea\tset", TESTS[1]), ("", "Пусто")]


def part(folder: Path, name: str, pairs: list[tuple[str, str]]) -> list[str]:
    """The options for one part of the text."""
    src = corpus(folder / f"{name}.en.zst", [src for src, _ in pairs])
    trg = corpus(folder / f"{name}.ru.zst", [trg for _, trg in pairs])
    return [f"--{name}-src", str(src), f"--{name}-trg", str(trg)]


def arguments(folder: Path, output: str = "out", seed: int = 1) -> list[str]:
    """The options that every run has."""
    return ["--src", "en", "--trg", "ru", "--seed", str(seed), "--output", str(folder / output)]


def pairs_of(output: Path) -> list[tuple[str, ...]]:
    """The merged pairs."""
    return list(zip(read(output / "corpus.en.zst"), read(output / "corpus.ru.zst"), strict=True))


def test_pairs_are_distinct_and_not_held_out(tmp_path: Path) -> None:
    held_out = ["--held-out-src", corpus(tmp_path / "t.en", [f"{TESTS[0]} ", "No."])]
    held_out += ["--held-out-trg", corpus(tmp_path / "t.ru", [f" {TESTS[1]}", "Нет."])]
    parts = [*part(tmp_path, "corpus", CORPUS), *part(tmp_path, "mono", MONO)]
    done = run_script("merge_translated", *arguments(tmp_path), *parts, *held_out)
    assert done.returncode == 0, done.stderr
    expected = [("No.", "Нет."), ("Tea", "Чай"), ("Yes.", "Ага."), ("Yes.", "Да.")]
    assert sorted(pairs_of(tmp_path / "out")) == expected
    assert sorted(read(tmp_path / "out" / "sample.txt")) == ["\t".join(pair) for pair in expected]
    stats = stats_of(tmp_path / "out")
    assert [lines["dataset"] for lines in stats["datasets"]] == ["corpus", "mono"]
    assert stats["datasets"][0]["dropped"] == {"held_out_src": 1, "duplicate": 1}
    assert stats["datasets"][1]["dropped"] == {"duplicate": 1, "held_out_trg": 1, "empty": 1}


def test_the_order_is_random_and_the_seed_fixes_it(tmp_path: Path) -> None:
    pairs = [(f"Number {n}", f"Номер {n}") for n in range(300)]
    command = part(tmp_path, "corpus", pairs)
    for output, seed in (("one", 1), ("two", 1), ("three", 2)):
        main([*arguments(tmp_path, output, seed), *command])
    assert sorted(pairs_of(tmp_path / "one")) == sorted(pairs)
    assert pairs_of(tmp_path / "one") not in (pairs, pairs_of(tmp_path / "three"))
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")


def test_memory_and_threads_do_not_change_the_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [(f"Number {n}", f"Номер {n}") for n in range(3_000)]
    command = part(tmp_path, "corpus", pairs)
    main([*arguments(tmp_path, "memory"), *command])
    monkeypatch.setattr(tasks, "SMALL", 0)
    monkeypatch.setattr(merged, "_shuffle_limit", lambda: 5_000)
    monkeypatch.setenv("TRANSLATIONS_THREADS", "2")
    main([*arguments(tmp_path, "disk"), *command])
    assert files_of(tmp_path / "memory") == files_of(tmp_path / "disk")
    assert sorted(pairs_of(tmp_path / "disk")) == sorted(pairs)


def test_unequal_lengths_are_an_error(tmp_path: Path) -> None:
    command = part(tmp_path, "corpus", CORPUS)
    command[3] = str(corpus(tmp_path / "short.ru", ["Да."]))
    with pytest.raises(InputError, match=r"Unequal numbers of lines: .*short\.ru ends after 1 lines"):
        main([*arguments(tmp_path), *command])
    assert files_of(tmp_path / "out") == {}


def test_one_mono_side_alone_is_an_error(tmp_path: Path) -> None:
    mono = part(tmp_path, "mono", MONO)[:2]
    with pytest.raises(InputError, match="only one is given"):
        main([*arguments(tmp_path), *part(tmp_path, "corpus", CORPUS), *mono])


def test_an_empty_result_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none of 0 lines of corpus; dropped: nothing, there were none"):
        main([*arguments(tmp_path), *part(tmp_path, "corpus", [])])
