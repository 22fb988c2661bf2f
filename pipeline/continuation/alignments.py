"""Fetch the tokens and word alignments of a corpus of an earlier run.

    python -m pipeline.continuation.alignments --src en --trg ru \\
        --tok-src-url https://example.org/run/corpus.tok-icu.en.zst \\
        --tok-trg-url https://example.org/run/corpus.tok-icu.ru.zst \\
        --alignments-url https://example.org/run/corpus.aln.zst \\
        --corpus-src corpus.en.zst --corpus-trg corpus.ru.zst --output alignments

writes corpus.tok-icu.{src}.zst, corpus.tok-icu.{trg}.zst, corpus.aln.zst and stats.json, as
`pipeline.alignments.collect` does.

The three files must be as long as the corpus, hold links between tokens that there are, and tokens that come
to the corpus' lines when they are joined and `▁` is read as a space: other tokenisations (`tok-moses`) and
the files of another corpus are refused. A few lines may differ, in white space or by a normalisation; they
are counted.
"""

import argparse
import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pipeline.checks.alignments import SPACE, Numbers
from pipeline.checks.letters import read_blocks
from pipeline.common.errors import InputError
from pipeline.common.lines import LineWriter
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.common.web import Source
from pipeline.continuation.addresses import told_of
from pipeline.data.text_urls import fetch_text
from pipeline.data.texts import file_lines

MAX_OTHER = 0.05  # share of lines whose tokens may come to another text

log = logging.getLogger(__name__)

_SPACES = re.compile(f"[\\s{SPACE}]+")


def main(argv: Sequence[str] | None = None) -> None:
    """Write the files named above."""
    args = parse_arguments(argv)
    urls = [args.tok_src_url, args.tok_trg_url, args.alignments_url]
    names = [f"corpus.tok-icu.{args.src}.zst", f"corpus.tok-icu.{args.trg}.zst", "corpus.aln.zst"]
    with staged(args.output) as (output, scratch):
        sources = []
        for url, name, kind in zip(urls, names, (args.src, args.trg, "alignments"), strict=True):
            fetched, source = fetch_text(url, kind, scratch)
            with told_of([url], scratch):
                write_lines(output / name, file_lines(fetched))
            fetched.unlink()
            sources.append(source)
        with told_of(urls, output):
            numbers, other = count(
                [output / name for name in names], [args.corpus_src, args.corpus_trg], (args.src, args.trg)
            )
            refuse(numbers, other, (args.src, args.trg))
        write_json(output / "stats.json", stats(numbers, other, sources))


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--src", required=True, help="source language, for file names")
    add("--trg", required=True, help="target language")
    add("--tok-src-url", required=True, help="where the source side is as tokens")
    add("--tok-trg-url", required=True, help="where the target side is as tokens")
    add("--alignments-url", required=True, help="where the links between the tokens are")
    add("--corpus-src", required=True, type=Path, help="the corpus itself, source side")
    add("--corpus-trg", required=True, type=Path, help="target side")
    add("--output", required=True, type=Path, help="new folder for the results")
    return parser.parse_args(argv)


def write_lines(output: Path, lines: Iterable[str]) -> None:
    """Write lines with single spaces between what they hold, as the readers of tokens take for granted."""
    with LineWriter(output) as writer:
        for line in lines:
            writer.write(" ".join(line.split()))


def count(
    files: Sequence[Path], corpus: Sequence[Path], langs: Sequence[str]
) -> tuple[dict[str, Any], Counter[str]]:
    """What there is to know of the links, and by language the lines whose tokens come to another text."""
    numbers = Numbers()
    other: Counter[str] = Counter()
    for sources, targets, alignments, *texts in read_blocks([*files, *corpus]):
        numbers.add(sources, targets, alignments)
        for lang, tokens, lines in zip(langs, (sources, targets), texts, strict=True):
            other[lang] += sum(_differing(tokens, lines))
    return numbers.to_json(), other


def _differing(tokens: Sequence[str], lines: Sequence[str]) -> Iterator[bool]:
    for joined, line in zip(tokens, lines, strict=True):
        text = joined.replace(" ", "").replace(SPACE, " ")
        yield text != line and _plain(text) != _plain(line)


def _plain(text: str) -> str:
    return _SPACES.sub(" ", text).strip()


def refuse(numbers: dict[str, Any], other: Counter[str], langs: Sequence[str]) -> None:
    """Raise InputError when the files do not belong together, or to the corpus."""
    for kind, what in (("malformed", "no links"), ("out_of_range", "links beyond the last token")):
        if numbers[kind]:
            sample = " ||| ".join(numbers["samples"][kind][0])
            raise InputError(
                f"{numbers[kind]:,} of {numbers['lines']:,} lines have {what}: {sample}. Take the alignments "
                "that were made of these tokens, or leave all three out: then they are made anew."
            )
    for lang in langs:
        if other[lang] > MAX_OTHER * numbers["lines"]:
            raise InputError(
                f"the tokens of {other[lang]:,} of {numbers['lines']:,} lines ({lang}) do not come to the "
                "corpus' lines. Take the tokens of this corpus (tok-icu), or leave all three out: then they "
                "are made anew."
            )


def stats(numbers: dict[str, Any], other: Counter[str], sources: Sequence[Source]) -> dict[str, object]:
    """What stats.json holds."""
    lines = numbers["lines"]
    log.info("%s lines; tokens that come to another text: %s", f"{lines:,}", dict(other))
    return {
        "lines": {"in": lines, "kept": lines, "dropped": {}},
        "empty_alignments": {"no_links": numbers["no_links"]},
        "links_per_word": numbers["links_per_word"],
        "tokens_of_other_text": dict(other),
        "source": [asdict(source) for source in sources],
    }


if __name__ == "__main__":
    run(main)
