"""Tests of pipeline.train.modifying: what modifiers make of a batch, beside OpusTrainer's own run of them."""

import logging
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from unittest.mock import patch

import pytest
from opustrainer import trainer
from opustrainer.modifiers.pool import make_modifier_pool
from opustrainer.modifiers.surface import TitleCaseModifier, UpperCaseModifier
from opustrainer.modifiers.typos import TypoModifier
from opustrainer.trainer import CurriculumLoader

from pipeline.alignments.icu_tokens import detokenize, tokenize
from pipeline.train import typos
from pipeline.train.curriculum import Modifier
from pipeline.train.modifying import Modifying
from pipeline.train.pairs import PairMaker
from pipeline.train.tagging import Tagging
from tests.pipeline.train import tiny
from tests.pipeline.train.test_feed import curriculum

LINES = 40_000
OPUSTRAINER_CHUNK = 128
SIGMAS = 4.5


def config(modifiers: Sequence[Modifier], columns: int = 3) -> dict[str, Any]:
    names = {"datasets": {"o": "x"}, "stages": ["s"], "s": ["o 1.0", "until o inf"]}
    return {**names, "modifiers": list(modifiers), "seed": 1, "num_fields": columns}


def changed(name: str, **probabilities: float) -> list[Modifier]:
    """A curriculum's modifiers with other probabilities, those not named left out but for Tags."""
    return [
        {**modifier, **{key: probabilities[key] for key in probabilities if key in modifier}}
        for modifier in curriculum(name).modifiers
        if "Tags" in modifier or set(modifier) & set(probabilities)
    ]


def aligned(number: int) -> list[str]:
    """Different pairs as ICU tokens with an alignment."""
    rows = []
    for source, target in dict.fromkeys(tiny.pairs(number, seed=1)):
        sides = tokenize(source, "en"), tokenize(target, "eo")
        words = [[i for i, token in enumerate(side) if token != "▁"] for side in sides]
        links = " ".join(f"{i}-{j}" for i, j in zip(*words, strict=False))
        rows.append("\t".join([" ".join(sides[0]), " ".join(sides[1]), links]))
    return rows


def by_opustrainer(modifiers: Sequence[Modifier], lines: list[str], seed: int = 1) -> list[str]:
    """Lines modified by OpusTrainer itself."""
    typos.install()
    random.seed(seed)
    own = {"UpperCase": UpperCaseModifier, "TitleCase": TitleCaseModifier}
    with patch.dict(trainer.MODIFIERS, own):
        made = CurriculumLoader().load(config(modifiers)).modifiers
    with make_modifier_pool(made, 0) as pool:
        return list(pool.map(lines, OPUSTRAINER_CHUNK))


def with_pieces(lines: list[str]) -> list[str]:
    """Lines as they are prepared for guided alignment."""
    maker = PairMaker(tiny.corpus().vocabs, 1000, aligned=True, link_pieces=True)
    made, _ = maker([line.split("\t") for line in lines])
    assert len(made) == len(lines)
    return made


def shares(lines: Iterable[str], plain: Mapping[str, object]) -> Counter[str]:
    """Number of lines that show each modifier's traces."""
    traces: dict[str, Callable[[str, str], bool]] = {
        "as they were": lambda source, target: f"{source}\t{target}" in plain,
        "upper case": lambda source, target: source.isupper() and source.isascii(),
        "title case": lambda source, target: source == source.title() and source.isascii(),
        "without end": lambda source, target: source[-1].isalpha() and target[-1].isalpha(),
        "made-up words": lambda source, target: not target.isascii() or len(target.split()) > 7,
        "source alone": lambda source, target: target in targets and f"{source}\t{target}" not in plain,
        "long words": lambda source, target: max(map(len, source.split())) > 6,
    }
    targets = {line.split("\t")[1] for line in plain}
    counts: Counter[str] = Counter()
    for line in lines:
        source, target = line.split("\t")[:2]
        counts.update(name for name, shows in traces.items() if shows(source, target))
        counts["lines"] += 1
    return counts


