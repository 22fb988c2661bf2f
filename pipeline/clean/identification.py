"""What tells lines of another language: HeLI-OTS, which needs no network, or a model of fastText.

Each is asked about one language, by the labels that it has for it, and judges what of a line tells its
language (`pipeline.clean.evidence`). Few letters tell little ("Hello." looks Yakut, "Да." Komi): a line of
fewer than 20 letters (8 characters of Chinese and Japanese, of which one is nearly a word) is undecided, and
an undecided line is never said to be in another language. Of near relatives a short line tells little, too:
what the longer lines of a data set are in says how likely it is that a line of it is in another language.
Where many of them are in another one than the expected, that decides for the shortest lines, too.
"""

import logging
import math
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from pipeline.clean.evidence import LEAST, LETTER, Evidence, Script
from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines
from pipeline.common.sampling import sample

logger = logging.getLogger(__name__)

# HeLI's scores are costs: the mean of -log10 of the relative frequencies of a line's words or n-grams.
# `benchmarks.languages` prints what these choices drop and keep.
# By how much the expected one must cost more than the cheapest in lines of the fewest letters that are
# decided, in those of twice as many by half of that, as the sum over the letters counts; and at least.
EVIDENCE = 0.42
MARGIN = 0.1
ENGLISH_MARGIN = 0.5  # for English, as names and terms in English stand in text of all languages
CANDIDATES = (
    40  # labels of which costs are asked, dialects apart; one beyond them costs what the last of them does
)

# To be in a language that a data set has less of than a USUAL part of what it has of the expected one, a line
# must tell more: PRIOR times the power of ten by which it is less; of more it may tell less. A share below
# RARE counts as that.
PRIOR = 0.5
USUAL, RARE = 0.25, 0.005
LONG = 60 * LETTER  # the weight of lines that tell the shares
SAMPLE, MOST_BYTES = 4_000, 4_000  # lines to learn from; longer ones are no sentences
LEAST_LONG = 40  # of such lines, and of short ones taken together; of fewer nothing is learnt

_NO_LANGUAGE = frozenset(("und", "zxx"))  # labels of HeLI's for what is in none

LEAST_PROBABILITY = 0.5  # of a model of fastText's label, to be believed
_LABEL = "__label__"


class Identifier(Protocol):
    """Tells lines of other languages than one; without labels it does not know that one, and tells none.

    script  the one that the language is written in
    shares  of the data set, that other languages have by their labels; None where that is not known
    least   the weight of the letters of the shortest lines that may be told
    """

    script: Script
    shares: Mapping[str, float] | None
    least: int

    @property
    def labels(self) -> frozenset[str]:
        """The labels that are the language."""

    def learn(self, lines: Sequence[str]) -> None:
        """Learn from some of a data set's lines what it is in."""

    def others(self, lines: Sequence[str]) -> list[str]:
        """For each line the label of the other language that it is in; empty if none, or if undecided."""


