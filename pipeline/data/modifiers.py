"""The variants of test and dev sets: the modifiers of training, one line at a time, seeded by its number."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from opustrainer.modifiers.noise import NoiseModifier
from opustrainer.modifiers.placeholders import PlaceholderTagModifier
from opustrainer.modifiers.punctuation import RemoveEndPunctuationModifier
from opustrainer.modifiers.typos import TypoModifier
from opustrainer.types import Modifier

from pipeline.common.errors import InputError
from pipeline.data.imports import SEED, one_line
from pipeline.data.parallel import Pair
from pipeline.data.word_links import SPACE
from pipeline.train.casing import TitleCase, UpperCase

ALWAYS = 1.0
MIXED = 0.05  # share of the lines that each modifier of a mix changes
INLINE = 0.05  # chance of noise at each aligned word
INLINE_MIXED = 0.01
TYPOS_PER_LINE = 4

ALIGNED = ("inline-noise", "mix", "mix-nocase", "mix-cjk")  # those that need word alignments


@dataclass(frozen=True)
class Languages:
    """A pair's languages, as ICU's locales; whether the source's script has two cases, and spells sounds."""

    src: str
    trg: str
    bicameral: bool = False
    phonemic: bool = False


def _upper(probability: float, languages: Languages) -> Modifier:
    return UpperCase(probability, languages.src, languages.trg)


def _title(probability: float, languages: Languages) -> Modifier:
    return TitleCase(probability, languages.src, languages.trg)


def _typos(probability: float) -> Modifier:
    kinds = random.sample(list(TypoModifier.modifiers), TYPOS_PER_LINE)
    return TypoModifier(probability, **dict.fromkeys(kinds, ALWAYS))


def _mix(languages: Languages, case: bool = True, spelling: bool = True) -> list[Modifier]:
    """Noise lines come late, so that nothing changes them; inline noise drops the links, and comes last."""
    cased = [_title(MIXED, languages), _upper(MIXED, languages)] if case and languages.bicameral else []
    misspelt = [_typos(MIXED)] if spelling and languages.phonemic else []
    noise = [NoiseModifier(MIXED), PlaceholderTagModifier(INLINE_MIXED, augment=1)]
    return [RemoveEndPunctuationModifier(MIXED), *cased, *misspelt, *noise]


# Each makes its modifiers anew for a line.
MODIFIERS: Mapping[str, Callable[[Languages], Sequence[Modifier]]] = {
    "upper": lambda languages: [_upper(ALWAYS, languages)],
    "title": lambda languages: [_title(ALWAYS, languages)],
    "typos": lambda _: [_typos(ALWAYS)],
    "punct": lambda _: [RemoveEndPunctuationModifier(ALWAYS)],
    "noise": lambda _: [NoiseModifier(ALWAYS)],
    "inline-noise": lambda _: [PlaceholderTagModifier(INLINE, augment=1)],
    "mix": _mix,
    "mix-nocase": lambda languages: _mix(languages, case=False),
    "mix-cjk": lambda languages: _mix(languages, case=False, spelling=False),
}


def modify(pair: Pair, modifier: str, number: int, languages: Languages, links: str = "") -> list[Pair]:
    """A pair's variant, after the pair of noise that some modifiers add; a pair with an empty side as it is.

    `links` are the word alignments `0-0 2-1` by position among what white space separates. OpusTrainer draws
    from Python's global generator, which is seeded here by the line's number: a line's variant does not
    depend on the lines before it. Raises InputError for links between words that the pair does not have.
    """
    src, trg = map(one_line, pair)
    if not src.strip() or not trg.strip():
        return [(src, trg)]
    if len(_inside(links, *(side.replace(SPACE, " ") for side in (src, trg)))) < len(links.split()):
        raise InputError(f"The alignments do not belong to the corpus; they do not fit {src[:80]!r}.")
    random.seed(f"{SEED} {modifier} {number}")
    lines = ["\t".join((src, trg, links) if links else (src, trg))]
    for step in MODIFIERS[modifier](languages):
        lines = [new for line in lines for new in _applied(step, line)]
    *added, (new_src, new_trg) = map(_sides, lines)
    if modifier in ALIGNED:
        new_src, new_trg = _with_spaces(new_src, src), _with_spaces(new_trg, trg)
    return [*added, (new_src, new_trg)]


def _applied(modifier: Modifier, line: str) -> list[str]:
    """What a modifier makes of a line; inline noise needs a line with links, and drops others.

    Other modifiers leave links behind a line's end, as they part words otherwise; these are left out.
    """
    if not isinstance(modifier, PlaceholderTagModifier):
        return list(modifier([line]))
    src, trg, *links = line.split("\t")
    inside = _inside(" ".join(links), src, trg)
    return list(modifier(["\t".join((src, trg, " ".join(inside)))])) if inside else [line]


def _inside(links: str, src: str, trg: str) -> list[str]:
    """The links `0-0` between words that both sides have."""
    sizes = (len(src.split()), len(trg.split()))

    def fits(link: str) -> bool:
        return all(int(word) < size for word, size in zip(link.split("-"), sizes, strict=True))

    return [link for link in links.split() if fits(link)]


def _with_spaces(new: str, old: str) -> str:
    """A side with the white space that it had, where inline noise has changed no more than that."""
    return old if new == " ".join(old.split()) else new


def _sides(line: str) -> Pair:
    src, trg, *_ = line.split("\t")
    return src, trg
