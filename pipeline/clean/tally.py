"""What became of a data set's lines: how many came in, were kept, were dropped and why, with samples."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest

import numpy as np

MAX_SAMPLES = 10
SAMPLE_CHARACTERS = 120  # of each side
MAX_PLACES = 5
BIN = 0.05  # of logarithms of lengths' ratios, base 2


@dataclass
class Identified:
    """What identification made of a side's lines that are written in its language's script.

    script   Unicode's name of it
    shares   of the data set's longer lines, that are in other languages; None where that is not known
    lines    how many there were
    others   of them those that are said to be in another language, by its label
    samples  the first few of those
    """

    script: str
    lines: int = 0
    shares: Mapping[str, float] | None = None
    others: Counter[str] = field(default_factory=Counter)
    samples: list[str] = field(default_factory=list)

    def sample(self, label: str, line: str) -> None:
        """Remember a line that is said to be in another language, if it is among the first few."""
        if len(self.samples) < MAX_SAMPLES:
            self.samples.append(f"{label}: {line[:SAMPLE_CHARACTERS].strip()}")

    def add(self, other: "Identified") -> None:
        """Add what was found of the lines that follow."""
        self.lines += other.lines
        self.others.update(other.others)
        self.samples += other.samples[: MAX_SAMPLES - len(self.samples)]

    def to_json(self) -> dict[str, object]:
        """As stats.json holds it."""
        found = {
            "script": self.script,
            "lines": self.lines,
            "other": self.others.total(),
            "guesses": dict(self.others.most_common(MAX_SAMPLES)),
            "samples": self.samples,
        }
        if self.shares is not None:
            found["shares"] = {label: round(share, 4) for label, share in self.shares.items()}
        return found


@dataclass
class Agreement:
    """How the sides of pairs go together as they came in, by windows of them (`pipeline.clean.agreement`).

    windows    that could be judged
    fit        the sum of the shares of comparisons that their own targets won
    apart      windows in which targets do not fit, by the distance at which they would; None: at none
    places     the first lines of the first few of these, counted from 1
    sentences  sources of at least four words in small letters
    copied     of these, the ones whose target is the same text
    partly     others of which the target has 0.4 of these words or more
    samples    the first few of the latter
    ratios     how often the letters of target and source of the rest have which ratio, by its logarithm's bin
    """

    windows: int = 0
    fit: float = 0.0
    apart: Counter[int | None] = field(default_factory=Counter)
    places: list[int] = field(default_factory=list)
    sentences: int = 0
    copied: int = 0
    partly: int = 0
    samples: list[str] = field(default_factory=list)
    ratios: Counter[int] = field(default_factory=Counter)

    def add(self, other: "Agreement", before: int) -> None:
        """Add what was found of the lines that follow; `before` is how many there were."""
        self.windows += other.windows
        self.fit += other.fit
        self.apart.update(other.apart)
        self.places += [before + place for place in other.places][: MAX_PLACES - len(self.places)]
        self.sentences += other.sentences
        self.copied += other.copied
        self.partly += other.partly
        self.samples += other.samples[: MAX_SAMPLES - len(self.samples)]
        self.ratios.update(other.ratios)

    def to_json(self) -> dict[str, object]:
        """As stats.json holds it; `lengths` are the quartiles of the ratios, and of how many pairs."""
        return {
            "windows": self.windows,
            "fit": round(self.fit / self.windows, 4) if self.windows else None,
            "apart": {str(at): number for at, number in self.apart.most_common()},
            "places": self.places,
            "sentences": self.sentences,
            "copied": self.copied,
            "partly": self.partly,
            "samples": self.samples,
            "lengths": {"pairs": self.ratios.total(), "quartiles": self._quartiles()},
        }

    def _quartiles(self) -> list[float]:
        """The ratios that a quarter, half and three quarters of the pairs are below; none without pairs."""
        bins = sorted(self.ratios)
        up_to = np.cumsum([self.ratios[one] for one in bins])
        places = np.searchsorted(up_to, [self.ratios.total() * part / 4 for part in (1, 2, 3)])
        return [round(2.0 ** (bins[place] * BIN), 3) for place in places.tolist()] if bins else []


@dataclass
class Tally:
    """Counts of lines by what happened to them; tallies of parts add up to the tally of the whole."""

    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    identified: list[Identified] = field(default_factory=list)
    agreement: Agreement | None = None  # of pairs, as they came in
    samples: dict[str, list[str]] = field(default_factory=dict)

    def drop(self, reason: str, sides: Sequence[str] = ()) -> None:
        """Count a dropped line; the first few of a reason are remembered as samples."""
        self.dropped[reason] += 1
        samples = self.samples.setdefault(reason, [])
        if sides and len(samples) < MAX_SAMPLES:
            samples.append(f"{reason}: " + " | ".join(side[:SAMPLE_CHARACTERS].strip() for side in sides))

    def add(self, other: "Tally") -> None:
        """Add the tally of the lines that follow."""
        if other.agreement:
            self.agreement = self.agreement or Agreement()
            self.agreement.add(other.agreement, before=self.total)
        self.kept += other.kept
        self.dropped.update(other.dropped)
        self.notes.update(other.notes)
        self.identify(other.identified)
        for reason, samples in other.samples.items():
            ours = self.samples.setdefault(reason, [])
            ours += samples[: MAX_SAMPLES - len(ours)]

    def identify(self, sides: Sequence[Identified]) -> None:
        """Add what identification found of each side."""
        new = sides[len(self.identified) :]
        self.identified += [Identified(side.script, shares=side.shares) for side in new]
        for ours, found in zip(self.identified, sides, strict=False):
            ours.add(found)

    @property
    def total(self) -> int:
        """Lines that came in."""
        return self.kept + self.dropped.total()

    def lines(self) -> dict[str, object]:
        """The counts as stats.json holds them."""
        return {"in": self.total, "kept": self.kept, "dropped": dict(self.dropped.most_common())}

    def dropped_samples(self) -> list[str]:
        """At most ten dropped lines: the first of every reason, then the second of every reason, …"""
        tiers = zip_longest(*(self.samples[reason] for reason in sorted(self.samples)))
        return list(islice((sample for sample in chain.from_iterable(tiers) if sample), MAX_SAMPLES))

    def reasons(self) -> str:
        """The reasons with their counts, most frequent first, for people."""
        return ", ".join(f"{reason} {count:,}" for reason, count in self.dropped.most_common()) or "nothing"
