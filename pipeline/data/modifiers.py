"""The variants of test and dev sets: OpusTrainer's modifiers, one line at a time, seeded by its number."""

import random
import re
from collections.abc import Callable, Mapping, Sequence

from opustrainer.modifiers.noise import NoiseModifier
from opustrainer.modifiers.placeholders import PlaceholderTagModifier
from opustrainer.modifiers.punctuation import RemoveEndPunctuationModifier
from opustrainer.modifiers.surface import TitleCaseModifier, UpperCaseModifier
from opustrainer.modifiers.typos import TypoModifier
from opustrainer.types import Modifier

from pipeline.common.errors import InputError
from pipeline.data.imports import SEED, one_line
from pipeline.data.parallel import Pair

ALWAYS = 1.0
MIXED = 0.05  # share of the lines that each modifier of a mix changes
INLINE = 0.05  # chance of noise at each aligned word
INLINE_MIXED = 0.01
TYPOS_PER_LINE = 4

ALIGNED = ("inline-noise", "mix", "mix-nocase", "mix-cjk")  # those that need word alignments


def _typos(probability: float) -> Modifier:
    kinds = random.sample(list(TypoModifier.modifiers), TYPOS_PER_LINE)
    return TypoModifier(probability, **dict.fromkeys(kinds, ALWAYS))


def _mix(bicameral: bool, phonemic: bool) -> list[Modifier]:
    """Noise lines come late, so that nothing changes them; inline noise drops the links, and comes last."""
    case = [TitleCaseModifier(MIXED), UpperCaseModifier(MIXED)] if bicameral else []
    spelling = [_typos(MIXED)] if phonemic else []
    noise = [NoiseModifier(MIXED), PlaceholderTagModifier(INLINE_MIXED, augment=1)]
    return [RemoveEndPunctuationModifier(MIXED), *case, *spelling, *noise]


# Each makes its modifiers anew for a line; whether the source's script has two cases, and spells sounds.
MODIFIERS: Mapping[str, Callable[[bool, bool], Sequence[Modifier]]] = {
    "upper": lambda *_: [UpperCaseModifier(ALWAYS)],
    "title": lambda *_: [TitleCaseModifier(ALWAYS)],
    "typos": lambda *_: [_typos(ALWAYS)],
    "punct": lambda *_: [RemoveEndPunctuationModifier(ALWAYS)],
    "noise": lambda *_: [NoiseModifier(ALWAYS)],
    "inline-noise": lambda *_: [PlaceholderTagModifier(INLINE, augment=1)],
    "mix": _mix,
    "mix-nocase": lambda _, phonemic: _mix(bicameral=False, phonemic=phonemic),
    "mix-cjk": lambda *_: _mix(bicameral=False, phonemic=False),
}


def modify(
    pair: Pair,
    modifier: str,
    number: int,
    *,
    links: str = "",
    bicameral: bool = False,
    phonemic: bool = False,
) -> list[Pair]:
    """A pair's variant, after the pair of noise that some modifiers add; a pair with an empty side as it is.

    `links` are the word alignments `0-0 2-1` by position among what white space separates. OpusTrainer draws
    from Python's global generator, which is seeded here by the line's number: a line's variant does not
    depend on the lines before it.
    """
    src, trg = map(one_line, pair)
    if not src.strip() or not trg.strip():
        return [(src, trg)]
    random.seed(f"{SEED} {modifier} {number}")
    lines = ["\t".join((src, trg, links) if links else (src, trg))]
    for step in MODIFIERS[modifier](bicameral, phonemic):
        lines = [new for line in lines for new in _applied(step, line)]
    return [_sides(line) for line in lines]


def _applied(modifier: Modifier, line: str) -> list[str]:
    """What a modifier makes of a line; inline noise needs a line with links, and drops others."""
    if isinstance(modifier, PlaceholderTagModifier) and not re.search(r"\t\d+-\d+[^\t]*$", line):
        return [line]
    lines = list(modifier([line]))
    if not lines:  # OpusTrainer passes over what it cannot work with
        raise InputError(f"The alignments do not belong to the corpus; they do not fit {line[:80]!r}.")
    return lines


def _sides(line: str) -> Pair:
    src, trg, *_ = line.split("\t")
    return src, trg
