"""Tests of merging parallel corpora, by the script's own command line."""

import tempfile
from collections import Counter
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import pstdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.clean import merged, tasks
from pipeline.clean.merge_parallel import main
from pipeline.common.errors import InputError
from pipeline.common.text import normal_form
from tests.pipeline.clean.helpers import corpus, files_of, read, run_script, stats_of

Pairs = list[tuple[str, str]]
A: Pairs = [
    ("Hello.", "Привет."),
    ("Hi.", "Привет."),
    ("Yes.", "Да."),
    ("This is a  whole test line", "Проверка"),
]
B: Pairs = [
    ("Hey.", " Привет."),
    ("Cafe", "Кафе\tи чай"),
    ("", "Пусто"),
    ("Train", "Это целая тестовая строка, да"),
]


def arguments(folder: Path, *datasets: Pairs, scores: list[list[float]] | None = None) -> list[str]:
    """The command line that merges data sets named d0, d1, …, without --output."""
    command = ["--src", "en", "--trg", "ru", "--seed", "1", "--datasets"]
    command += [f"d{n}" for n in range(len(datasets))]
    for side, option in enumerate(("--corpus-src", "--corpus-trg")):
        files = [
            corpus(folder / f"d{n}.{side}.zst", [pair[side] for pair in pairs])
            for n, pairs in enumerate(datasets)
        ]
        command += [option, *map(str, files)]
    if scores is not None:
        files = [corpus(folder / f"d{n}.scores", list(map(str, values))) for n, values in enumerate(scores)]
        command += ["--scores", *map(str, files)]
    return command


def merge(folder: Path, command: list[str], *options: object) -> Pairs:
    """Run the script and return the merged pairs."""
    main([*command, "--output", str(folder), *map(str, options)])
    return list(zip(read(folder / "corpus.en.zst"), read(folder / "corpus.ru.zst"), strict=True))


def held_out(folder: Path, src: list[str], trg: list[str]) -> list[object]:
    """The options that hold lines out."""
    return [
        "--held-out-src",
        corpus(folder / "test.en", src),
        "--held-out-trg",
        corpus(folder / "test.ru.zst", trg),
    ]


def test_one_pair_for_each_target_without_test_sentences(tmp_path: Path) -> None:
    sources = [" This is a whole test line ", "Yes.", "Cancel"]
    options = held_out(tmp_path, sources, ["Это целая тестовая строка, да", "Ага.", "Отмена"])
    strings = [("Cancel", "Отмена "), ("Cancel", "Отменить")]
    command = [*arguments(tmp_path, A, [*B, *strings]), *map(str, options), "--output", str(tmp_path / "out")]
    done = run_script("merge_parallel", *command)
    assert done.returncode == 0, done.stderr
    out = tmp_path / "out"
    kept = [("Hello.", "Привет."), ("Yes.", "Да."), ("Cafe", "Кафе и чай"), ("Cancel", "Отменить")]
    assert sorted(zip(read(out / "corpus.en.zst"), read(out / "corpus.ru.zst"), strict=True)) == sorted(kept)
    assert sorted(read(out / "sample.txt")) == sorted(map("\t".join, kept))
    stats = stats_of(out)
    held_out_ones = {"held_out_pair": 1, "held_out_src": 1, "held_out_trg": 1}
    assert stats["lines"] == {"in": 10, "kept": 4, "dropped": {"duplicate": 2, "empty": 1, **held_out_ones}}
    assert stats["datasets"] == [
        {"dataset": "d0", "in": 4, "kept": 2, "dropped": {"duplicate": 1, "held_out_src": 1}},
        {
            "dataset": "d1",
            "in": 6,
            "kept": 2,
            "dropped": {"duplicate": 1, "empty": 1, "held_out_pair": 1, "held_out_trg": 1},
        },
    ]
    assert ["Yes.", "Да."] in stats["samples"]
    assert sorted(files_of(out)) == ["corpus.en.zst", "corpus.ru.zst", "sample.txt", "stats.json"]


def test_the_best_score_wins_wherever_it_stands(tmp_path: Path) -> None:
    scores = [[0.5, 0.7, 0.1, 0.2], [0.6, 0.3, 0.0, 0.9]]
    assert ("Hi.", "Привет.") in merge(tmp_path / "one", arguments(tmp_path, A, B, scores=scores))
    scores[1][0] = 1e0
    assert ("Hey.", " Привет.") in merge(tmp_path / "two", arguments(tmp_path, A, B, scores=scores))


