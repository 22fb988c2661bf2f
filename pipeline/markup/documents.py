"""Makes HTML of sentences whose words' translations are known: a tag round words, links, nested, lists.

A tag stands round words whose links to the reference are unambiguous: the reference's words are in a row, are
linked to no others, and no word stands twice in its sentence.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from random import Random
from typing import NamedTuple

from pipeline.alignments.icu_tokens import SPACE, detokenize
from pipeline.alignments.symmetrize import Link
from pipeline.markup.runs import Markup, Run, Tag

EACH = 40  # documents of a kind
LONGEST = 40  # words of a sentence, as a translation of it must not be cut
MOST_WORDS = 3  # under one tag

# Nothing here needs to exist; the characters are those that need entities
_LINK = Tag("a", (("href", "/wiki?page=1&lang=2#top"),))
_ATTRIBUTES = Tag("a", (("href", "/?a=1&b=2"), ("title", 'say "<5" & go'), ("class", "x y")))
_IMAGE = Tag("img", (("src", "/icon.png"), ("alt", "")))


class Spot(NamedTuple):
    """Words of a sentence in a row: where they begin and end in its text, and the reference's for them."""

    begin: int
    end: int
    wanted: tuple[str, ...]


@dataclass(frozen=True)
class Sentence:
    """A sentence's text, and what in it may be tagged: single words, and two or three in a row."""

    text: str
    words: tuple[Spot, ...]
    phrases: tuple[Spot, ...]


@dataclass(frozen=True)
class Document:
    """HTML of one kind; `wanted` has the reference's words for the text under some of its tags."""

    kind: str
    markup: Markup
    wanted: Mapping[int, tuple[str, ...]]


def read_sentence(source: Sequence[str], target: Sequence[str], links: Sequence[Link]) -> Sentence | None:
    """A sentence from a pair's tokens and links; None when it is too long, or has no word to tag."""
    if sum(map(is_word, source)) > LONGEST:
        return None
    spots = [
        (last - first, spot)
        for first in range(len(source))
        for last in _lasts(source, first)
        if (spot := _spot(source, target, links, range(first, last + 1)))
    ]
    words = tuple(spot for length, spot in spots if length == 0)
    phrases = tuple(spot for length, spot in spots if length > 0)
    return Sentence(detokenize([*source]), words, phrases) if words else None


def is_word(token: str) -> bool:
    """True if a token has a letter or a digit."""
    return any(map(str.isalnum, token))


def make_documents(sentences: Sequence[Sentence], seed: str) -> list[Document]:
    """At most `EACH` documents of each kind, always the same ones for the same sentences and seed."""
    documents: list[Document] = []
    for kind, (size, make) in _KINDS.items():
        random = Random(f"{kind} {seed}")
        fit = [one for one in sentences if one.phrases] if kind in _OF_PHRASES else [*sentences]
        random.shuffle(fit)
        groups = [fit[start : start + size] for start in range(0, len(fit) - size + 1, size)]
        documents += (Document(kind, *make(group, random)) for group in groups[:EACH])
    return documents


_Made = tuple[Markup, dict[int, tuple[str, ...]]]


def _lasts(source: Sequence[str], first: int) -> Iterator[int]:
    """Ends of rows of words that begin at a token."""
    words = 0
    for last in range(first, len(source)):
        if source[last] == SPACE and last > first:
            continue
        words += 1
        if words > MOST_WORDS or not is_word(source[last]):
            return
        yield last


def _spot(source: Sequence[str], target: Sequence[str], links: Sequence[Link], tokens: range) -> Spot | None:
    words = [place for place in tokens if source[place] != SPACE]
    linked = {place: [trg for src, trg in links if src == place] for place in words}
    targets = sorted({trg for found in linked.values() for trg in found})
    others = {trg for src, trg in links if src not in linked}
    between = target[targets[0] : targets[-1] + 1] if targets else []
    wanted = [target[place] for place in targets]
    if (
        not all(linked.values())
        or others.intersection(targets)
        or (len(words) == 1 and len(targets) > 1)
        or [token for token in between if token != SPACE] != wanted
        or not all(map(is_word, wanted))
        or not _stand_once([source[place] for place in words], source)
        or not _stand_once(wanted, target)
    ):
        return None
    ends = [0, *accumulate(map(len, source))]
    return Spot(ends[tokens[0]], ends[tokens[-1] + 1], tuple(wanted))


def _stand_once(words: Sequence[str], tokens: Sequence[str]) -> bool:
    counts = Counter(map(str.casefold, tokens))
    return all(counts[word.casefold()] == 1 for word in words)


