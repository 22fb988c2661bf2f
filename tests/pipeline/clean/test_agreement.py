"""Tests of whether the sides of pairs go together, on made-up text and by an independent reckoning."""

from __future__ import annotations

import math
import random
import statistics
from collections import Counter

import pytest

from pipeline.clean.agreement import STEP, WINDOW, agreement
from pipeline.clean.tally import Agreement, Tally

LEXICON = {
    f"word{chr(97 + one)}{chr(97 + two)}": f"vorto{chr(97 + two)}{chr(97 + one)}"
    for one in range(20)
    for two in range(20)
}
Pairs = tuple[list[str], list[str]]


def made_up(lines: int, seed: int = 1, longest: int = 20) -> Pairs:
    """Sentences of 4 to 20 words, their translations word by word, and a number in one of three."""
    draw = random.Random(seed)
    sources, targets = [], []
    for _ in range(lines):
        words = draw.choices(list(LEXICON), k=draw.randint(4, longest))
        number = f" {draw.randint(10, 9999)}" if draw.random() < 1 / 3 else ""
        sources.append(" ".join(words) + number)
        targets.append(" ".join(LEXICON[word] for word in words) + number)
    return sources, targets


def reckoned(sources: list[str], targets: list[str]) -> dict[int, float]:
    """For each distance the share of comparisons that its targets win, pair by pair, with plain loops."""

    def words(line: str) -> set[str]:
        found = "".join(sign if sign.isalnum() else " " for sign in line).split()
        return {word.casefold() for word in found if len(word) > 2 or not word.isalpha()}

    size = len(sources)
    usual = statistics.median(
        math.log2(len(target) + 4) - math.log2(len(source) + 4)
        for source, target in zip(sources, targets, strict=True)
    )
    lines_with = Counter(word for line in [*sources, *targets] for word in words(line))

    def fit(source: str, target: str) -> float:
        shared = sum(math.log2(2 * size / lines_with[word]) for word in words(source) & words(target))
        return shared / 5 - abs(math.log2(len(target) + 4) - math.log2(len(source) + 4) - usual)

    won, compared = Counter[int](), Counter[int]()
    for line in range(2, size - 2):
        fits = {away: fit(sources[line], targets[line + away]) for away in range(-2, 3)}
        for away in fits:
            for other in fits:
                if abs(fits[away] - fits[other]) > 1e-9:
                    won[away] += fits[away] > fits[other]
                    compared[away] += 1
    return {away: won[away] / compared[away] for away in compared}


def test_targets_fit_their_own_sources() -> None:
    sources, targets = made_up(WINDOW)
    found = agreement(sources, targets)
    assert (found.windows, found.apart, found.places) == (1, Counter(), [])
    assert found.fit == pytest.approx(reckoned(sources, targets)[0])
    assert found.fit > 0.85


@pytest.mark.parametrize("distance", [-2, -1, 1, 2])
def test_a_shift_is_told_with_its_distance(distance: int) -> None:
    """At 1 a source's target stands a line below it."""
    sources, targets = made_up(WINDOW + 2)
    if distance > 0:
        sources, targets = sources[distance:], targets[: len(targets) - distance]
    else:
        sources, targets = sources[: len(sources) + distance], targets[-distance:]
    found = agreement(sources[:WINDOW], targets[:WINDOW])
    assert (found.apart, found.places) == (Counter({distance: 1}), [1])
    assert found.fit == pytest.approx(reckoned(sources[:WINDOW], targets[:WINDOW])[0])
    assert found.fit < 0.55


def test_targets_of_others_fit_at_no_distance() -> None:
    sources, targets = made_up(WINDOW)
    found = agreement(sources, targets[50:] + targets[:50])
    assert found.apart == Counter({None: 1})


def test_of_each_step_the_first_lines_are_looked_at() -> None:
    sources, targets = made_up(2 * STEP + WINDOW)
    for line in range(STEP, STEP + WINDOW):  # the second window, and nothing else
        sources[line] = targets[line] = "a"
    for line in range(WINDOW, STEP):
        targets[line] = sources[line]
    found = agreement(sources, targets)
    assert found.windows == 2  # what is always the same tells nothing
    assert (found.sentences, found.copied) == (2 * WINDOW, 0)


def test_blocks_add_up_and_places_count_from_the_beginning() -> None:
    """Shifted from line 5,000 on: the blocks before it are well."""
    sources, targets = made_up(7_500)
    targets = targets[:5_000] + targets[5_001:] + targets[:1]
    whole = Tally()
    for begin in range(0, 7_500, 2_500):
        part = agreement(sources[begin : begin + 2_500], targets[begin : begin + 2_500])
        whole.add(Tally(kept=2_000, dropped=Counter({"empty": 500}), agreement=part))
    found = whole.agreement
    assert found
    assert (found.windows, found.apart, found.places) == (6, Counter({-1: 2}), [5_001, 6_251])
    assert found.to_json()["apart"] == {"-1": 2}


def test_words_that_are_left_as_they_are() -> None:
    """Four words in small letters make a sentence; names do not count, and 0.4 of the words are much."""
    pairs = [
        ("Open the file in Firefox now", "Open the file in Firefox now"),  # copied
        ("press the red button to go", "drücken Sie the red button"),  # 3 of 6
        ("press the red button to go", "drücken Sie den red button"),  # 2 of 6
        ("Open File In Firefox Now", "Open File In Firefox Now"),  # no word in small letters
        ("open the file", "open the file"),  # three words
        ("закройте все открытые файлы сейчас", "close все открытые files now"),  # 2 of 5
    ]
    found = agreement(*map(list, zip(*pairs, strict=True)))
    assert (found.sentences, found.copied, found.partly) == (4, 1, 2)
    assert found.samples == [" ||| ".join(pairs[1]), " ||| ".join(pairs[5])]


def test_vowel_signs_are_part_of_words() -> None:
    """Hindi and Marathi: two of four words are the same in one of the pairs, and letters in all."""
    pairs = [
        ("यह किताब बहुत अच्छी है", "हे पुस्तक खूप छान आहे"),
        ("कल मैं बाजार गया था", "काल मी बाजारात गेलो होतो"),
        ("सरकार नई योजना बनाती", "सरकार नवीन योजना आखते"),
    ]
    found = agreement(*map(list, zip(*pairs, strict=True)))
    assert (found.sentences, found.partly) == (3, 1)
    assert found.samples == [" ||| ".join(pairs[2])]


def test_lengths_of_translations() -> None:
    """Letters and digits count, an ideograph as three; short sources and copies do not count."""
    source = "a" * 39 + "1"
    targets = ["b" * 81, "b" * 40, "字" * 13 + "b", "b, " * 19 + "b", source, "b" * 40]
    sources = [source] * 5 + ["a" * 39]
    found = agreement(sources, targets)
    assert found.ratios.total() == 4
    lengths = found.to_json()["lengths"]
    assert isinstance(lengths, dict)
    assert lengths["pairs"] == 4
    assert lengths["quartiles"] == pytest.approx([21 / 41, 1.0, 1.0], rel=0.02)


def test_nothing_is_said_of_nothing() -> None:
    assert agreement([], []) == Agreement()
    assert Agreement().to_json()["fit"] is None
    assert agreement(["a", "b"], ["a", "b"]).windows == 0
