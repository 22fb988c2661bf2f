"""Tests of pipeline.train.tagging: line by line what OpusTrainer's Tags makes of the same random numbers."""

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from opustrainer.modifiers.placeholders import PlaceholderTagModifier

from pipeline.alignments.icu_tokens import SPACE, tokenize
from pipeline.train.tagging import Tagging
from tests.pipeline.train import tiny

PROBABILITIES = (0.0, 0.005, 0.3, 1.0)
# Scripts with and without spaces, combining marks, what NFKC joins or splits, and what no vocabulary knows.
LETTERS = "abcXYZ019.,!?-'()àßİĳﬁ…½²ｆＡ，。あ猫カ한국ก้ำहिन्दीاَل‏אבгґѣΣς🤣👩‍👩‍👧é́<>0xE2"
texts = st.text(st.sampled_from(LETTERS + " " * 12), min_size=1, max_size=60).filter(str.strip)
tokens = st.lists(st.text("ab▁猫é…", min_size=1, max_size=3), min_size=1, max_size=9)


def tags(probability: float, pieces: bool) -> PlaceholderTagModifier:
    source, target = tiny.corpus().vocabs if pieces else (None, None)
    return PlaceholderTagModifier(probability, "icu:en", "icu:ja", source, target, augment=1, tag=0)


def drawn_links(source: list[str], target: list[str], seed: int) -> str:
    """Links between tokens; mostly sorted and distinct, as aligners write them, but not always."""
    rng = random.Random(seed)
    sides = [[i for i, token in enumerate(side) if token != SPACE] or [0] for side in (source, target)]
    links = [(rng.choice(sides[0]), rng.choice(sides[1])) for _ in range(rng.randrange(1, 12))]
    if rng.random() < 0.8:
        links = sorted(set(links))
    return " ".join(f"{i}-{j}" for i, j in links)


def same_as_opustrainer(line: str, seed: int) -> None:
    for pieces in (False, True):
        for probability in PROBABILITIES:
            theirs = tags(probability, pieces)
            ours = Tagging(theirs)
            random.seed(seed)
            expected, next_expected = theirs.apply(line), random.random()
            random.seed(seed)
            assert ours.apply(line, ours.by_chance) == expected
            assert random.random() == next_expected


@settings(max_examples=150, deadline=None)
@given(texts, texts, st.integers(0, 10**6))
@example("Hello , ｆｕｌｌ… ﬁne 🤣", "日本語，です。½", 3)
def test_lines_are_those_of_opustrainer(source: str, target: str, seed: int) -> None:
    sides = tokenize(source.strip(), "en"), tokenize(target.strip(), "ja")
    links = drawn_links(*sides, seed)
    if len(set(links.split())) == len(links.split()):  # with a link twice, OpusTrainer may go on for ever
        same_as_opustrainer(f"{' '.join(sides[0])}\t{' '.join(sides[1])}\t{links}", seed)


@settings(max_examples=100, deadline=None)
@given(tokens, tokens, st.integers(0, 10**6))
def test_tokens_with_spaces_inside_are_treated_as_by_opustrainer(
    source: list[str], target: list[str], seed: int
) -> None:
    links = " ".join(sorted(set(drawn_links(source, target, seed).split())))
    line = f"{' '.join(source)}\t{' '.join(target)}\t{links}"
    ours = Tagging(tags(0.0, pieces=True))
    try:
        expected = tags(0.0, pieces=True).apply(line)
    except RuntimeError:
        with pytest.raises(RuntimeError):
            ours.apply(line, ours.by_chance)
    else:
        assert ours.apply(line, ours.by_chance) == expected


def test_sentences_are_those_of_opustrainer() -> None:
    for seed, (source, target) in enumerate(tiny.pairs(300, seed=5)):
        sides = tokenize(source, "en"), tokenize(target, "ja")
        links = " ".join(sorted(set(drawn_links(*sides, seed).split())))
        same_as_opustrainer(f"{' '.join(sides[0])}\t{' '.join(sides[1])}\t{links}", seed)


@pytest.mark.parametrize("line", ["a\tb", "a\tb\t", "a\tb\t0-1", "a\tb\t0", "a\tb\t-1-0", "a\tb\tx-0"])
def test_lines_that_opustrainer_leaves_out_are_errors(line: str) -> None:
    theirs = tags(0.0, pieces=True)
    assert list(theirs([line])) == []
    with pytest.raises((ValueError, IndexError)):
        Tagging(theirs).apply(line, Tagging(theirs).by_chance)


def test_words_are_put_after_the_candidate_whose_turn_it_is() -> None:
    ours = Tagging(tags(1e-12, pieces=False))
    line = "a ▁ b ▁ c ▁ d\tA ▁ B ▁ C ▁ D\t0-0 2-2 4-4 6-6"
    heads = [ours.apply(line, ours.after(gap)).split("\t")[0].split(" ") for gap in range(5)]
    letters = [[word for word in head if word in tuple("abcd")] for head in heads]
    assert letters == [list("abcd")] * 5
    for gap, word in enumerate("abc"):
        assert heads[gap][: gap + 1] == list("abcd")[: gap + 1]
        assert heads[gap][gap + 1] != "abcd"[gap + 1], word
    assert heads[4] == list("abcd")


def test_a_known_result_is_given_when_no_words_are_inserted() -> None:
    ours = Tagging(tags(1e-12, pieces=False))
    line = "a ▁ b\tA ▁ B\t0-0 2-2"
    assert ours.apply(line, ours.after(2), "known") == "known"
    assert ours.apply(line, ours.after(1), "known") != "known"


def test_other_kinds_of_tags_are_left_to_opustrainer() -> None:
    assert Tagging.suits(tags(0.1, pieces=True))
    assert not Tagging.suits(PlaceholderTagModifier(0.1, "moses:en", "moses:fr", augment=1, tag=0))
    assert not Tagging.suits(PlaceholderTagModifier(0.1, augment=0.5, replace=0.5, tag=0))