def _runs(sentence: Sentence, spans: Mapping[int, Spot], base: tuple[int, ...] = ()) -> list[Run]:
    """The runs of a sentence under `base`, with tags round spans, which are given from the outermost on."""
    text = sentence.text
    cuts = {0, len(text)} | {place for spot in spans.values() for place in (spot.begin, spot.end)}
    places = sorted(cuts)
    return [
        Run(text[begin:end], (*base, *(n for n, spot in spans.items() if spot.begin <= begin < spot.end)))
        for begin, end in zip(places, places[1:], strict=False)
    ]


def _around(sentence: Sentence, tag: Tag, spot: Spot) -> _Made:
    return Markup((tag,), tuple(_runs(sentence, {0: spot}))), {0: spot.wanted}


def _word(sentences: Sequence[Sentence], random: Random) -> _Made:
    """`… <b>a</b> …`."""
    (sentence,) = sentences
    return _around(sentence, Tag("b"), random.choice(sentence.words))


def _link(sentences: Sequence[Sentence], random: Random) -> _Made:
    """`… <a href="…">a b</a> …`."""
    (sentence,) = sentences
    return _around(sentence, _LINK, random.choice(sentence.phrases))


def _nested(sentences: Sequence[Sentence], random: Random) -> _Made:
    """`<i>a <b>b</b></i>`."""
    (sentence,) = sentences
    outer = random.choice(sentence.phrases)
    inside = [spot for spot in sentence.words if outer.begin <= spot.begin and spot.end <= outer.end]
    spans = {0: outer} | ({1: random.choice(inside)} if inside else {})
    tags = (Tag("i"), Tag("b"))[: len(spans)]
    return Markup(tags, tuple(_runs(sentence, spans))), {n: spot.wanted for n, spot in spans.items()}


def _list(sentences: Sequence[Sentence], random: Random) -> _Made:
    """`<ul><li>… <b>a</b> …</li><li>… <i>b</i> …</li>…</ul>`: in each item another tag."""
    tags, runs, wanted = [Tag("ul")], list[Run](), dict[int, tuple[str, ...]]()
    for sentence, name in zip(sentences, ("b", "i", "em"), strict=True):
        spot, item = random.choice(sentence.words), len(tags)
        tags += [Tag("li"), Tag(name)]
        runs += _runs(sentence, {item + 1: spot}, (0, item))
        wanted[item + 1] = spot.wanted
    return Markup(tuple(tags), tuple(runs)), wanted


def _line_break(sentences: Sequence[Sentence], random: Random) -> _Made:
    """`… <b>a</b> …<br>… <i>b</i> …`."""
    (first, second), spots = sentences, [random.choice(one.words) for one in sentences]
    runs = [*_runs(first, {0: spots[0]}), Run("", (1,)), *_runs(second, {2: spots[1]})]
    tags = (Tag("b"), Tag("br"), Tag("i"))
    return Markup(tags, tuple(runs)), {0: spots[0].wanted, 2: spots[1].wanted}


def _image(sentences: Sequence[Sentence], random: Random) -> _Made:
    """`… <b><img src="…">a</b> …`: a void element within a sentence."""
    (sentence,) = sentences
    spot = random.choice(sentence.words)
    runs = _runs(sentence, {0: spot})
    place = next(place for place, run in enumerate(runs) if run.path)
    return Markup((Tag("b"), _IMAGE), (*runs[:place], Run("", (0, 1)), *runs[place:])), {0: spot.wanted}


def _entities(sentences: Sequence[Sentence], random: Random) -> _Made:
    """Attributes with characters that are written as entities, and a no-break space before the word."""
    (sentence,) = sentences
    spot = random.choice(sentence.words)
    before = sentence.text[: spot.begin]
    if before.endswith(" "):
        before = f"{before[:-1]}\N{NO-BREAK SPACE}"
    spaced = replace(sentence, text=before + sentence.text[spot.begin :])
    return _around(spaced, _ATTRIBUTES, spot)


# Kind → sentences of a document, and what makes it of them
_KINDS: Mapping[str, tuple[int, Callable[[Sequence[Sentence], Random], _Made]]] = {
    "word": (1, _word),
    "link": (1, _link),
    "nested": (1, _nested),
    "list": (3, _list),
    "line break": (2, _line_break),
    "image": (1, _image),
    "entities": (1, _entities),
}
_OF_PHRASES = frozenset({"link", "nested"})
