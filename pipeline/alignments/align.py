"""Aligns the words of a parallel corpus, or of a part of one, for training with guided alignment.

    python -m pipeline.alignments.align --src en --trg eo --priors corpus.priors \\
        --corpus-src corpus.en.zst --corpus-trg corpus.eo.zst --output alignments

writes

    corpus.tok-icu.en.zst  corpus.tok-icu.eo.zst   words and punctuation, spaces as `▁` tokens
    corpus.aln.zst                                 links `0-0 2-1` between token positions, ascending, from 0
    stats.json

The priors are what `pipeline.alignments.priors` has learned from a sample of this corpus, or of another one
of the language pair; with them the parts of a corpus can be aligned each by itself. Empty lines, lines
without any link, and pairs with more than 500 words on a side get an empty line of links; they are counted.
Spaces are never linked. Words are told apart by ICU (dictionaries for Chinese, Japanese, Thai), aligned by
eflomal in blocks of a million pairs, and symmetrised by grow-diag-final-and. The links of finished blocks are
kept in checkpoint sets.
"""

import argparse
import logging
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from pipeline.alignments.blocks import align_blocks, can_align
from pipeline.alignments.icu_tokens import SPACE, tokenize, words_of
from pipeline.alignments.symmetrize import Link, format_links, parse_links
from pipeline.common.finished import finished_lines
from pipeline.common.lines import LineWriter, zip_lines
from pipeline.common.made_from import MadeFrom
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged

logger = logging.getLogger(__name__)

SAMPLES = 5
SAMPLE_LINKS = 12


@dataclass(frozen=True)
class TokenFiles:
    """One side of a corpus as tokens, and as words: the same without the `▁` tokens."""

    tokens: Path
    words: Path


def tokenize_corpus(texts: Sequence[Path], locales: Sequence[str], files: Sequence[TokenFiles]) -> int:
    """Both texts → tokens and words, joined by spaces, line by line; how many lines they have."""
    lines = 0
    with ExitStack() as stack:
        writers = [
            [stack.enter_context(LineWriter(path)) for path in (file.tokens, file.words)] for file in files
        ]
        for pair in zip_lines(*texts):
            lines += 1
            for text, locale, (tokens_lines, words_lines) in zip(pair, locales, writers, strict=True):
                tokens = tokenize(text, locale)
                tokens_lines.write(" ".join(tokens))
                words_lines.write(" ".join(words_of(tokens)))
    logger.info("Tokenised %s pairs", f"{lines:,}")
    return lines


def word_positions(tokens: Sequence[str]) -> list[int]:
    """Positions of the words among the tokens: ["▁", "a", "▁", "b"] → [1, 3]."""
    return [position for position, token in enumerate(tokens) if token != SPACE]


def token_links(links: str, source: Sequence[str], target: Sequence[str]) -> list[Link]:
    """Turn links between words into links between tokens."""
    sources, targets = word_positions(source), word_positions(target)
    return [(sources[first], targets[second]) for first, second in parse_links(links)]


class Summary:
    """Counts for stats.json, collected line by line."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.samples: list[str] = []

    def add(self, source: list[str], target: list[str], links: list[Link]) -> None:
        """Count one pair of tokenised lines and its links."""
        reason = self._why_empty(source, target, links)
        self.counts.update([reason] if reason else [])
        self.counts["lines"] += 1
        if not links:
            return
        self.counts["links"] += len(links)
        self.counts["source_words"] += len(word_positions(source))
        self.counts["target_words"] += len(word_positions(target))
        self.counts["source_linked"] += len({link[0] for link in links})
        self.counts["target_linked"] += len({link[1] for link in links})
        if len(self.samples) < SAMPLES:
            pairs = (f"{source[first]}–{target[second]}" for first, second in links[:SAMPLE_LINKS])
            self.samples.append("  ".join(pairs)[:200])

    def to_json(self) -> dict[str, object]:
        """Counts over the aligned lines: words are linked to few others, and most of them to one."""
        counts = self.counts
        empty = {reason: counts[reason] for reason in ("one_side_empty", "too_long", "no_links")}
        return {
            "lines": {"in": counts["lines"], "kept": counts["lines"], "dropped": {}},
            "empty_alignments": {"total": sum(empty.values()), **empty},
            "links_per_source_word": _share(counts["links"], counts["source_words"]),
            "links_per_target_word": _share(counts["links"], counts["target_words"]),
            "linked_source_words": _share(counts["source_linked"], counts["source_words"]),
            "linked_target_words": _share(counts["target_linked"], counts["target_words"]),
            "samples": self.samples,
        }

    @staticmethod
    def _why_empty(source: list[str], target: list[str], links: list[Link]) -> str | None:
        if links:
            return None
        words = [" ".join(words_of(side)) for side in (source, target)]
        if not all(words):
            return "one_side_empty"
        return "no_links" if can_align(*words) else "too_long"


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def write_alignments(tokens: Sequence[Path], word_links: Path, output: Path) -> Summary:
    """Tokens of both sides, links between words → links between tokens, one line a pair."""
    summary = Summary()
    with LineWriter(output) as alignments:
        for source_line, target_line, links_line in zip_lines(*tokens, word_links):
            source, target = source_line.split(), target_line.split()
            links = token_links(links_line, source, target)
            alignments.write(format_links(links))
            summary.add(source, target, links)
    return summary


def main(argv: Sequence[str] | None = None) -> None:
    """Tokenise, align, and write the files named above."""
    args = _parser().parse_args(argv)
    logger.info("Aligning %s and %s; priors: %s", args.corpus_src, args.corpus_trg, args.priors)
    texts = args.corpus_src, args.corpus_trg
    made_from = MadeFrom(
        {"the source": texts[0], "the target": texts[1], "the priors": args.priors},
        {"--src": args.src, "--trg": args.trg},
    )
    with staged(args.output) as (output, work), finished_lines(work, made_from) as finished:
        files = [
            TokenFiles(output / f"corpus.tok-icu.{args.src}.zst", work / "source.zst"),
            TokenFiles(output / f"corpus.tok-icu.{args.trg}.zst", work / "target.zst"),
        ]
        lines = tokenize_corpus(texts, (args.src, args.trg), files)
        pairs = islice(zip_lines(*(file.words for file in files)), finished.number, None)
        finished.add_all(align_blocks(pairs, work, args.priors))
        finished.require(lines, args.corpus_src)
        finished.write(work / "links.zst")
        tokens = [file.tokens for file in files]
        summary = write_alignments(tokens, work / "links.zst", output / "corpus.aln.zst")
        write_json(output / "stats.json", summary.to_json())
    logger.info("Alignments: %s", summary.to_json())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--src", required=True, help="source language, for file names and ICU's rules")
    parser.add_argument("--trg", required=True, help="target language")
    parser.add_argument("--corpus-src", type=Path, required=True, help="source text, a sentence a line")
    parser.add_argument("--corpus-trg", type=Path, required=True, help="target text, parallel to it")
    parser.add_argument(
        "--priors", type=Path, required=True, help="corpus.priors: what is known about the words' links"
    )
    parser.add_argument("--output", type=Path, required=True, help="new folder for the results")
    return parser


if __name__ == "__main__":
    run(main)
