"""Rows of the merges, which judge every row of all data sets: so does this, by the same functions."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pipeline.clean import merge_mono, merge_parallel, merge_translated
from pipeline.clean.arguments import weights_of
from pipeline.clean.columns import Dataset, Rows, read_datasets
from pipeline.clean.diverse import limit_diverse
from pipeline.clean.held_out import HeldOut
from pipeline.clean.keys import Keys, KeySet
from pipeline.clean.merged import limit_rows
from pipeline.clean.merging import STRETCH, Judgement, Policy, Verdict, both_sides, judge, last_side
from pipeline.samples.drawn import KEPT, READ, Drawn, Wanted, drawn
from pipeline.samples.rows import Text, fetch, lowest_of

SCORE = "score"


class Limit(NamedTuple):
    """A limit on the rows that are kept, as the options of the merges give it."""

    size: int
    seed: int
    weights: Sequence[Fraction] | None = None
    diverse: bool = False


def of_pairs(options: Sequence[str], made: Path, wanted: Wanted, scratch: Path) -> Drawn:
    """Draw pairs of pipeline.clean.merge_parallel."""
    args = merge_parallel.parse_arguments(options)
    held_out = HeldOut((args.src, args.trg), (args.held_out_src, args.held_out_trg), whole_pairs=True)
    policy = Policy(last_side, held_out, near=args.near_duplicates)
    limit = Limit(args.max_sentences, args.seed, weights_of(args)) if args.max_sentences else None
    return _draw(merge_parallel.datasets_of(args), policy, limit, wanted, scratch)


def of_lines(options: Sequence[str], made: Path, wanted: Wanted, scratch: Path) -> Drawn:
    """Draw lines of pipeline.clean.merge_mono."""
    args = merge_mono.parse_arguments(options)
    datasets = [Dataset(name, (text,)) for name, text in zip(args.datasets, args.text, strict=True)]
    held_out = HeldOut((args.lang,), (args.held_out,))
    policy = Policy(last_side, held_out, known=args.parallel, near=args.near_duplicates)
    limit = (
        Limit(args.max_sentences, args.seed, weights_of(args), args.diverse) if args.max_sentences else None
    )
    return _draw(datasets, policy, limit, wanted, scratch)


def of_translated(options: Sequence[str], made: Path, wanted: Wanted, scratch: Path) -> Drawn:
    """Draw pairs of pipeline.clean.merge_translated."""
    args = merge_translated.parse_arguments(options)
    held_out = HeldOut((args.src, args.trg), (args.held_out_src, args.held_out_trg))
    return _draw(merge_translated.datasets_of(args), Policy(both_sides, held_out), None, wanted, scratch)


def _draw(
    datasets: Sequence[Dataset], policy: Policy, limit: Limit | None, wanted: Wanted, scratch: Path
) -> Drawn:
    judgement = judge(datasets, policy, scratch)
    if limit and limit.diverse:
        limit_diverse(datasets, judgement, limit.size, limit.seed, limit.weights, scratch)
    elif limit:
        limit_rows(judgement, limit.size, limit.seed, limit.weights)
    lowest, rows = wanted.lowest(), 0
    for dataset, first, verdicts in judgement.stretches():
        if wanted.dataset in ("", datasets[dataset].name):
            rows += len(verdicts)
            groups = {READ: np.ones(len(verdicts), dtype=bool)}
            for verdict in Verdict:
                groups[KEPT if verdict == Verdict.KEPT else verdict.reason] = verdicts == verdict
            for group, chosen in groups.items():
                lowest.add(group, lowest_of(first, chosen, wanted.number, wanted.places))
    texts = [Text(one.name, one.files, {SCORE: one.scores} if one.scores else {}) for one in datasets]
    starts = [0, *np.cumsum(judgement.sizes).tolist()]
    found = fetch(texts, starts, lowest.all_numbers())
    for number, row in found.items():
        verdict = Verdict(judgement.verdicts[number])
        row.reason = "" if verdict == Verdict.KEPT else verdict.reason
        row.result = None if row.reason else row.text
    duplicates = [number for number, row in found.items() if row.reason == Verdict.DUPLICATE.reason]
    winners = _winners(duplicates, datasets, policy, judgement, scratch)
    others = fetch(texts, starts, winners.values())
    for number, winner in winners.items():
        found[number].instead = others[winner]
    return drawn(rows, rows, lowest, found, wanted)


def _winners(
    duplicates: Sequence[int],
    datasets: Sequence[Dataset],
    policy: Policy,
    judgement: Judgement,
    scratch: Path,
) -> Mapping[int, int]:
    """For each of some duplicates the row that was taken in its place; all are read once more."""
    if not duplicates:
        return {}
    again = scratch / "again"
    again.mkdir()
    parts, rows = read_datasets(datasets, again, near=policy.near), np.array(duplicates)
    wanted = {}
    for first, keys in _keys(parts, policy):
        for row in rows[(rows >= first) & (rows < first + len(keys))].tolist():
            wanted[row] = keys[row - first].copy()
    known, winners = KeySet(np.stack([*wanted.values()])), dict[bytes, int]()
    for first, keys in _keys(parts, policy):
        verdicts = judgement.verdicts[first : first + len(keys)]
        is_winner = np.isin(verdicts, (Verdict.KEPT, Verdict.SAMPLED_OUT))
        for place in np.flatnonzero(is_winner & known.holds(keys)).tolist():
            winners[keys[place].tobytes()] = first + place
    return {row: winners[key.tobytes()] for row, key in wanted.items()}


def _keys(parts: Sequence[Rows], policy: Policy) -> Iterator[tuple[int, Keys]]:
    """Yield the number of a row, and the keys of some rows from that one on."""
    first = 0
    for part in parts:
        for sides, _ in part.stretches(STRETCH):
            keys = policy.key(sides)
            yield first, keys
            first += len(keys)