def test_pairs_of_data_sets_without_scores_have_the_best_one(tmp_path: Path) -> None:
    command = [*arguments(tmp_path, A, B, scores=[[0.999, 0.9, 0.1, 0.2]]), "--scored", "d0"]
    assert ("Hey.", " Привет.") in merge(tmp_path / "one", command)
    command = [*arguments(tmp_path, B, A, scores=[[1, 0.9, 0.1, 0.2]]), "--scored", "d1"]
    assert ("Hey.", " Привет.") in merge(tmp_path / "two", command)
    command = [*arguments(tmp_path, A, B, scores=[[1, 0.9, 0.1, 0.2]]), "--scored", "d0"]
    assert ("Hello.", "Привет.") in merge(tmp_path / "three", command)


def test_scores_belong_to_the_data_sets_that_scored_names_in_its_order(tmp_path: Path) -> None:
    scores = [[0.1, 0.2, 0.3, 0.4], [0.6, 0.7, 0.8, 0.9]]
    command = [*arguments(tmp_path, A, B, scores=scores), "--scored", "d1", "d0"]
    assert ("Hi.", "Привет.") in merge(tmp_path / "one", command)
    command = [*arguments(tmp_path, A, B, scores=scores), "--scored", "d0", "d1"]
    assert ("Hey.", " Привет.") in merge(tmp_path / "two", command)


def test_scores_of_data_sets_that_there_are_not(tmp_path: Path) -> None:
    command = arguments(tmp_path, A, B, scores=[[1, 1, 1, 1]])
    with pytest.raises(InputError, match="--scored names d2, which --datasets does not"):
        merge(tmp_path / "one", [*command, "--scored", "d2"])
    with pytest.raises(InputError, match="--scores 1 files"):
        merge(tmp_path / "two", [*command, "--scored", "d0", "d1"])


def test_without_scores_the_first_data_set_wins(tmp_path: Path) -> None:
    assert ("Hello.", "Привет.") in merge(tmp_path / "one", arguments(tmp_path / "ab", A, B))
    assert ("Hey.", " Привет.") in merge(tmp_path / "two", arguments(tmp_path / "ba", B, A))


LINES = st.sampled_from(["a", "b ", "cafe\u0301", "café", "caf\u00e9 ", "d", "e\u00a0f", "e f", "1 2 3 4 5"])
SCORED = st.lists(st.tuples(LINES, LINES, st.sampled_from([-1.0, 0.0, 0.5])), min_size=1, max_size=20)


@given(SCORED, SCORED, st.lists(st.tuples(LINES, LINES), max_size=3))
@settings(max_examples=40, deadline=None)
def test_targets_are_distinct_best_and_not_held_out(
    first: list[tuple[str, str, float]],
    second: list[tuple[str, str, float]],
    tests: list[tuple[str, str]],
) -> None:
    whole = {(normal_form(src), normal_form(trg)) for src, trg in tests}
    lines = [{side for side in sides if len(side.split()) >= 5} for sides in zip(*whole, strict=True)]
    rivals: dict[str, list[tuple[float, int, tuple[str, str]]]] = {}
    for line, (src, trg, score) in enumerate([*first, *second]):
        pair = (normal_form(src), normal_form(trg))
        if pair not in whole and not any(side in held for side, held in zip(pair, lines, strict=False)):
            rivals.setdefault(normal_form(trg), []).append((-score, line, (src, trg)))
    best = sorted(pair for _, _, pair in (min(group) for group in rivals.values()))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        datasets = [[row[:2] for row in rows] for rows in (first, second)]
        scores = [[row[2] for row in rows] for rows in (first, second)]
        command = arguments(folder, *datasets, scores=scores)
        options = held_out(folder, [src for src, _ in tests], [trg for _, trg in tests])
        if not best:
            with pytest.raises(InputError, match="Merging left none"):
                merge(folder / "out", command, *options)
            return
        assert sorted(merge(folder / "out", command, *options)) == best
        stats_of(folder / "out")


