"""Learns from a sample of a parallel corpus how words are linked, so that its parts can be aligned apart.

    python -m pipeline.alignments.priors --src en --trg eo --sample-size 1000000 \\
        --corpus-src corpus.en.zst --corpus-trg corpus.eo.zst --output priors

writes corpus.priors, in the format of `eflomal-align --priors`, and stats.json.

The sample is uniform and seeded; a corpus that is no longer is taken whole. Its words are told apart by ICU
and aligned by eflomal, in both directions and all at once: memory is bounded by the sample, a few GB for a
million pairs.
"""

import argparse
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pipeline.alignments.blocks import Corpus, Pair, align_sample, can_align, sample_pairs
from pipeline.alignments.eflomal_runs import compute_priors
from pipeline.alignments.icu_tokens import tokenize, words_of
from pipeline.common.errors import InputError
from pipeline.common.lines import count_lines, read_lines, zip_lines
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged

logger = logging.getLogger(__name__)


def pairs_of_words(pairs: Iterable[Pair], locales: Sequence[str]) -> Iterator[Pair]:
    """Yield pairs of lines as words joined by single spaces."""
    for pair in pairs:
        yield tuple(
            " ".join(words_of(tokenize(text, locale))) for text, locale in zip(pair, locales, strict=True)
        )


def main(argv: Sequence[str] | None = None) -> None:
    """Write corpus.priors and stats.json."""
    args = parse_arguments(argv)
    if args.sample_size < 1:
        raise InputError(f"--sample-size must be at least 1, not {args.sample_size}")
    lines = count_lines(args.corpus_src)
    logger.info("Priors from %s pairs of %s and %s", f"{lines:,}", args.corpus_src, args.corpus_trg)
    with staged(args.output) as (output, work):
        pairs = sample_pairs(Corpus(args.corpus_src, args.corpus_trg, lines), args.sample_size)
        sample = align_sample(pairs_of_words(pairs, (args.src, args.trg)), work)
        usable = sum(can_align(*pair) for pair in zip_lines(sample.source, sample.target))
        if usable == 0:
            raise InputError(
                f"No pair of {args.corpus_src} and {args.corpus_trg} can be aligned: one side is empty, or "
                "has too many words. Give a corpus with text in it."
            )
        compute_priors(sample, output / "corpus.priors")
        entries = Counter(line.partition("\t")[0] for line in read_lines(output / "corpus.priors"))
        sampled = min(lines, args.sample_size)
        dropped = {"not_sampled": lines - sampled, "not_alignable": sampled - usable}
        stats = {"lines": {"in": lines, "kept": usable, "dropped": dropped}, "entries": dict(entries)}
        write_json(output / "stats.json", stats)
    logger.info("Priors: %s", stats)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--src", required=True, help="source language, for ICU's rules")
    parser.add_argument("--trg", required=True, help="target language")
    parser.add_argument("--corpus-src", required=True, type=Path, help="source text, a sentence a line")
    parser.add_argument("--corpus-trg", required=True, type=Path, help="target text, parallel to it")
    parser.add_argument("--sample-size", required=True, type=int, help="pairs to learn from, at most")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the results")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