@pytest.mark.slow
@pytest.mark.parametrize("name", ["student", "teacher.one-stage"])
def test_shares_of_lines_are_those_of_opustrainer(name: str) -> None:
    """40,000 lines each way: the difference of two counts is within so many standard deviations."""
    few = aligned(2000)
    modifiers = curriculum(name).modifiers
    theirs = by_opustrainer(modifiers, [few[n % len(few)] for n in range(LINES)])
    prepared = with_pieces(few)
    modifying = Modifying(config(modifiers))
    assert modifying.by_line
    ours = [
        line
        for first in range(0, LINES, 10_000)
        for line in modifying.batch(
            [prepared[n % len(few)] for n in range(first, first + 10_000)], f"{first}"
        )
    ]
    texts = {"\t".join(detokenize(side.split()) for side in line.split("\t")[:2]): None for line in few}
    counts = shares(ours, texts), shares(theirs, texts)
    assert counts[0].keys() == counts[1].keys()
    for trace in counts[0]:
        one, other = counts[0][trace], counts[1][trace]
        assert min(one, other) > 10
        assert abs(one - other) < SIGMAS * (one + other) ** 0.5, (trace, one, other)
    added = counts[0]["lines"] - LINES
    assert 5 < added < 40  # Noise: 20 ± 4.5
    assert {line.count("\t") for line in ours} == {line.count("\t") for line in theirs}


@pytest.mark.parametrize("name", ["student", "teacher.one-stage"])
@pytest.mark.parametrize("pieces", [True, False])
def test_what_is_certain_is_done_as_by_opustrainer(name: str, pieces: bool) -> None:
    lines = aligned(300)
    lines += [line.replace(" .\t", " ?\t", 1) for line in lines[:100]]  # other ends on both sides
    modifiers = changed(name, UpperCase=0, TitleCase=1, RemoveEndPunct=1, Typos=0, Noise=0, Tags=0)
    given = with_pieces(lines) if pieces else lines
    ours = Modifying(config(modifiers)).batch(given, "x")
    assert sorted(ours) == sorted(by_opustrainer(modifiers, lines))


