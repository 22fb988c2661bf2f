"""Gates of datasets as they came in, over the stats of cleaning: what each side is in, whether sides agree.

What `pipeline.clean.agreement` and `pipeline.clean.identification` found is judged by dataset. Decision 45
has the figures behind the thresholds.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from translations_assets.checks.verdict import Documents, NothingToJudge, Verdict, each, percent
from translations_assets.config import gates
from translations_assets.config.providers import MONO, PARALLEL
from translations_assets.results.statistics import SidesAgreement, Statistics

FEWEST = 50  # sentences, or pairs whose lengths are compared, of which a share tells something
FEWEST_LINES = 1_000  # of a dataset, that the share of those that are dropped tells something of it
ALIKE = 3  # other datasets of a provider that show what is usual for it
_PROVIDERS = tuple(f"-{provider}" for provider in (*PARALLEL, *MONO))


@dataclass(frozen=True)
class _SideFinding:
    """A finding on a dataset or side: its number, whether that is too much, its wording, samples."""

    number: float
    bad: bool
    told: str
    samples: Sequence[str] = ()


def agreement(documents: Documents[Statistics], thresholds: gates.Agreement) -> Verdict:
    """Places of a dataset at which targets fit the sources beside theirs as well as their own, or better."""
    judged = {
        dataset: _shifted(dataset, found, thresholds)
        for dataset, found in _agreements(documents)
        if found.windows
    }
    return _verdict(judged, "no parallel dataset has lines enough")


def _shifted(dataset: str, found: SidesAgreement, thresholds: gates.Agreement) -> _SideFinding:
    apart, windows = sum(found.apart.values()), found.windows
    at, times = max(found.apart.items(), key=lambda one: int(one[1]), default=("None", 0))
    told = f"in {dataset} source and target do not go together at {apart:,} of {windows:,} places"
    if found.places:
        told += f", the first of them at line {found.places[0]:,}"
    if at != "None":
        lines = f"{abs(int(at))} line{'s' if abs(int(at)) > 1 else ''}"
        told += f"; at {times:,} each target fits the source {lines} {'above' if int(at) > 0 else 'below'} it"
    # A single place at which nothing fits is chance, of names and single words; one that says where its
    # targets are is not.
    counted = apart - min(1, found.apart.get("None", 0))
    return _SideFinding(apart / windows, counted / windows > thresholds.max_share, told)


def half_translated(documents: Documents[Statistics], thresholds: gates.HalfTranslated) -> Verdict:
    """Sentences whose translation is a copy, has much of the source in it, or ends too soon."""
    judged: dict[str, _SideFinding] = {}
    for dataset, found in _agreements(documents):
        if found.sentences >= FEWEST:
            for what, number, most, told in (
                ("copied", found.copied, thresholds.max_copied, "have their own text for a translation"),
                (
                    "partly",
                    found.partly,
                    thresholds.max_partly,
                    "have many of their words in their translation",
                ),
            ):
                share = number / found.sentences
                judged[f"{what}, {dataset}"] = _SideFinding(
                    share,
                    share > most,
                    f"{percent(share)} of the sentences of {dataset} {told}",
                    found.samples if what == "partly" else (),
                )
        if found.lengths.pairs >= FEWEST:
            judged |= _lengths(dataset, found.lengths.quartiles, thresholds)
    return _verdict(judged, "no parallel dataset has sentences enough")


def _lengths(
    dataset: str, quartiles: Sequence[float], thresholds: gates.HalfTranslated
) -> dict[str, _SideFinding]:
    low, median, high = quartiles
    spread, off = high / low, max(median, 1 / median)
    spread_told = (
        f"translations of {dataset} have {low:.2f} to {high:.2f} times the letters of their sources, in the "
        "middle half of the pairs"
    )
    if spread > thresholds.max_spread:
        spread_told += ": some of them end too soon, or say more"
    return {
        f"spread of lengths, {dataset}": _SideFinding(
            spread,
            spread > thresholds.max_spread,
            spread_told,
        ),
        f"lengths, {dataset}": _SideFinding(
            median,
            off > thresholds.max_factor,
            f"translations of {dataset} have {median:.2f} times the letters of their sources",
        ),
    }


def sides(documents: Documents[Statistics], thresholds: gates.Sides) -> Verdict:
    """Long lines that are in another language, before anything is dropped, by dataset and side."""
    judged: dict[str, _SideFinding] = {}
    for dataset, stats in each(documents):
        for side in stats.identified:
            if side.shares is not None:
                share = sum(side.shares.values())
                told = f"{percent(share)} of the longer lines of {dataset} are not in {side.lang}"
                if side.shares:
                    told += f", most of them in {', '.join(list(side.shares)[:2])}"
                judged[f"{dataset}, {side.lang}"] = _SideFinding(share, share > thresholds.max_share, told)
    return _verdict(judged, "the languages of no dataset are known before cleaning")


def dropped(documents: Documents[Statistics], thresholds: gates.Dropped) -> Verdict:
    """Lines that cleaning drops, beside what it drops of other datasets of the same provider."""
    shares: dict[str, float] = {}
    reasons: dict[str, str] = {}
    for dataset, stats in each(documents):
        lines = stats.lines
        if lines and lines.read >= FEWEST_LINES:
            shares[dataset] = 1 - lines.kept / lines.read
            reasons[dataset] = ", ".join(list(lines.dropped)[:2])
    judged = {dataset: _unusual(dataset, shares, reasons[dataset], thresholds) for dataset in shares}
    return _verdict(judged, f"no dataset has {FEWEST_LINES:,} lines")


def _unusual(
    dataset: str, shares: Mapping[str, float], reasons: str, thresholds: gates.Dropped
) -> _SideFinding:
    """Judge the share that is dropped of a dataset, alone or beside others of its provider."""
    alike = [
        share
        for other, share in shares.items()
        if other != dataset and _provider(other) == _provider(dataset)
    ]
    usual = statistics.median(alike) if len(alike) >= ALIKE else None
    told = f"{percent(shares[dataset])} of the lines of {dataset} are dropped"
    told += f", most of them by {reasons}" if reasons else ""
    told += f"; of others of its provider usually {percent(usual)}" if usual is not None else ""
    most = thresholds.max_share if usual is None else min(thresholds.max_share, usual + thresholds.max_above)
    return _SideFinding(shares[dataset], shares[dataset] > most, told)


def _provider(step: str) -> str:
    """The provider in the label of a step (clean-corpus-opus_Books-v1-en-fr); with an alias, which says
    nothing of it, the label itself, so that the dataset is beside no other.
    """
    name = step.partition("_")[0]
    return name if name.endswith(_PROVIDERS) else step


def _agreements(documents: Documents[Statistics]) -> Iterator[tuple[str, SidesAgreement]]:
    """Yield the statistics of agreement, of the datasets that have any."""
    return ((step, stats.agreement) for step, stats in each(documents) if stats.agreement)


def _verdict(judged: Mapping[str, _SideFinding], absent: str) -> Verdict:
    """Report the worst of the bad findings, else the largest number. Raises NothingToJudge without any."""
    if not judged:
        raise NothingToJudge(absent)
    worst_first = sorted(judged.values(), key=lambda found: -found.number)
    bad = [found for found in worst_first if found.bad]
    told = [found.told for found in bad] or [worst_first[0].told]
    return Verdict(
        not bad,
        "; ".join(told),
        {name: found.number for name, found in judged.items()},
        [sample for found in bad for sample in found.samples],
    )