class Heli:
    """HeLI-OTS 2 (Jauhiainen et al., 2022) by heliport: 220 languages, without a network.

    It is asked twice: which language is likeliest, and if that is another one, whether the expected one is so
    much less likely that neither names nor loanwords explain it.

    labels  of the language, ISO 639-3; those that HeLI does not have are ignored, and with none left every
            line is undecided
    script  Unicode's name of the language's script. Raises InputError for an unknown one.
    """

    def __init__(self, labels: Collection[str], script: str) -> None:
        self.script = Script(script)
        self.labels = _known(labels, _heli().get_confidence_all() if labels else (), "HeLI-OTS")
        self.shares: Mapping[str, float] | None = None
        self.least = LEAST
        self._doubts: Mapping[str, float] = {}  # of the languages that the data set has
        self._rare = 0.0  # of the others

    def learn(self, lines: Sequence[str]) -> None:
        """Learn the shares by those lines that are long, which tell their language by themselves."""
        self.shares, self.least, self._doubts, self._rare = None, LEAST, {}, 0.0  # as long lines are told
        self.shares = _shares(self, lines)
        if self.shares is None:
            return
        own = 1 - sum(self.shares.values())
        self._rare = _doubt(0.0, own)
        doubts = {label: _doubt(share, own) for label, share in self.shares.items()}
        # English stands among the text of all languages: that a data set has little of it tells nothing.
        self._doubts = doubts | {"eng": min(0.0, doubts.get("eng", 0.0))}
        if min(self._doubts.values()) < 0:
            self.least = 1

    def others(self, lines: Sequence[str]) -> list[str]:
        """For each line the label of the other language that it clearly is in, or nothing."""
        return [self._other(line) for line in lines] if self.labels else [""] * len(lines)

    def _other(self, line: str) -> str:
        # Where the data set is mostly in another language, a line may be in that though it looks like ours.
        expected = min(self._doubts.values(), default=0.0) >= -EVIDENCE
        if expected and _heli().identify(line, ignore_confidence=True) in self.labels:
            return ""
        evidence = self.script.evidence(line)
        enough = evidence.is_enough
        return self._likelier(evidence, enough) if enough or evidence.weight >= self.least else ""

    def _likelier(self, evidence: Evidence, enough: bool) -> str:
        """The language that what is judged is in, if it is so much likelier than the expected one.

        enough  whether it tells that by itself; else only languages count of which the data set has much
        """
        costs = dict(_heli().identify_topk_with_score(evidence.text, CANDIDATES))
        if not costs:
            return ""
        ours = min((costs[label] for label in self.labels if label in costs), default=max(costs.values()))
        beyond = {
            label: ours - costs[label] - self._margin(label, evidence)
            for label in filter(self._is_candidate(evidence), costs)
            if label not in self.labels and (enough or self._doubts.get(label, 0.0) < 0)
        }
        best = max(beyond, key=lambda label: beyond[label], default="")
        return best if best and beyond[best] >= 0 else ""

    def _margin(self, label: str, evidence: Evidence) -> float:
        """By how much cheaper a language must be than the expected one."""
        doubt = self._doubts.get(label, self._rare)
        margin = (ENGLISH_MARGIN if label == "eng" else MARGIN) + min(0.0, doubt)
        return max(margin, (EVIDENCE + doubt) * LEAST / evidence.weight)

    def _is_candidate(self, evidence: Evidence) -> Callable[[str], bool]:
        return lambda label: label in self.labels or (label not in _NO_LANGUAGE and evidence.allows(label))


class FastText:
    """A model of fastText, believed where it finds its label more likely than not.

    labels  that are the language: whole ones (`eng_Latn`), or their part before the script (`eng`), which
            then may be any; those that the model does not have are ignored, and with none left every line
            is undecided
    script  Unicode's name of the language's script. Raises InputError for an unknown one.
    always  believe it of short lines, too, and however likely the label is, as OpusCleaner does
    """

    def __init__(self, model: Path, labels: Collection[str], script: str, always: bool = False) -> None:
        self.script, self._always = Script(script), always
        self.shares: Mapping[str, float] | None = None
        self.least = LEAST
        self._model = _fasttext(model)
        known = {label.removeprefix(_LABEL) for label in self._model.get_labels()}
        parts = known | {label.partition("_")[0] for label in known}
        self.labels = _known(labels, parts, model.name)

    def learn(self, lines: Sequence[str]) -> None:
        """Learn the shares, which are for people: the model says by itself how likely its label is."""
        self.shares = _shares(self, lines)

    def others(self, lines: Sequence[str]) -> list[str]:
        """For each line the label that is likeliest, where it is not the language's; else nothing."""
        if not self.labels or not lines:
            return [""] * len(lines)
        judged = [
            Evidence(line, LEAST, LEAST, False) if self._always else self.script.evidence(line)
            for line in lines
        ]
        found, probabilities = self._model.predict([evidence.text for evidence in judged])
        return [
            self._other(evidence, label.removeprefix(_LABEL), float(probability))
            for evidence, (label,), (probability,) in zip(judged, found, probabilities, strict=True)
        ]

    def _other(self, evidence: Evidence, label: str, probability: float) -> str:
        if not self.labels.isdisjoint((label, label.partition("_")[0])):
            return ""
        sure = probability >= LEAST_PROBABILITY and evidence.is_enough and evidence.allows(label)
        return label if sure or self._always else ""


