"""Generated parallel text to train on where speed counts: sentences as long as those of a cleaned corpus.

Words are as unevenly frequent as a language's, and each has one translation, so that a model learns some of
it in minutes and stops where sentences end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.generated_words import WORDS, words_of
from pipeline.common.lines import write_lines
from pipeline.train.vocab import learn

LANGUAGES = ("en", "ru")
MEDIAN, SPREAD, LONGEST = 14, 0.7, 70  # words of a sentence, log-normal
FOR_VOCABULARY = 50_000  # lines
DEV = 200  # lines, at most


@dataclass(frozen=True)
class Text:
    """Files of a generated text, source and target: tokens with their links, plain text, and vocabularies."""

    tokens: tuple[Path, Path]
    links: Path
    dev: tuple[Path, Path]
    plain: Path
    vocabs: tuple[Path, Path]


def generate(folder: Path, pairs: int, lines: int, vocab_size: int) -> Text:
    """Write a text with so many pairs to train on, and so many lines to translate; validation has no more."""
    sides = [words_of(language) for language in LANGUAGES]
    training = list(_sentences(pairs, seed=1))
    tokens, dev, vocabs = [], [], []
    for language, words in zip(LANGUAGES, sides, strict=True):
        tokens.append(folder / f"train.{language}.zst")
        write_lines(tokens[-1], (" ▁ ".join(_spelt(ranks, words)) + " ." for ranks in training))
        dev.append(folder / f"dev.{language}.zst")
        write_lines(dev[-1], (_plain(ranks, words) for ranks in _sentences(min(DEV, lines), seed=2)))
        vocabs.append(folder / f"vocab.{language}.spm")
        seen = [_plain(ranks, words) for ranks in training[:FOR_VOCABULARY]]
        vocabs[-1].write_bytes(learn(seen, vocab_size, "nmt_nfkc"))
    links = folder / "train.links.zst"
    write_lines(links, (" ".join(f"{2 * n}-{2 * n}" for n in range(len(ranks))) for ranks in training))
    plain = folder / "plain.zst"
    write_lines(plain, (_plain(ranks, sides[0]) for ranks in _sentences(lines, seed=3)))
    return Text((tokens[0], tokens[1]), links, (dev[0], dev[1]), plain, (vocabs[0], vocabs[1]))


def _sentences(number: int, seed: int) -> Iterator[list[int]]:
    """The ranks of the words of so many sentences."""
    random = np.random.default_rng(seed)
    for _ in range(number):
        length = int(np.clip(random.lognormal(np.log(MEDIAN), SPREAD), 1, LONGEST))
        yield (WORDS ** random.random(length)).astype(np.int64).tolist()


def _spelt(ranks: list[int], words: list[str]) -> list[str]:
    first, *others = (words[rank - 1] for rank in ranks)
    return [first.capitalize(), *others]


def _plain(ranks: list[int], words: list[str]) -> str:
    return " ".join(_spelt(ranks, words)) + "."