@pytest.mark.parametrize("name", ["student", "teacher.one-stage"])
def test_ends_are_cut_off_as_by_opustrainer_without_looking_at_pieces_again(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = aligned(300)
    lines += [line.replace(" .\t", " ?\t", 1) for line in lines[:100]]  # other ends on both sides
    modifiers = changed(name, RemoveEndPunct=1, Tags=0)
    expected = by_opustrainer(modifiers, lines)
    assert sum(not line.split("\t")[0].endswith(".") for line in expected) > 200
    given = with_pieces(lines)

    def never(*_: object) -> str:
        raise AssertionError("a line went through Tags")

    modifying = Modifying(config(modifiers))
    assert sorted(modifying.batch(lines, "x")) == sorted(expected)
    monkeypatch.setattr(Tagging, "apply", never)
    assert sorted(modifying.batch(given, "x")) == sorted(expected)


@pytest.mark.parametrize("name", ["student", "teacher.one-stage"])
def test_a_line_that_has_lost_all_links_with_its_end_is_left_out_as_by_tags(name: str) -> None:
    lines = ["a ▁ house .\tla ▁ domo .\t3-3", "a ▁ house .\tla ▁ domo .\t0-0 3-3"]
    modifiers = changed(name, RemoveEndPunct=1, Tags=0)
    expected = by_opustrainer(modifiers, lines)
    assert len(expected) == 1
    assert expected[0].startswith("a house\tla domo")
    for given in (lines, with_pieces(lines)):
        assert Modifying(config(modifiers)).batch(given, "x") == expected


def test_prepared_ends_change_nothing_but_the_time() -> None:
    """Not for lines that other modifiers change before or after, nor for those that get words."""
    lines = aligned(1000)
    chances = {"UpperCase": 0.2, "RemoveEndPunct": 0.6, "Typos": 0.3, "Noise": 0.1, "Tags": 0.05}
    modifying = Modifying(config(changed("student", **chances)))
    assert modifying.batch(with_pieces(lines), "x") == modifying.batch(lines, "x")


@pytest.mark.parametrize("name", ["student", "teacher.one-stage"])
def test_lines_that_no_modifier_touches_are_done_as_by_opustrainer(name: str) -> None:
    lines = aligned(300)
    modifiers = changed(name, Tags=0)
    for given in (with_pieces(lines), lines):
        assert sorted(Modifying(config(modifiers)).batch(given, "x")) == sorted(
            by_opustrainer(modifiers, lines)
        )


def test_prepared_links_change_nothing_but_the_time() -> None:
    lines = aligned(1000)
    modifying = Modifying(config(changed("student", UpperCase=0.1, Typos=0.2, Noise=0.1, Tags=0.05)))
    assert modifying.batch(with_pieces(lines), "x") == modifying.batch(lines, "x")


def test_prepared_links_are_taken_as_they_are() -> None:
    line = aligned(1)[0]
    (done,) = Modifying(config(changed("student", Tags=0))).batch([f"{line}\tprepared\t"], "x")
    assert done.split("\t")[2] == "prepared"


def test_the_seed_decides() -> None:
    lines = aligned(500)
    modifying = Modifying(config(curriculum("teacher.one-stage").modifiers))
    assert modifying.batch(lines, "1") == modifying.batch(lines, "1")
    assert modifying.batch(lines, "1") != modifying.batch(lines, "2")


def test_lines_come_in_a_random_order() -> None:
    lines = [f"source {n}\ttarget {n}" for n in range(1000)]
    shuffled = Modifying(config([], columns=2)).batch(lines, "x")
    assert sorted(shuffled) == sorted(lines)
    places = [lines.index(line) for line in shuffled]
    assert sum(abs(place - n) for n, place in enumerate(places)) / 1000 == pytest.approx(1000 / 3, rel=0.1)


def test_plain_text_is_modified_too() -> None:
    lines = [f"source {n}.\ttarget {n}." for n in range(1000)]
    done = Modifying(config([{"UpperCase": 0.3}, {"RemoveEndPunct": 0.5}], columns=2)).batch(lines, "x")
    assert {line.count("\t") for line in done} == {1}
    assert 250 < sum(line.isupper() for line in done) < 350
    assert 430 < sum(not line.endswith(".") for line in done) < 570


def test_noise_is_added_and_modified_by_what_follows_it() -> None:
    lines = [f"source {n}\ttarget {n}" for n in range(1000)]
    modifiers = [{"Noise": 0.5}, {"Prefix": 1.0, "min_words": 1, "max_words": 1}]
    done = Modifying(config(modifiers, columns=2)).batch(lines, "x")
    assert 1430 < len(done) < 1570
    assert all(line.startswith("__start__ ") for line in done)


def test_modifiers_of_several_lines_go_through_opustrainer() -> None:
    modifying = Modifying(config([{"Merge": 1.0, "min_lines": 2, "max_lines": 2}], columns=2))
    assert not modifying.by_line
    done = modifying.batch([f"s{n}\tt{n}" for n in range(10)], "x")
    assert sorted(done) == sorted(f"s{n} s{n + 1}\tt{n} t{n + 1}" for n in range(0, 10, 2))


def test_tags_for_other_tokens_go_through_opustrainer() -> None:
    modifying = Modifying(config([{"Tags": 1.0, "custom_detok_src": None, "custom_detok_trg": None}]))
    assert not modifying.by_line
    (done,) = modifying.batch(["a b\tA B\t0-0 1-1\t0-0 1-1"], "x")
    assert done == "__source__ a __target__ A __done__ __source__ b __target__ B __done__\tA B"


def test_a_line_at_which_a_modifier_fails_is_left_out(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: TypoModifier, line: str) -> str:
        raise AssertionError("the word count has changed")

    lines = aligned(50)
    monkeypatch.setattr(TypoModifier, "apply", fail)
    modifying = Modifying(config(changed("teacher.one-stage", Typos=0.5, TitleCase=0.5, Tags=0)))
    with caplog.at_level(logging.WARNING):
        done = modifying.batch(lines, "x")
    assert 10 < len(done) < 40
    assert len(done) + caplog.text.count("A line is left out: TypoModifier failed") == len(lines)


def test_a_line_whose_links_are_wrong_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    modifying = Modifying(config(changed("student", Tags=0)))
    assert modifying.batch(["a\tb\t0-1"], "x") == []
    assert "A line is left out: Tags failed" in caplog.text


def test_a_line_that_lost_its_end_keeps_what_is_done_to_it_afterwards() -> None:
    """Whichever modifiers a config puts behind RemoveEndPunct."""
    lines = aligned(100)
    modifiers = [{"RemoveEndPunct": 1.0}, *changed("student", UpperCase=1, Tags=0)]
    expected = by_opustrainer(modifiers, lines)
    assert all(line.split("\t")[0].isupper() and line.split("\t")[0][-1].isalpha() for line in expected)
    for given in (lines, with_pieces(lines)):
        assert sorted(Modifying(config(modifiers)).batch(given, "x")) == sorted(expected)