def _doubt(share: float, own: float) -> float:
    """How much more a line must tell to be in a language with that share than in a text by itself."""
    return PRIOR * math.log10(USUAL * max(RARE, own) / max(RARE, share))


def _shares(identifier: Identifier, lines: Sequence[str]) -> Mapping[str, float] | None:
    """Which share of some lines of a data set is in which other language; None where they are too few.

    Short ones count together, as many as have the letters of a long one: the few long lines of a text of
    short ones may be what does not belong there.
    """
    weighed = [(line, identifier.script.evidence(line).weight) for line in lines] if identifier.labels else []
    long = [line for line, weight in weighed if weight >= LONG]
    long += _together((line, weight) for line, weight in weighed if 0 < weight < LONG)
    if len(long) < LEAST_LONG:
        return None
    found = Counter(filter(None, identifier.others(long)))
    shares = {label: number / len(long) for label, number in found.most_common()}
    told = ", ".join(f"{label} {share:.1%}" for label, share in [*shares.items()][:5])
    logger.info("of %d longer lines are in other languages: %s", len(long), told or "none")
    return shares


def _together(weighed: Iterable[tuple[str, int]]) -> Iterator[str]:
    """Lines one after another, joined to such as have the letters of a long one; without the last few."""
    joined, letters = list[str](), 0
    for line, weight in weighed:
        joined.append(line)
        letters += weight
        if letters >= LONG:
            yield " ".join(joined)
            joined, letters = [], 0


def _known(labels: Collection[str], there_are: Collection[str], name: str) -> frozenset[str]:
    """The labels that there are; a warning when there is none."""
    known = frozenset(labels).intersection(there_are)
    if known:
        logger.info("%s: the language is %s", name, " ".join(sorted(known)))
    else:
        logger.warning(
            "%s does not know this language (%s): no line is dropped for its language",
            name,
            " ".join(sorted(labels)) or "it has no label",
        )
    return known


@cache
def _heli() -> Any:
    """The shared model of HeLI; loading takes two seconds and 900 MB. Processes that are forked share it."""
    from heliport import Identifier as Heliport  # only where it is used

    return Heliport()


@cache
def _fasttext(model: Path) -> Any:
    """A model of fastText, loaded once for all languages. Raises InputError for a file that is none."""
    import fasttext  # only where a model is used

    fasttext.FastText.eprint = lambda text: None  # it warns of a change of its interface
    try:
        return fasttext.load_model(os.fspath(model))
    except ValueError as error:
        raise InputError(f"{model} is no model of fastText ({error}). Fetch it again.") from error


def sample_of(text: Path) -> list[str]:
    """Some of a file's lines, for `Identifier.learn`: long ones, with others where these are few."""
    least = LONG // LETTER  # letters, which have at least as many bytes
    long = _sample(text, range(least, MOST_BYTES), SAMPLE)
    return long if len(long) == SAMPLE else [*long, *_sample(text, range(1, least), SAMPLE - len(long))]


def _sample(text: Path, sizes: range, number: int) -> list[str]:
    return sample((line for line in read_lines(text) if len(line.encode()) in sizes), number, seed=1)


def make_identifier(
    labels: Collection[str], script: str, model: Path | None = None, always: bool = False
) -> Identifier:
    """What tells lines of other languages than one: a model of fastText where there is one, else HeLI."""
    return FastText(model, labels, script, always) if model else Heli(labels, script)
