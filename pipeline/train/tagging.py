"""OpusTrainer's modifier Tags for tokens of ICU, made cheap: the same lines from the same random numbers.

Tags puts tokenised text together again, maps the links of tokens to SentencePiece pieces and, now and then,
inserts made-up words on both sides. Here links are mapped by pipeline.train.piece_links, and which tokens may
get words is found in one pass; whatever is out of the ordinary goes through OpusTrainer's own functions.
"""

import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

from opustrainer.modifiers.placeholders import (
    PlaceholderTagModifier,
    get_placeholding_candidates,
    get_random_unicode_words,
)
from opustrainer.tokenizers import IcuDetokenizer
from opustrainer.types import Pair

from pipeline.train.piece_links import SPACE, Link, ParsedLinks, PieceLinks

Links: TypeAlias = list[Link]
Turn: TypeAlias = Callable[[], bool]


class Tagging:
    """Tags for text tokenised by ICU, in which no words are replaced or annotated; see `suits`."""

    def __init__(self, modifier: PlaceholderTagModifier) -> None:
        self._modifier = modifier
        self._links = ParsedLinks()
        self._pieces = PieceLinks(modifier) if modifier.print_alignments else None
        self.probability: float = modifier.probability

    @staticmethod
    def suits(modifier: object) -> bool:
        """Whether a modifier is a Tags that can be done here."""
        return (
            isinstance(modifier, PlaceholderTagModifier)
            and [mode for mode, _ in modifier.modes] == ["augment"]
            and all(
                isinstance(side.detokenizer, IcuDetokenizer)
                for side in (modifier.src_retokenizer, modifier.trg_retokenizer)
            )
        )

    @property
    def links_pieces(self) -> bool:
        """Whether lines come out with links of pieces."""
        return self._pieces is not None

    def by_chance(self) -> bool:
        """Whether it is a candidate's turn, as OpusTrainer draws it."""
        return random.random() < self.probability

    def after(self, gap: int) -> Turn:
        """The turn of the candidate after so many others; from there on by chance."""
        places = iter(range(gap + 1))

        def turn() -> bool:
            place = next(places, None)
            return self.by_chance() if place is None else place == gap

        return turn

    def apply(self, line: str, turn: Turn, untouched: str | None = None) -> str:
        """The line as Marian reads it: text, and the links of pieces when there are vocabularies.

        turn       asked for each token that may get words, whether it gets some
        untouched  the result if none gets any, where it is known

        Raises ValueError when a link points outside the line.
        """
        columns = line.strip().split("\t")
        source, target = columns[0].split(), columns[1].split()
        links = [self._links[link] for link in columns[2].split()]
        if any(i >= len(source) or j >= len(target) for i, j in links):
            raise ValueError("a link points outside the line")
        before = len(source)
        if self.probability:  # without it OpusTrainer draws no random numbers
            source, target, links = self._augmented(source, target, links, turn)
        if untouched is not None and len(source) == before:
            return untouched
        texts = [
            _text(source, self._modifier.src_retokenizer.detokenizer),
            _text(target, self._modifier.trg_retokenizer.detokenizer),
        ]
        if self._pieces:
            ids = [vocab.encode(text) for vocab, text in zip(self._pieces.vocabs, texts, strict=True)]
            texts.append(self._pieces.of(source, target, links, ids))
        return "\t".join(texts)

    def _augmented(
        self, source: list[str], target: list[str], links: Links, turn: Turn
    ) -> tuple[list[str], list[str], Links]:
        """Tokens and links with made-up words after the tokens whose turn it is."""
        insert = self._modifier.insert_augmented
        candidates = _Candidates(links, source, target)
        place = candidates.first_from(0)
        while place is not None:
            following = place + 1
            if turn():
                words = get_random_unicode_words()
                i, j = links[place]
                source, more_source, at_source = insert(words, source, i + 1, self._modifier.custom_detok_src)
                target, more_target, at_target = insert(words, target, j + 1, self._modifier.custom_detok_trg)
                new = [(i + n, j + m) for n, m in zip(at_source, at_target, strict=True)]
                moved = [(s + more_source, t + more_target) for s, t in links[place + 1 :]]
                links = links[: place + 1] + new + moved
                following += min(more_source, more_target)
                candidates = _Candidates(links, source, target)
            place = candidates.first_from(following)
        return source, target, links


class _Candidates:
    """Links whose tokens may get words: each token has that link only, and the two differ.

    OpusTrainer judges this by the links from a place on, so what is repeated before does not count.
    """

    def __init__(self, links: Links, source: Sequence[str], target: Sequence[str]) -> None:
        self._links, self._source, self._target = links, source, target
        self._sorted = all(one < next_one for one, next_one in pairwise(links))
        self._earlier: list[int] = []  # for each link the number of the one before with the same target
        self._repeated = [False] * len(links)  # whether there is one after it
        latest: dict[int, int] = {}
        for number, (_, j) in enumerate(links):
            before = latest.get(j, -1)
            self._earlier.append(before)
            if before >= 0:
                self._repeated[before] = True
            latest[j] = number

    def first_from(self, place: int) -> int | None:
        """The first such link from a place on, None when there is none."""
        if not self._sorted:
            return self._as_opustrainer(place)
        links, end = self._links, len(self._links) - 1
        for number in range(place, end + 1):
            i, j = links[number]
            if (
                not self._repeated[number]
                and self._earlier[number] < place
                and (number == end or links[number + 1][0] != i)
                and (number == place or links[number - 1][0] != i)
                and self._source[i] != self._target[j]
            ):
                return number
        return None

    def _as_opustrainer(self, place: int) -> int | None:
        for i, j in get_placeholding_candidates([Pair(*link) for link in self._links[place:]]):
            if self._source[i] != self._target[j]:
                return self._links.index((i, j))
        return None


def _text(tokens: list[str], detokenizer: IcuDetokenizer) -> str:
    """The tokens put together; RuntimeError where spaces inside tokens are in OpusTrainer's way."""
    joined = "".join(tokens)
    if joined.count(SPACE) != tokens.count(SPACE):
        return str(detokenizer.detokenize(tokens)[0])
    return joined.replace(SPACE, " ")
