"""Translates HTML with a quantised student, and tells whether tags are kept and stand round the right words.

    python -m pipeline.checks.markup --model quantized --trg eo --tokens-src test.tok-icu.en.zst \\
        --tokens-trg test.tok-icu.eo.zst --alignments test.aln.zst --seed 1 --output numbers

takes a test set as pipeline.alignments.align writes it, and writes numbers.json:

    engine   what translated
    kinds    of each kind of HTML the counts of pipeline.markup.scores, of at most 40 documents
    all      their sum
    samples  the worst: kind, HTML, its translation, and what is wrong

The kinds: a tag round a word, a link round several, nested tags, a list, a line break, an image in a
sentence, and entities. The reference's words that are linked to the tagged ones are the right ones; a tag
counts where the translation has these. Marian translates the text of each block, and the tags are placed by
its alignment, the attention that training guides: as the engine of browsers does.
"""

import argparse
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipeline.alignments.symmetrize import parse_links
from pipeline.common.errors import InputError
from pipeline.common.lines import zip_lines
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.markup.documents import Document, Sentence, make_documents, read_sentence
from pipeline.markup.placing import translate_markup
from pipeline.markup.runs import write
from pipeline.markup.scores import Judged, Score, judge
from pipeline.markup.with_marian import translate_aligned

SAMPLES = 10
SAMPLE_CHARACTERS = 500
ENGINE = "Marian, 8 bits"

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write numbers.json."""
    args = parse_arguments(argv)
    sentences = read_sentences(args.tokens_src, args.tokens_trg, args.alignments)
    documents = make_documents(sentences, f"markup {args.seed}")
    with staged(args.output) as (output, scratch):
        translated = translate_markup(
            [document.markup for document in documents],
            lambda texts: translate_aligned(args.model, texts, scratch),
        )
        numbers = markup_numbers(documents, [write(markup) for markup in translated], args.trg)
        write_json(output / "numbers.json", {"engine": ENGINE, **numbers})
    log.info("%s", numbers["all"])


def read_sentences(tokens_src: Path, tokens_trg: Path, alignments: Path) -> list[Sentence]:
    """The pairs with a word whose links are unambiguous; raises InputError when there are none."""
    found = [
        sentence
        for source, target, links in zip_lines(tokens_src, tokens_trg, alignments)
        if (sentence := read_sentence(source.split(), target.split(), parse_links(links)))
    ]
    if not found:
        raise InputError(
            f"No pair of {tokens_src} and {tokens_trg} has a word whose links in {alignments} are "
            "unambiguous. Give a test set whose sides are translations of each other."
        )
    return found


def markup_numbers(documents: Sequence[Document], translated: Sequence[str], locale: str) -> dict[str, Any]:
    """What the module's docstring lists, but the engine; `translated` is HTML, one for each document."""
    judged = [judge(document, html, locale) for document, html in zip(documents, translated, strict=True)]
    kinds: dict[str, Score] = {}
    for document, one in zip(documents, judged, strict=True):
        kinds[document.kind] = kinds.get(document.kind, Score()) + one.score
    return {
        "kinds": {kind: score.to_json() for kind, score in kinds.items()},
        "all": sum(kinds.values(), Score()).to_json(),
        "samples": _samples(documents, translated, judged),
    }


def _samples(
    documents: Sequence[Document], translated: Sequence[str], judged: Sequence[Judged]
) -> list[list[str]]:
    found = [
        (document.kind, write(document.markup), html, one.wrong)
        for document, html, one in zip(documents, translated, judged, strict=True)
        if one.wrong
    ]
    found.sort(key=lambda sample: -len(sample[3]))
    return [
        [kind, source[:SAMPLE_CHARACTERS], html[:SAMPLE_CHARACTERS], "; ".join(wrong)]
        for kind, source, html, wrong in found[:SAMPLES]
    ]


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--model", required=True, type=Path, help="folder that pipeline.quantize.quantize wrote")
    add("--trg", required=True, help="target language, whose words ICU tells apart")
    add("--tokens-src", required=True, type=Path, help="the test set's source as tokens")
    add("--tokens-trg", required=True, type=Path, help="its reference translations as tokens")
    add("--alignments", required=True, type=Path, help="links between these tokens")
    add("--seed", required=True, type=int, help="seed of the choice of sentences and words")
    add("--output", required=True, type=Path, help="new folder for numbers.json")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
