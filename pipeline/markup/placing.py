"""Puts tags into a translation by its alignment, as browsermt's engine does, which Firefox ships.

What stands between spaces and some marks gets the tags of the source's character that the surest of its
pieces is aligned with (browsermt/bergamot-translator, src/translator/html.cpp). So `?` and `!` belong to the
word before them, and what has no spaces, such as Chinese, is one word.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate
from operator import itemgetter
from typing import NamedTuple

from pipeline.markup.runs import Markup, Run, Tag, blocks, shared, text_of

_WORD = re.compile(r"\s+|[,.(){}\[\]]|[^\s,.(){}\[\]]+")


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
    documents: Sequence[Markup], translate: Callable[[Sequence[str]], Sequence[Aligned]]
) -> list[Markup]:
    """Translate HTML block by block: the text alone, in one call for all, and the tags by its alignment."""
    parts = [[*blocks(document)] for document in documents]
    texts = [text_of(block).strip() for of_document in parts for block in of_document]
    shown = [text for text in texts if text]
    translations = iter(translate(shown) if shown else ())
    translated = []
    for document, of_document in zip(documents, parts, strict=True):
        runs: list[Run] = []
        for block in of_document:
            if text_of(block).strip():
                runs += place(document.tags, block, next(translations))
            else:
                runs += block
        translated.append(replace(document, runs=tuple(runs)))
    return translated


def place(tags: Sequence[Tag], block: Sequence[Run], translation: Aligned) -> list[Run]:
    """The runs of a block's translation; `translation` is of its text without white space at the ends.

    Void elements, and those that no word is aligned with, which are left empty, come before the first word
    that is aligned with what stands behind them in the source.
    """
    text = text_of(block)
    begin, end = len(text) - len(text.lstrip()), len(text.rstrip())
    paths = [run.path for run in block for _ in run.text]
    base = reduce(shared, paths)
    words = [
        (word, None if source is None or source + begin >= end else source + begin)
        for word, source in _words(translation)
    ]
    used = {number for _, source in words if source is not None for number in paths[source]}
    waiting = _without_words(tags, block, used)
    placed: list[tuple[str, tuple[int, ...] | None]] = []
    for word, source in words:
        while waiting and source is not None and waiting[0][0] <= source:
            placed.append(("", waiting.pop(0)[1]))
        aligned = base if source is None else paths[source]
        placed.append((word, None if word.isspace() else aligned))
    placed += [("", path) for _, path in waiting]
    return [Run(text[:begin], base), *_with_spaces(placed, base), Run(text[end:], base)]


def _without_words(
    tags: Sequence[Tag], block: Sequence[Run], aligned: Collection[int]
) -> list[tuple[int, tuple[int, ...]]]:
    """Where in the text of a block elements end that get no words, and their paths, in order."""
    found: dict[tuple[int, ...], int] = {}
    for end, run in zip(accumulate(len(run.text) for run in block), block, strict=True):
        lost = run.path and tags[run.path[-1]].is_inline and run.path[-1] not in aligned
        if lost:
            found[run.path] = end
    return [
        (end, path)
        for path, end in sorted(found.items(), key=itemgetter(1))
        if not any(other[: len(path)] == path for other in found if other != path)
    ]


def _words(translation: Aligned) -> Iterator[tuple[str, int | None]]:
    """Words, marks and spaces of a translation; with the place of the source's character, if there is one."""
    for found in _WORD.finditer(translation.text):
        links = [link for link in translation.links if link.begin < found.end() and found.start() < link.end]
        is_linked = links and not found[0].isspace()
        yield found[0], max(links, key=lambda link: link.weight).source if is_linked else None


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