def test_a_sample_repeats_and_is_counted(tmp_path: Path) -> None:
    pairs = [(f"Number {n}", f"Номер {n}") for n in range(100)]
    command = arguments(tmp_path, pairs[:50], pairs[50:])
    sample = merge(tmp_path / "out", command, "--max-sentences", 30)
    assert len(set(sample)) == 30
    assert set(sample) < set(pairs)
    assert stats_of(tmp_path / "out")["lines"]["dropped"] == {"sampled_out": 70}
    merge(tmp_path / "again", command, "--max-sentences", 30)
    assert files_of(tmp_path / "out") == files_of(tmp_path / "again")
    assert merge(tmp_path / "other", command, "--max-sentences", 30, "--seed", 2) != sample
    assert sorted(merge(tmp_path / "all", command, "--max-sentences", 100)) == sorted(pairs)


def test_the_data_sets_are_mixed_and_the_seed_fixes_the_order(tmp_path: Path) -> None:
    """Of 128 neighbours, a block of training pairs, as many are of each data set as chance has it."""
    pairs = [(f"Number {n}", f"Номер {n}") for n in range(4_096)]
    command = arguments(tmp_path, pairs[:1_024], pairs[1_024:])
    text = merge(tmp_path / "out", command)
    assert sorted(text) == sorted(pairs)
    numbers = [int(src.split()[1]) for src, _ in text]
    blocks = [numbers[first : first + 128] for first in range(0, 4_096, 128)]
    shares = [sum(number < 1_024 for number in block) / 128 for block in blocks]
    chance = (0.25 * 0.75 / 128) ** 0.5
    assert 0.6 * chance < pstdev(shares) < 1.4 * chance
    assert sum(abs(one - other) == 1 for one, other in pairwise(numbers)) < 10, "neighbours are parted"
    assert merge(tmp_path / "again", command) == text
    assert merge(tmp_path / "other", command, "--seed", 2) != text


def test_the_sample_is_uniform_over_the_data_sets(tmp_path: Path) -> None:
    total, seeds = 12, 150
    pairs = [(f"Number {n}", f"Номер {n}") for n in range(total)]
    command = arguments(tmp_path, pairs[:3], pairs[3:])
    counts = Counter(
        pair
        for seed in range(seeds)
        for pair in merge(tmp_path / str(seed), command, "--max-sentences", 4, "--seed", seed)
    )
    expected = seeds * 4 / total
    # 11 degrees of freedom, p = 0.001
    assert sum((counts[pair] - expected) ** 2 / expected for pair in pairs) < 31.3


def test_the_readable_sample_has_at_most_10000_pairs(tmp_path: Path) -> None:
    pairs = [(f"Number {n}", f"Номер {n}") for n in range(10_500)]
    merge(tmp_path / "out", arguments(tmp_path, pairs))
    sample = read(tmp_path / "out" / "sample.txt")
    assert len(sample) == len(set(sample)) == 10_000
    assert set(sample) <= {"\t".join(pair) for pair in pairs}


