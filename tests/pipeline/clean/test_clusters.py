"""Tests of clusters of lines: what is alike comes together, by exact numbers."""

import random
import tracemalloc

import numpy as np
import pytest

from pipeline.clean import clusters
from pipeline.clean.clusters import BOXES, CLUSTERS, LENGTH, MOST, count_runs, find_clusters

KINDS = {
    "weather": ("Heute regnet es in {}, morgen scheint die Sonne.", ("Ulm", "Bonn", "Kiel", "Jena")),
    "sport": ("Der Verein {} gewinnt das Spiel im Stadion.", ("Aue", "Fürth", "Mainz", "Köln")),
    "ru": ("Сегодня в городе {} идёт дождь.", ("Псков", "Тверь", "Омск", "Пермь")),
    "zh": ("今天{}天气很好，我们去公园。", ("北京", "上海", "南京", "西安")),
}


def lines_of(kind: str, number: int) -> list[bytes]:
    """Lines of one kind, each with a number of its own."""
    form, names = KINDS[kind]
    return [f"{form.format(names[n % 4])} {n}".encode() for n in range(number)]


def text_of(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def test_no_cluster_has_lines_of_two_kinds() -> None:
    sample = [line for kind in KINDS for line in lines_of(kind, 60)]
    random.Random(1).shuffle(sample)
    found = find_clusters(sample, "seed")
    numbers = [set(found.of(text_of(lines_of(kind, 100))).tolist()) for kind in KINDS]
    assert len(set.union(*numbers)) == sum(map(len, numbers))
    assert len(set.union(*numbers)) >= len(KINDS)


def test_runs_are_counted_within_lines() -> None:
    counts = count_runs(b"abcdef\nABCDEF\nghi\n\nabcdefabcdef\n")
    assert counts.shape == (5, BOXES)
    assert counts.sum(axis=1).tolist() == [2, 2, 0, 0, 8]  # the line feed is part of the last run
    assert (counts[0] == counts[1]).all()
    assert count_runs(b"a" * 100 + b"\n").max() == MOST
    assert count_runs(b"").shape == (0, BOXES)


def test_a_line_has_the_same_cluster_beside_any_others() -> None:
    sample = [line for kind in KINDS for line in lines_of(kind, 200)]
    found = find_clusters(sample, "seed")
    alone = [int(found.of(line + b"\n")[0]) for line in sample]
    assert found.of(text_of(sample)).tolist() == alone


def test_numbers_are_whole_and_exact_in_32_bits() -> None:
    """So sums are the same in any order: the largest product is below 2 ** 24."""
    draw = random.Random(1)
    sample = [bytes(draw.choices(b"abcdefgh ", k=draw.randint(1, 3000))) for _ in range(600)]
    found = find_clusters(sample, "seed")
    assert (found.centres == np.rint(found.centres)).all()
    assert (found.weights == np.rint(found.weights)).all()
    longest = MOST * clusters.HEAVIEST * np.sqrt(BOXES)
    assert longest * (LENGTH + np.sqrt(BOXES) / 2) < 1 << 24
    exact = (count_runs(text_of(sample)) * found.weights).astype(np.int64) @ found.centres.astype(np.int64).T
    assert found.of(text_of(sample)).tolist() == exact.argmax(axis=1).tolist()


def test_the_sample_is_in_memory_twice_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """The vectors, and those of a cluster in a copy."""
    monkeypatch.setattr(clusters, "ROUNDS", 1)
    monkeypatch.setattr(clusters, "PIECE", 64)
    draw = random.Random(1)
    sample = [" ".join(str(draw.random()) for _ in range(8)).encode() for _ in range(2_048)]
    tracemalloc.start()
    find_clusters(sample, "seed")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * np.dtype(np.float32).itemsize * BOXES * len(sample)


def test_clusters_are_few_of_a_small_text_and_rich_where_text_is() -> None:
    assert find_clusters([b"one line"], "seed").number == 1
    assert find_clusters([b"the same"] * 1000, "seed").number == 1
    draw = random.Random(1)
    rich = [" ".join(str(draw.random()) for _ in range(8)).encode() for _ in range(20_000)]
    found = find_clusters(rich, "seed")
    assert found.number == CLUSTERS
    assert len(found.richness) == CLUSTERS
    poor = find_clusters([b"the same line"] * 500 + rich[:500], "seed")
    assert poor.richness[int(poor.of(b"the same line\n")[0])] < max(poor.richness)
