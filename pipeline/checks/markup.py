"""Translates HTML with a quantised student, and tells whether tags are kept and stand round the right words.

    python -m pipeline.checks.markup --model quantized --src en --trg eo --corpus-src test.en.zst \\
        --corpus-trg test.eo.zst --priors corpus.priors --seed 1 --output numbers

writes numbers.json:

    engine   what translated
    kinds    of each kind of HTML the counts of pipeline.markup.scores, of at most 40 documents
    all      their sum
    samples  the worst: kind, HTML, its translation, and what is wrong

The kinds: a tag round a word, a link round several, nested tags, a list, a line break, an image in a
sentence, and entities. Words of the source whose links to the reference are unambiguous are tagged (eflomal
links them by the priors); the reference's words are the right ones, and a tag counts where the translation
has these. Marian translates the text of each block, and the tags are placed by its alignment, the attention
that training has guided: as the engine of browsers does.
"""

import argparse
import logging
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from pipeline.alignments.align import token_links
from pipeline.alignments.blocks import align_blocks
from pipeline.alignments.icu_tokens import tokenize, words_of
from pipeline.common.lines import zip_lines
from pipeline.common.sampling import sample
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.markup.documents import Document, Sentence, make_documents, read_sentence
from pipeline.markup.placing import translate_markup
from pipeline.markup.runs import write
from pipeline.markup.scores import Judged, Score, judge
from pipeline.markup.with_marian import translate_aligned

PAIRS = 2000  # of the test set
SAMPLES = 10
SAMPLE_CHARACTERS = 500
ENGINE = "Marian, 8 bits"

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write numbers.json."""
    args = parse_arguments(argv)
    pairs = sample(zip_lines(args.corpus_src, args.corpus_trg), PAIRS, f"markup {args.seed}")
    with staged(args.output) as (output, scratch):
        sentences = aligned_sentences(pairs, (args.src, args.trg), args.priors, scratch)
        documents = make_documents(sentences, f"markup {args.seed}")
        translated = translate_markup(
            [document.markup for document in documents],
            lambda texts: translate_aligned(args.model, texts, scratch),
        )
        numbers = markup_numbers(documents, [write(markup) for markup in translated], args.trg)
        write_json(output / "numbers.json", {"engine": ENGINE, **numbers})
    log.info("%s", numbers["all"])


def aligned_sentences(
    pairs: Sequence[tuple[str, ...]], locales: tuple[str, str], priors: Path, work: Path
) -> list[Sentence]:
    """The pairs that have a word whose links are unambiguous, as eflomal links them by the priors."""
    tokens = [[tokenize(text, locale) for text, locale in zip(pair, locales, strict=True)] for pair in pairs]
    words = (tuple(" ".join(words_of(side)) for side in pair) for pair in tokens)
    links = chain.from_iterable(align_blocks(words, work, priors))
    found = (
        read_sentence(source, target, token_links(line, source, target))
        for (source, target), line in zip(tokens, links, strict=True)
    )
    return [sentence for sentence in found if sentence]


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
    add("--src", required=True, help="source language, for ICU's rules")
    add("--trg", required=True, help="target language")
    add("--corpus-src", required=True, type=Path, help="a test set's source")
    add("--corpus-trg", required=True, type=Path, help="its reference translations")
    add("--priors", required=True, type=Path, help="corpus.priors of pipeline.alignments.priors")
    add("--seed", required=True, type=int, help="seed of the choice of sentences and words")
    add("--output", required=True, type=Path, help="new folder for numbers.json")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