def test_weights_say_what_data_sets_give(tmp_path: Path) -> None:
    pairs = [(f"Number {n}", f"Номер {n}") for n in range(300)]
    command = arguments(tmp_path, pairs[:100], pairs[100:])
    sample = merge(tmp_path / "out", command, "--max-sentences", 30, "--weights", 4, "0.5")
    assert len(set(sample)) == 30
    assert [lines["kept"] for lines in stats_of(tmp_path / "out")["datasets"]] == [24, 6]
    command = arguments(tmp_path, pairs[:100], pairs[100:200])
    halves = list(
        map(pairs.index, merge(tmp_path / "halves", command, "--max-sentences", 100, "--weights", 1, 1))
    )
    rows = [{row % 100 for row in halves if row // 100 == half} for half in (0, 1)]
    assert len(rows[0]) == len(rows[1]) == 50
    assert rows[0] != rows[1], "each data set has a seed of its own"
    command = arguments(tmp_path, pairs[:100], pairs[100:])
    everything = merge(tmp_path / "all", command, "--max-sentences", 150, "--weights", 100, 1)
    assert set(everything) > set(pairs[:100])


def test_weights_need_a_limit_and_one_for_each_data_set(tmp_path: Path) -> None:
    command = arguments(tmp_path, A, B)
    with pytest.raises(InputError, match="there is no --max-sentences"):
        merge(tmp_path / "one", command, "--weights", 1, 1)
    with pytest.raises(InputError, match="--weights 1 numbers"):
        merge(tmp_path / "two", command, "--max-sentences", 2, "--weights", 1)
    done = run_script("merge_parallel", *command, "--weights", 1, 0, "--output", tmp_path / "out")
    assert done.returncode == 2
    assert "0 is not above 0" in done.stderr


def test_near_duplicates_are_dropped_when_asked(tmp_path: Path) -> None:
    pairs = [("Yes.", "Да."), ("Yes!", "ДА!"), ("Test one", "Проверка 1"), ("Number 2", "Проверка 2")]
    command = arguments(tmp_path, pairs)
    assert sorted(merge(tmp_path / "exact", command)) == sorted(pairs)
    options = held_out(tmp_path, ["test: one"], ["проверка 1!"])
    assert sorted(merge(tmp_path / "near", command, "--near-duplicates", *options)) == [pairs[3], pairs[0]]


@pytest.mark.parametrize("scored", [False, True])
def test_threads_and_memory_do_not_change_the_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scored: bool
) -> None:
    pairs = [(f"Number {n}", f"Номер {n * n % 5_000}") for n in range(8_000)]
    scores = [[n * 0.7 % 1 for n in range(2_000)], [n * 0.3 % 1 for n in range(6_000)]]
    command = arguments(tmp_path, pairs[:2_000], pairs[2_000:], scores=scores if scored else None)
    monkeypatch.setattr(tasks, "SMALL", 0)
    found = []
    for threads, memory, limit in (
        (1, 2_000, 1 << 30),
        (2, 2_000, 1 << 30),
        (2, 101, 20_000),
        (1, 200, 5_000),
    ):
        monkeypatch.setenv("TRANSLATIONS_THREADS", str(threads))
        monkeypatch.setenv("TRANSLATIONS_MEMORY", str(memory))
        monkeypatch.setattr(merged, "_shuffle_limit", partial(int, limit))
        output = tmp_path / f"{threads} {memory}"
        merge(output, command, "--max-sentences", 1_000)
        found.append(files_of(output))
    assert found[0] == found[1] == found[2] == found[3]


def test_an_empty_data_set_among_others_is_fine(tmp_path: Path) -> None:
    assert merge(tmp_path / "out", arguments(tmp_path, [], A[2:3])) == A[2:3]
    assert stats_of(tmp_path / "out")["datasets"][0] == {"dataset": "d0", "in": 0, "kept": 0, "dropped": {}}


def test_an_empty_result_says_what_dropped_everything(tmp_path: Path) -> None:
    options = held_out(tmp_path, ["Yes."], ["Да."])
    with pytest.raises(InputError, match=r"none of 1 lines of d0; dropped: held_out_pair 1"):
        merge(tmp_path / "out", arguments(tmp_path, A[2:3]), *options)
    assert files_of(tmp_path / "out") == {}
    with pytest.raises(InputError, match="none of 0 lines"):
        merge(tmp_path / "none", arguments(tmp_path / "empty", []))


def test_files_must_match_the_data_sets_and_each_other(tmp_path: Path) -> None:
    command = arguments(tmp_path, A, B)
    after = command.index("d1") + 1
    with pytest.raises(InputError, match="--datasets names 3 data sets, --corpus-src 2 files"):
        merge(tmp_path / "one", [*command[:after], "d2", *command[after:]])
    with pytest.raises(InputError, match="--scores 1 files"):
        merge(tmp_path / "two", arguments(tmp_path, A, B, scores=[[1, 1, 1, 1]]))
    with pytest.raises(InputError, match="Unequal numbers of lines"):
        merge(tmp_path / "three", arguments(tmp_path, A, B, scores=[[1, 1, 1, 1], [1]]))


def test_invalid_utf8_leaves_nothing_behind(tmp_path: Path) -> None:
    command = arguments(tmp_path, A)
    (tmp_path / "broken.en").write_bytes(b"a\n\xff\nc\nd\n")
    command[command.index("--corpus-src") + 1] = str(tmp_path / "broken.en")
    done = run_script("merge_parallel", *command, "--output", tmp_path / "out")
    assert done.returncode == 1
    assert "broken.en, line 2" in done.stderr
    assert files_of(tmp_path / "out") == {}


def test_held_out_sets_need_both_sides(tmp_path: Path) -> None:
    command = arguments(tmp_path, A)
    with pytest.raises(InputError, match="1 and 0 files"):
        merge(tmp_path / "one", command, "--held-out-src", corpus(tmp_path / "t.en", ["Yes."]))
    with pytest.raises(InputError, match="lines"):
        merge(tmp_path / "two", command, *held_out(tmp_path, ["Yes.", "No."], ["Да."]))
