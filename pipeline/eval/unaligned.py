"""Measures which share of the words of translations of short text is aligned to no word of the source.

    python -m pipeline.eval.unaligned --src en --trg eo --priors corpus.priors \\
        --translations translations.zst --corpus-src test.en.zst --corpus-trg test.eo.zst \\
        --dataset tmx_aug-short_pontoon --output scores

Models add words to strings of one or two words, or leave some out, which BLEU and chrF hardly notice. Scored
are the lines with one or two words in source and reference, punctuation marks included, as ICU finds them;
the translation may have any number. eflomal aligns translations and references with the sources, by the
priors of the training corpus, and grow-diag-final-and joins its directions. Writes scores.json:

    unaligned      100 times the share of a translation's words without a link, minus that share in the
                   reference; the mean of all lines, with a confidence interval by bootstrap resampling
    unaligned_src  the same of the source's words, which the translation leaves out

each with the shares themselves. Less is better, and below 0 is better than the reference. A line that is too
long to be aligned, as of a model that repeats itself, has no links.
"""

import argparse
import logging
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sacrebleu.significance import estimate_ci

from pipeline.alignments.blocks import Pair, align_blocks
from pipeline.alignments.icu_tokens import tokenize, words_of
from pipeline.alignments.symmetrize import parse_links
from pipeline.common.errors import InputError
from pipeline.common.lines import zip_lines
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.data.short_pairs import MOST_WORDS
from pipeline.eval.metrics import RESAMPLES, SEED

Shares = NDArray[np.float64]  # a row a pair: of the source's words and of the target's without a link

logger = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write scores.json."""
    args = _parser().parse_args(argv)
    locales = args.src, args.trg, args.trg
    with staged(args.output) as (output, scratch):
        lines = [*_short(zip_lines(args.corpus_src, args.translations, args.corpus_trg), locales)]
        if not lines:
            raise InputError(
                f"{args.dataset} has no line with one or two words on both sides. Take it out of "
                "evaluation.unaligned."
            )
        pairs = [(line[0], line[other]) for other in (1, 2) for line in lines]
        made, reference = np.split(unaligned_shares(pairs, args.priors, scratch), 2)
        scores = {
            name: _score(made[:, side], reference[:, side])
            for side, name in enumerate(("unaligned_src", "unaligned"))
        }
        write_json(output / "scores.json", {"dataset": args.dataset, "lines": len(lines), **scores})
    logger.info("%s", scores)


def _short(rows: Iterator[Pair], locales: Sequence[str]) -> Iterator[Pair]:
    """Source, translation and reference of each short line, as words joined by single spaces."""
    for row in rows:
        words = [words_of(tokenize(text, locale)) for text, locale in zip(row, locales, strict=True)]
        if all(1 <= len(words[side]) <= MOST_WORDS for side in (0, 2)):
            yield tuple(map(" ".join, words))


def unaligned_shares(pairs: Sequence[Pair], priors: Path, scratch: Path) -> Shares:
    """The shares of each pair's words that eflomal links to none: a row a pair, source and target.

    A side without words has none that is not linked. Raises InputError when the priors are none.
    """
    links = (line for block in align_blocks(iter(pairs), scratch, priors, len(pairs)) for line in block)
    return np.array([_unaligned(pair, line) for pair, line in zip(pairs, links, strict=True)])


def _unaligned(pair: Pair, links: str) -> list[float]:
    linked = [*zip(*parse_links(links), strict=True)] or [(), ()]
    words = [len(text.split()) for text in pair]
    return [1 - len({*found}) / number if number else 0 for found, number in zip(linked, words, strict=True)]


def _score(made: Shares, reference: Shares) -> dict[str, object]:
    """The mean difference in percent, resampled as sacreBLEU resamples a test set for its own metrics."""
    differences = 100 * (made - reference)
    chosen = np.random.default_rng(SEED).choice(len(differences), size=(RESAMPLES, len(differences)))
    mean, interval = estimate_ci(differences[chosen].mean(axis=1))
    found = {"score": differences.mean(), "mean": mean, "ci": interval}
    shares = {"translations": 100 * made.mean(), "references": 100 * reference.mean()}
    numbers = {name: round(float(value), 4) for name, value in (found | shares).items()}
    return {**numbers, "signature": _signature()}


def _signature() -> str:
    aligner = f"aligner:eflomal-{version('eflomal')}|sym:grow-diag-final-and|tok:icu"
    return f"{aligner}|words:1-{MOST_WORDS}|bs:{RESAMPLES}|seed:{SEED}|scale:100"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--src", required=True, help="source language, for ICU's rules")
    add("--trg", required=True, help="target language")
    add("--priors", required=True, type=Path, help="corpus.priors of pipeline.alignments.priors")
    add("--translations", required=True, type=Path, help="a model's translations of the test set")
    add("--corpus-src", required=True, type=Path, help="the test set's source")
    add("--corpus-trg", required=True, type=Path, help="its reference translations")
    add("--dataset", required=True, help="name of the test set, for scores.json")
    add("--output", required=True, type=Path, help="new folder for scores.json")
    return parser


if __name__ == "__main__":
    run(main)
