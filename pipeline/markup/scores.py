"""Judges translated HTML: whether its tags are kept, and on the words that the reference has for theirs."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from pipeline.alignments.icu_tokens import tokenize
from pipeline.markup.documents import Document, is_word
from pipeline.markup.runs import Markup, MarkupError, Run, Tag, blocks, parse, text_of, without_tags


@dataclass(frozen=True)
class Score:
    """Counts of documents and of their tags.

    well_formed  documents whose translation can be read
    kept         those with the tags of the source, each as often as there, with its attributes
    tags         tags round words whose translation the reference has
    countable    those whose translation the engine has, too
    right        those that stand round it, and round nothing else
    """

    documents: int = 0
    well_formed: int = 0
    kept: int = 0
    tags: int = 0
    countable: int = 0
    right: int = 0

    def __add__(self, other: "Score") -> "Score":
        theirs = asdict(other)
        return Score(**{name: count + theirs[name] for name, count in asdict(self).items()})

    def to_json(self) -> dict[str, int | float]:
        """The counts, and the shares that gates judge."""
        return {
            **asdict(self),
            "kept_share": round(self.kept / max(1, self.documents), 4),
            "right_share": round(self.right / max(1, self.countable), 4),
        }


@dataclass(frozen=True)
class Judged:
    """A document's score, and what is wrong with its translation, for people."""

    score: Score
    wrong: tuple[str, ...]


class _Word(NamedTuple):
    """A word in small letters, the tags that its characters are under, and those that all are under."""

    text: str
    touching: frozenset[int]
    covering: frozenset[int]


def judge(document: Document, html: str, locale: str) -> Judged:
    """Judge the translation of a document. `locale` is the target language, whose words ICU tells apart.

    A tag is right round the reference's words, whatever their case and order; marks do not count, and a tag
    round a part of a word is wrong.
    """
    try:
        markup = parse(html)
    except MarkupError as error:
        texts = _texts(without_tags(html), locale)
        countable = sum(_has(texts, wanted) for wanted in document.wanted.values())
        score = Score(1, tags=len(document.wanted), countable=countable)
        return Judged(score, (f"not well-formed: {error}",))
    words = [word for block in blocks(markup) for word in _words(block, locale)]
    texts = [word.text for word in words]
    changed = [*_changed(document.markup.tags, markup.tags)]
    countable, wrong = 0, list[str]()
    for number, wanted in document.wanted.items():
        if _has(texts, wanted):
            countable += 1
            wrong += _misplaced(document.markup.tags[number], wanted, markup, words)
    score = Score(1, 1, not changed, len(document.wanted), countable, countable - len(wrong))
    return Judged(score, (*changed, *wrong))


def _changed(source: Sequence[Tag], target: Sequence[Tag]) -> Iterator[str]:
    before, after = Counter(source), Counter(target)
    for tag in before | after:
        if before[tag] != after[tag]:
            yield f"<{tag.name}> {before[tag]} → {after[tag]} times"


def _misplaced(tag: Tag, wanted: Sequence[str], markup: Markup, words: Sequence[_Word]) -> Iterator[str]:
    """What is wrong with the words under a tag, if anything."""
    numbers = {number for number, other in enumerate(markup.tags) if other == tag}
    under = [word for word in words if word.touching & numbers]
    if not all(word.covering & numbers for word in under):
        yield f"<{tag.name}> is round a part of a word"
    elif Counter(word.text for word in under) != Counter(map(str.casefold, wanted)):
        found = " ".join(word.text for word in under) or "nothing"
        yield f"<{tag.name}> is round {found}, not {' '.join(wanted)}"


def _has(texts: Sequence[str], wanted: Sequence[str]) -> bool:
    return not Counter(map(str.casefold, wanted)) - Counter(texts)


def _texts(text: str, locale: str) -> list[str]:
    return [token.casefold() for token in tokenize(text, locale) if is_word(token)]


def _words(block: Sequence[Run], locale: str) -> Iterator[_Word]:
    paths = [frozenset(run.path) for run in block for _ in run.text]
    begin = 0
    for token in tokenize(text_of(block), locale):
        end = begin + len(token)
        if is_word(token):
            own = paths[begin:end]
            yield _Word(token.casefold(), frozenset.union(*own), frozenset.intersection(*own))
        begin = end
