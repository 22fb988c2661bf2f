"""Planted failures of translations: found by the script, and judged by the gates."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.checks.letters import Letters
from pipeline.checks.loops import repeated_shares
from pipeline.checks.repetitions import Repetitions
from pipeline.checks.text import main
from tests.pipeline.checks.helpers import numbers, text
from translations_assets.checks.text import collapse
from translations_assets.checks.verdict import Verdict
from translations_assets.config.gates import TranslationCollapse

SYLLABLES = ["ka", "lo", "mi", "ter", "vun", "sol", "pra", "ned", "gu", "fi"]
CHINESE = "的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年"


def words(random_: random.Random, count: int) -> str:
    return " ".join("".join(random_.choices(SYLLABLES, k=3)) for _ in range(count))


def lines(count: int, seed: int = 1) -> list[str]:
    random_ = random.Random(seed)
    return [f"{words(random_, 12).capitalize()}." for _ in range(count)]


def judged(folder: Path, sources: list[str], translations: list[str]) -> tuple[Verdict, Verdict]:
    """By the real script, compared with a genuine corpus that is as long on both sides: forward, and back."""
    genuine = lines(2000, seed=7)

    def found(name: str, first: list[str], second: list[str]) -> dict[str, Any]:
        (folder / name).mkdir()
        files = text(folder / name / "a.zst", first), text(folder / name / "b.zst", second)
        return numbers(main, folder / name / "out", "--langs", "en", "xx", "--texts", *files, "--seed", "1")

    corpus = {"check_merge_corpus": {"corpus": found("corpus", genuine, lines(2000, seed=8))}}
    forward = {"check_translate_corpus": {"check": found("forward", sources, translations)}, **corpus}
    back = {"check_translate_mono_trg": {"check": found("back", translations, sources)}, **corpus}
    section = TranslationCollapse()
    return collapse(forward, section), collapse(back, section, made=0)


def both_fail(verdicts: tuple[Verdict, Verdict], told: str) -> None:
    for verdict in verdicts:
        assert not verdict.passed
        assert told in verdict.description


def test_good_translations_pass_both_ways(tmp_path: Path) -> None:
    for verdict in judged(tmp_path, lines(3000), lines(3000, seed=2)):
        assert verdict.passed, verdict.description
        assert verdict.numbers["distinct"] == 1
        assert verdict.numbers["looping"] == 0
        assert verdict.numbers["length factor"] == pytest.approx(1, abs=0.02)


def test_65778_translations_with_6891_different_ones(tmp_path: Path) -> None:
    few = lines(6891, seed=2)
    random_ = random.Random(3)
    translations = [*few, *random_.choices(few, k=65_778 - len(few))]
    verdicts = judged(tmp_path, lines(65_778), translations)
    both_fail(verdicts, "6,891 different translations of 65,778 lines")
    assert verdicts[0].numbers["distinct"] == pytest.approx(0.105, abs=0.001)


def test_sources_that_are_the_same_may_have_one_translation(tmp_path: Path) -> None:
    few, same = lines(100), lines(100, seed=2)
    for verdict in judged(tmp_path, few * 30, same * 30):
        assert verdict.passed, verdict.description


@pytest.mark.parametrize("loop", ["and the river and the house ", "对于这些国家来说", "ha "])
def test_loops(tmp_path: Path, loop: str) -> None:
    """One translation of ten begins well and does not end, until it is as long as the others."""
    translations = lines(3000, seed=2)
    for line in range(0, 3000, 10):
        translations[line] = (translations[line][:15] + loop * 50)[: len(translations[line])]
    verdicts = judged(tmp_path, lines(3000), translations)
    both_fail(verdicts, "10 % repeat themselves")
    assert loop.strip() in verdicts[0].samples[0]


def test_a_source_that_repeats_itself_may_be_translated_so(tmp_path: Path) -> None:
    song = [f"{line[:20]} " * 5 for line in lines(500)]
    same = [f"{line[:20]} " * 5 for line in lines(500, seed=2)]
    for verdict in judged(tmp_path, song, same):
        assert verdict.numbers["looping"] == 0


@pytest.mark.parametrize("cut", [0.3, 2.5])
def test_translations_that_are_too_short_or_too_long(tmp_path: Path, cut: float) -> None:
    translations = lines(3000, seed=2)
    if cut < 1:
        translations = [line[: int(len(line) * cut)] for line in translations]
    else:
        others = lines(6000, seed=4)
        translations = [
            f"{line} {others[2 * place]} {others[2 * place + 1][: len(line) // 2]}"
            for place, line in enumerate(translations)
        ]
    verdicts = judged(tmp_path, lines(3000), translations)
    both_fail(verdicts, f"they are {verdicts[0].numbers['length factor']:.2f} times as long")
    assert verdicts[0].numbers["length factor"] == pytest.approx(cut, rel=0.05)


def test_repeated_shares_are_those_that_counting_finds() -> None:
    random_ = random.Random(5)
    given = [words(random_, random_.randrange(1, 12)) * random_.randrange(1, 4) for _ in range(300)]
    given += ["", "abc", "!!", *("".join(random_.choices(CHINESE, k=30)) * 2 for _ in range(20))]
    shares = repeated_shares(given)
    for line, share in zip(given, shares, strict=True):
        letters = "".join(character for character in line if character.isalpha())
        grams = [letters[start : start + 8] for start in range(len(letters) - 7)]
        assert share == pytest.approx(1 - len(set(grams)) / len(grams) if grams else 0), line


def test_different_lines_of_a_long_text_are_estimated() -> None:
    repetitions = Repetitions(capacity=1000)
    given = lines(40_000)
    for start in range(0, len(given), 5000):
        block = given[start : start + 5000] * 2
        hashes = Letters(block).line_hashes
        repetitions.add(hashes, np.arange(len(block)), block)
    assert repetitions.distinct() == pytest.approx(40_000, rel=0.15)
