"""Scores translations of paragraphs: of sentences of a test set that follow each other in a document.

    python -m pipeline.eval.paragraphs --translations sentences.zst --documents documents.zst --trg eo \\
        --corpus-src test.en.zst --corpus-trg test.eo.zst --dataset "flores_devtest (paragraphs)" \\
        --output evaluation
    python -m pipeline.eval.paragraphs --exported exported/* --documents documents.zst …

The first joins a model's translations of the sentences. The second translates whole paragraphs with an
exported model, by the sentences that fxtranslate finds in them, as in a browser. Both write
translations.zst, a paragraph a line, and metrics.json, as pipeline.eval.evaluate does.
"""

import argparse
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from pipeline.common.engine import load_engine
from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, write_lines
from pipeline.common.script import run
from pipeline.common.staging import staged
from pipeline.eval.evaluate import read_test_set, write_metrics

SENTENCES = 5  # of a paragraph, at most: documents of WMT have dozens
PICTURES = ("So", "Sk", "Mn", "Cf", "Zs")  # categories of emoji, of what varies and joins them, of spaces


def main(argv: Sequence[str] | None = None) -> None:
    """Write the files named above."""
    args = _parser().parse_args(argv)
    pairs = read_test_set(args.corpus_src, args.corpus_trg)
    places = paragraphs([*read_lines(args.documents)], len(pairs))
    sources, references = (paragraph_lines([pair[side] for pair in pairs], places) for side in (0, 1))
    if args.exported:
        engine = load_engine(args.exported)
        translations = [engine.translate_text(source) for source in sources]
    else:
        lines = [*read_lines(args.translations)]
        if len(lines) != len(pairs):
            raise InputError(
                f"{args.translations} has {len(lines):,} translations of the {len(pairs):,} lines of "
                f"{args.dataset}. Translate it again."
            )
        translations = paragraph_lines(lines, places)
    with staged(args.output) as (output, _):
        write_lines(output / "translations.zst", translations)
        joined = [*zip(sources, references, strict=True)]
        write_metrics(output, args.dataset, joined, translations, args.trg)


def paragraphs(documents: Sequence[str], lines: int) -> list[range]:
    """The lines of each paragraph. Raises InputError when the documents are not of as many lines.

    >>> paragraphs(["a", "a", "b"], 3)
    [range(0, 2), range(2, 3)]
    """
    if len(documents) != lines:
        raise InputError(f"The test set has {lines:,} lines, and documents are known of {len(documents):,}.")
    return [
        range(start, min(start + SENTENCES, document.stop))
        for document in _documents(documents)
        for start in range(document.start, document.stop, SENTENCES)
    ]


def _documents(names: Sequence[str]) -> Iterator[range]:
    start = 0
    for _, same in groupby(names):
        stop = start + sum(1 for _ in same)
        yield range(start, stop)
        start = stop


def paragraph_lines(sentences: Sequence[str], places: Sequence[range]) -> list[str]:
    """The sentences of each paragraph as one line. After those of a script without spaces stands none."""
    return [_joined([sentences[line].strip() for line in place]) for place in places]


def _joined(sentences: Sequence[str]) -> str:
    text = ""
    for sentence in filter(None, sentences):
        text += sentence if not text or _is_unspaced(text) else f" {sentence}"
    return text


def _is_unspaced(text: str) -> bool:
    """True if a text ends in a wide letter or mark (`字`, `。`), but for Hangul, which has spaces.

    Emoji, which are wide in any text, and quotes, which are as wide as the text that they stand in, do not
    count.
    """
    for character in reversed(text):
        category, width = unicodedata.category(character), unicodedata.east_asian_width(character)
        if category not in PICTURES and not (category.startswith("P") and width == "A"):
            return width in "FW" and not unicodedata.name(character, "").startswith("HANGUL")
    return False


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--documents", required=True, type=Path, help="the document of each line, by pipeline.data.documents")
    by = parser.add_mutually_exclusive_group(required=True)
    by.add_argument("--translations", type=Path, help="a model's translations of the sentences")
    by.add_argument("--exported", nargs="+", type=Path, help="files that pipeline.quantize.export wrote")
    add("--trg", required=True, help="target language; BLEU's words depend on it")
    add("--corpus-src", required=True, type=Path, help="the test set's source, a sentence a line")
    add("--corpus-trg", required=True, type=Path, help="its reference translations")
    add("--dataset", required=True, help="name of the paragraphs, for metrics.json")
    add("--output", required=True, type=Path, help="new folder for the results")
    return parser


if __name__ == "__main__":
    run(main)
