"""Put noise into a share of source lines, whose translations stay: clean answers to noisy questions.

A teacher has translated the lines as they were, so a student learns to read what people type as if it were
clean. A line gets noise of one kind at most, drawn by the line's number:

typos         four kinds of typing errors, as in the variant `typos` of test sets
upper-case    all letters are capitals
lower-case    no letter is a capital
punctuation   what ends the line is left out
spacing       one space too many or too few

    python -m pipeline.data.noise_source --src en --trg eo --shares '{"typos": 0.1, "upper-case": 0.05}' \\
        --corpus-src corpus.en.zst --corpus-trg corpus.eo.zst --output noisy

A line that noise leaves as it is counts as clean: one without capitals, without a space.
"""

import argparse
import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random

from pipeline.common.case import lower, upper
from pipeline.common.errors import InputError
from pipeline.common.script import run
from pipeline.data.corpus_script import corpus_parser, write_corpus
from pipeline.data.modifiers import Languages, modify
from pipeline.data.parallel import Pair
from pipeline.data.texts import file_pairs

CLEAN = "clean"


def main(argv: Sequence[str] | None = None) -> None:
    """Write corpus.{src}.zst, corpus.{trg}.zst and stats.json with the number of lines of each kind."""
    args = _arguments(argv)
    shares = _shares(args.shares)
    counts: Counter[str] = Counter(dict.fromkeys((*shares, CLEAN), 0))
    pairs = _noisy(file_pairs(args.corpus_src, args.corpus_trg), shares, args.src, args.trg, counts)

    def stats(written: int) -> dict[str, object]:
        return {"lines": {"in": written, "kept": written, "dropped": {}}, "noise": dict(counts)}

    write_corpus(args, pairs, stats)


def noisy(kind: str, text: str, number: int, src: str, trg: str) -> str:
    """A line with noise of a kind; `number` draws its errors."""
    return _KINDS[kind](text, number, Languages(src, trg))


def _noisy(
    pairs: Iterator[Pair], shares: Mapping[str, float], src: str, trg: str, counts: Counter[str]
) -> Iterator[Pair]:
    for number, (source, target) in enumerate(pairs):
        kind = _drawn(shares, Random(f"noise {number}").random())
        changed = noisy(kind, source, number, src, trg) if kind else source
        counts[kind if changed != source else CLEAN] += 1
        yield changed, target


def _drawn(shares: Mapping[str, float], number: float) -> str:
    """The kind into whose share a number from 0 to 1 falls; nothing beyond all shares."""
    for kind, share in shares.items():
        if number < share:
            return kind
        number -= share
    return ""


def _misspelt(text: str, number: int, languages: Languages) -> str:
    return modify((text, text), "typos", number, languages)[-1][0]


def _without_end(text: str, number: int, languages: Languages) -> str:
    end = len(text)
    while end and unicodedata.category(text[end - 1])[0] in "PZ":
        end -= 1
    return text[:end] or text


def _spaced(text: str, number: int, languages: Languages) -> str:
    random = Random(f"spacing {number}")
    inside = [place for place in range(1, len(text)) if not text[place - 1 : place + 1].isspace()]
    if not inside:
        return text
    place = random.choice(inside)
    spaces = [at for at, character in enumerate(text) if character == " "]
    if spaces and random.random() < 0.5:
        gone = random.choice(spaces)
        return text[:gone] + text[gone + 1 :]
    return f"{text[:place]} {text[place:]}"


# Each is given a line, its number and the languages.
_KINDS: Mapping[str, Callable[[str, int, Languages], str]] = {
    "typos": _misspelt,
    "upper-case": lambda text, number, languages: upper(text, languages.src),
    "lower-case": lambda text, number, languages: lower(text, languages.src),
    "punctuation": _without_end,
    "spacing": _spaced,
}


def _shares(text: str) -> dict[str, float]:
    shares: dict[str, float] = json.loads(text)
    if other := shares.keys() - _KINDS.keys():
        raise InputError(f"There is noise of the kinds {', '.join(_KINDS)}, not {', '.join(sorted(other))}.")
    if sum(shares.values()) > 1:
        raise InputError(f"The shares sum up to {sum(shares.values()):g}, which is more than all lines.")
    return shares


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = corpus_parser(__doc__)
    parser.add_argument("--shares", required=True, help="JSON; the share of lines with noise of each kind")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
