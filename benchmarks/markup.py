"""HTML through the demo's student (`make demo`): tags kept, and round the right words, in both engines.

    python -m benchmarks.markup

Marian's translations, whose tags are placed by its alignment as the pipeline's gate does, beside those of
browsermt's engine in Node.js, which places them itself. For each kind of HTML the share of documents that
keep their tags, and the share of tags round the right words. Then how many documents are the same in both,
and how many have the text that browsermt's engine makes of the text alone. fxtranslate 0.5.0 has neither HTML
nor alignments. Needs Node.js and browsermt's engine: `make ci-environments` installs them.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.demo import TESTS, download
from pipeline.checks.markup import ENGINE, aligned_sentences, markup_numbers
from pipeline.common.lines import zip_lines
from pipeline.markup.documents import Document, make_documents
from pipeline.markup.placing import translate_markup
from pipeline.markup.runs import MarkupError, parse, plain_texts, write
from pipeline.markup.with_marian import translate_aligned
from tests.browsers import in_node, missing

SEED = "markup 1111"  # the gate's


def main() -> None:
    """Print a row for each kind of HTML."""
    if reason := missing("node"):
        sys.exit(f"error: {reason}")
    with tempfile.TemporaryDirectory(prefix="markup-") as name:
        folder = Path(name)
        documents = _documents(folder)
        exported, quantized = download("export-en-eo", folder), download("quantize-en-eo", folder)
        markups = [document.markup for document in documents]
        placed = translate_markup(markups, lambda texts: translate_aligned(quantized, texts, folder))
        by_marian = [write(markup) for markup in placed]
        by_browsers = in_node(exported, [write(markup) for markup in markups], html=True).translations
        _print_scores(
            {
                ENGINE: markup_numbers(documents, by_marian, "eo"),
                "browsermt's engine": markup_numbers(documents, by_browsers, "eo"),
            }
        )
        same = sum(one == other for one, other in zip(by_marian, by_browsers, strict=True))
        print(f"the same HTML in both: {same} of {len(documents)} documents")
        texts = _same_texts(exported, documents, by_browsers)
        print(f"with the translation of the text alone, in browsermt's engine: {texts} of {len(documents)}")


def _documents(folder: Path) -> list[Document]:
    """The documents of the gate."""
    test, priors = download(f"dataset-{TESTS[0]}-en-eo", folder), download("alignments-priors-en-eo", folder)
    pairs = [*zip_lines(test / "corpus.en.zst", test / "corpus.eo.zst")]
    return make_documents(aligned_sentences(pairs, ("en", "eo"), priors / "corpus.priors", folder), SEED)


def _print_scores(engines: Mapping[str, Mapping[str, Any]]) -> None:
    print(" | ".join([f"{'':12}", *(f"{f'{name}: kept, right':>32}" for name in engines)]))
    kinds = [*next(iter(engines.values()))["kinds"]]
    for kind in (*kinds, "all"):
        found = [numbers["all"] if kind == "all" else numbers["kinds"][kind] for numbers in engines.values()]
        shares = [f"{score['kept_share']:.1%}, {score['right_share']:.1%}" for score in found]
        print(" | ".join([f"{kind:12}", *(f"{share:>32}" for share in shares)]))


def _same_texts(exported: Path, documents: Sequence[Document], translated: Sequence[str]) -> int:
    """How many documents have the text that comes of their text without tags."""
    texts = [plain_texts(document.markup) for document in documents]
    alone = iter(in_node(exported, [text for of_document in texts for text in of_document]).translations)
    wanted = [[next(alone) for _ in of_document] for of_document in texts]
    return sum(_texts(html) == texts for html, texts in zip(translated, wanted, strict=True))


def _texts(html: str) -> list[str]:
    try:
        return plain_texts(parse(html))
    except MarkupError:
        return []


if __name__ == "__main__":
    main()
