"""Lexical probabilities on cases computed by hand."""

from collections import Counter
from random import Random

import pytest

from pipeline.alignments.lexicon import Entry, Lexicon


def test_probabilities_are_shares_of_the_source_units_links() -> None:
    lexicon = Lexicon()
    lexicon.add([1, 2], [5, 6], [(0, 0), (0, 1), (1, 1)])
    lexicon.add([1], [5], [(0, 0)])
    assert [*lexicon.best(10)] == [Entry(5, 1, 2 / 3), Entry(6, 1, 1 / 3), Entry(6, 2, 1.0)]


def test_a_unit_without_a_link_gives_a_share_to_null_which_is_not_listed() -> None:
    lexicon = Lexicon()
    lexicon.add([3, 3, 4], [8], [(0, 0)])
    assert [*lexicon.best(10)] == [Entry(8, 3, 0.5)]


def test_only_the_likeliest_targets_are_listed_and_ties_go_by_id() -> None:
    lexicon = Lexicon()
    lexicon.add([1] * 5, [9, 7, 8, 9, 6], [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)])
    assert [entry.target for entry in lexicon.best(3)] == [9, 6, 7]


def test_a_link_outside_the_sentence_is_an_error() -> None:
    with pytest.raises(IndexError):
        Lexicon().add([1], [2], [(0, 1)])


def test_counts_do_not_depend_on_how_many_links_are_counted_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chance = Random(1)
    units = [0, 1, 2, 3, 70_000, 70_001]
    sentences = [(chance.choices(units, k=4), chance.choices(units, k=4)) for _ in range(200)]
    links = [(0, 3), (1, 1), (2, 1), (3, 0)]
    counts = Counter((source[one], target[other]) for source, target in sentences for one, other in links)
    totals = Counter(unit for source, _ in sentences for unit in source)
    wanted = [
        Entry(target, source, counts[source, target] / totals[source])
        for source in units
        for target in sorted(units, key=lambda target: (-counts[source, target], target))[:3]
    ]
    for pending in (1, 7, 10_000):
        monkeypatch.setattr("pipeline.alignments.lexicon.PENDING", pending)
        lexicon = Lexicon()
        for source, target in sentences:
            lexicon.add(source, target, links)
        assert [*lexicon.best(3)] == wanted
