"""Puts tags into a translation by its alignment, as callers of an engine do that only knows text.

The translation of a word gets the tags of the source's character that the word's surest piece is aligned
with: so does the engine of browsers (browsermt's bergamot-translator, src/translator/html.cpp).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate
from typing import NamedTuple

from pipeline.alignments.icu_tokens import SPACE, tokenize
from pipeline.markup.runs import Markup, Run, Tag, blocks, shared, text_of


class Link(NamedTuple):
    """A piece of a translation, its source's character (the text's length for its end), and how surely."""

    begin: int
    end: int
    source: int
    weight: float


@dataclass(frozen=True)
class Aligned:
    """A translation, and a link for each of its pieces."""

    text: str
    links: tuple[Link, ...]


def translate_markup(
    documents: Sequence[Markup], translate: Callable[[Sequence[str]], Sequence[Aligned]], locale: str
) -> list[Markup]:
    """Translate HTML block by block: the text alone, in one call for all, and the tags by its alignment.

    `locale` is the target language, whose words ICU tells apart.
    """
    parts = [[*blocks(document)] for document in documents]
    texts = [text_of(block).strip() for of_document in parts for block in of_document]
    translations = iter(translate([text for text in texts if text]))
    translated = []
    for document, of_document in zip(documents, parts, strict=True):
        runs: list[Run] = []
        for block in of_document:
            if text_of(block).strip():
                runs += place(document.tags, block, next(translations), locale)
            else:
                runs += block
        translated.append(replace(document, runs=tuple(runs)))
    return translated


def place(tags: Sequence[Tag], block: Sequence[Run], translation: Aligned, locale: str) -> list[Run]:
    """The runs of a block's translation; `translation` is of its text without white space at the ends.

    Void elements come before the first word that is aligned with what stands behind them in the source.
    """
    text = text_of(block)
    begin, end = len(text) - len(text.lstrip()), len(text.rstrip())
    paths = [run.path for run in block for _ in run.text]
    base = reduce(shared, paths)
    voids = _voids(tags, block)
    placed: list[tuple[str, tuple[int, ...] | None]] = []
    for word, source in _words(translation, locale):
        if source is None or source + begin >= end:
            placed.append((word, None if word == " " else base))
            continue
        while voids and voids[0][0] <= source + begin:
            placed.append(("", voids.pop(0)[1]))
        placed.append((word, paths[source + begin]))
    placed += [("", path) for _, path in voids]
    return [Run(text[:begin], base), *_with_spaces(placed, base), Run(text[end:], base)]


def _voids(tags: Sequence[Tag], block: Sequence[Run]) -> list[tuple[int, tuple[int, ...]]]:
    """Where in the text of a block void elements stand, and their paths."""
    ends = accumulate(len(run.text) for run in block)
    return [
        (end, run.path)
        for end, run in zip(ends, block, strict=True)
        if run.path and tags[run.path[-1]].is_void
    ]


def _words(translation: Aligned, locale: str) -> Iterator[tuple[str, int | None]]:
    """Words, marks and spaces of a translation; with the place of the source's character, if there is one."""
    begin = 0
    for token in tokenize(translation.text, locale):
        end = begin + len(token)
        links = [link for link in translation.links if link.begin < end and begin < link.end]
        begin = end
        if token == SPACE:
            yield " ", None
        else:
            yield token, max(links, key=lambda link: link.weight).source if links else None


def _with_spaces(
    placed: Sequence[tuple[str, tuple[int, ...] | None]], base: tuple[int, ...]
) -> Iterator[Run]:
    """Runs; spaces, which have no path yet, are under the tags that both neighbours are under."""
    for number, (text, path) in enumerate(placed):
        if path is None:
            before = next((other for _, other in reversed(placed[:number]) if other is not None), base)
            behind = next((other for _, other in placed[number + 1 :] if other is not None), base)
            path = shared(before, behind)
        yield Run(text, path)
