"""Rows of the steps that clean by filters, each row judged by the filters of its step.

A filter that only OpusCleaner itself has judges whole blocks, and does not say which rows it drops: rows that
come to one are looked for in what the step left.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pipeline.clean import apply_mono_filters, clean_mono, clean_parallel
from pipeline.clean.filtering.block import Block, Filter
from pipeline.clean.filtering.cleaner import MAX_CHARACTERS, plain
from pipeline.clean.filtering.filter_file import FilterStep, read_filter_file
from pipeline.clean.filtering.lengths import letter_table
from pipeline.clean.filtering.opuscleaner import OpusCleaner
from pipeline.clean.filtering.registry import FILTERS, AnyFilter, Resources, make_filters, make_mono_filters
from pipeline.clean.identification import Identifier, make_identifier, sample_of
from pipeline.clean.rules import Tokens, mono_filters
from pipeline.common.lines import read_lines
from pipeline.common.selection import Selection
from pipeline.samples.drawn import KEPT, READ, UNDECIDED, Drawn, Wanted, drawn
from pipeline.samples.rows import Row, Text, count_rows, found_in, rows_in

TOO_LONG = "too_long"
MIXED = (
    "The filters {} judge whole blocks: of a line that came to them and did not come out the same, it is not "
    "known which of them changed or dropped it."
)
MORE = 20  # times as many rows are drawn of those that are to be looked for in what the step left


class Rules(NamedTuple):
    """The filters of a step by their names; the names of those after them that do not tell what they drop."""

    filters: Sequence[tuple[str, AnyFilter]]
    others: Sequence[str] = ()


def of_pairs(options: Sequence[str], made: Path, wanted: Wanted, scratch: Path) -> Drawn:
    """Draw pairs of pipeline.clean.clean_parallel."""
    args = clean_parallel.parse_arguments(options)
    codes = (args.src_code or args.src, args.trg_code or args.trg)
    steps = [step for file in args.filters for step in read_filter_file(file, codes)]
    if args.fix_currencies and "currency_mismatch" not in [step.name for step in steps]:
        steps.append(FilterStep("--fix-currencies", 1, "currency_mismatch", (), {"FIX": True}))

    def identifiers() -> Sequence[Identifier]:
        always = args.believe_always
        source = make_identifier(args.src_labels, args.src_script, args.src_language_model, always)
        target = make_identifier(args.trg_labels, args.trg_script, args.trg_language_model, always)
        source.learn(sample_of(args.corpus_src))
        target.learn(sample_of(args.corpus_trg))
        return source, target

    resources = Resources(
        alphabets=json.loads(args.alphabets.read_text(encoding="utf-8")),
        words_of_english=json.loads(args.words.read_text(encoding="utf-8")),
        currencies=json.loads(args.currencies.read_text(encoding="utf-8")),
        patterns={path.name: list(read_lines(path)) for path in args.patterns},
        identifiers=identifiers,
        codes=codes,
    )
    known, others = _known(steps)
    rules = Rules(make_filters(known, resources), others)
    left = [made / f"corpus.{lang}.zst" for lang in (args.src, args.trg)]
    return _draw(Text("", (args.corpus_src, args.corpus_trg)), rules, left, wanted)


def of_filtered_lines(options: Sequence[str], made: Path, wanted: Wanted, scratch: Path) -> Drawn:
    """Draw lines of pipeline.clean.apply_mono_filters."""
    args = apply_mono_filters.parse_arguments(options)
    code = args.code or args.lang
    known, others = _known(read_filter_file(args.filters, [code]))
    rules = Rules(make_mono_filters(known, code), others)
    return _draw(Text("", (args.text,)), rules, [made / f"mono.{args.lang}.zst"], wanted)


def of_lines(options: Sequence[str], made: Path, wanted: Wanted, scratch: Path) -> Drawn:
    """Draw lines of pipeline.clean.clean_mono."""
    args = clean_mono.parse_arguments(options)
    alphabets = json.loads(args.alphabets.read_text(encoding="utf-8"))
    alphabet = args.alphabet or args.lang
    letters = letter_table(alphabets[alphabet]) if alphabet in alphabets else None
    identifier = make_identifier(args.labels, args.script, args.language_model, args.believe_always)
    identifier.learn(sample_of(args.text))
    rules = Rules(mono_filters(Tokens(args.unspaced, args.max_tokens), letters, identifier))
    return _draw(Text("", (args.text,)), rules, [made / f"mono.{args.lang}.zst"], wanted)


def _known(steps: Sequence[FilterStep]) -> tuple[Sequence[FilterStep], Sequence[str]]:
    """The filters up to the first one of OpusCleaner's own, and the names of the others."""
    place = next((number for number, step in enumerate(steps) if step.name not in FILTERS), len(steps))
    return steps[:place], list(dict.fromkeys(step.name for step in steps[place:]))


def _draw(text: Text, rules: Rules, left: Sequence[Path], wanted: Wanted) -> Drawn:
    rows = count_rows(text.files[0])
    size = wanted.judged(rows)
    lowest, judged = wanted.lowest(), dict[int, Row]()
    undecided = wanted.lowest(MORE)
    for part in _parts(text, Selection(rows, size, wanted.places)):
        judge(rules, part)
        lowest.add(READ, np.array([*part]))
        for group, numbers in _groups(part).items():
            (undecided if group == UNDECIDED else lowest).add(group, np.array(numbers))
        judged |= part
        judged = {number: judged[number] for number in lowest.all_numbers() | undecided.all_numbers()}
    _look_up(judged, left)
    for group, numbers in _groups({one: judged[one] for one in undecided.numbers(UNDECIDED)}).items():
        lowest.add(group, np.array(numbers))
    notes = [MIXED.format(", ".join(rules.others))] if rules.others else []
    return drawn(rows, size, lowest, judged, wanted, notes)


def _parts(text: Text, selection: Selection) -> Iterator[dict[int, Row]]:
    """Yield the selected rows by their numbers, those of a block of the text at a time."""
    for first, block in text.blocks():
        chosen = selection.chosen(first, block[0].count(b"\n"))
        if found := {row.line - 1: row for row in rows_in(text, first, block, chosen)}:
            yield found


def judge(rules: Rules, rows: dict[int, Row]) -> None:
    """Note what becomes of rows by the filters of their step, one after the other."""
    short = {number: row for number, row in rows.items() if max(map(len, row.text)) <= MAX_CHARACTERS}
    for number in rows.keys() - short.keys():
        rows[number].reason = TOO_LONG
    if not short:
        return
    sides = [
        [plain(line) for line in side] for side in zip(*(row.text for row in short.values()), strict=True)
    ]
    block = Block(sides, np.array([*short]))
    for name, work in rules.filters:
        assert not isinstance(work, OpusCleaner), "such a filter is among the others"
        for number in _dropped_by(work, block):
            rows[number].reason = name
        block = _left_of(block)
        if not block.size:
            return
    results = zip(*block.in_order(), strict=True)
    for number, result in zip(np.sort(block.numbers).tolist(), results, strict=True):
        rows[number].result, rows[number].is_known = result, not rules.others


def _dropped_by(work: Filter, block: Block) -> list[int]:
    before = block.alive
    work(block)
    dropped: list[int] = block.numbers[before & ~block.alive].tolist()
    return dropped


def _left_of(block: Block) -> Block:
    """The rows that are still there, edited ones as they are now."""
    edited = block.take_edited()
    kept = block.kept()
    if not edited.size:
        return kept
    sides = [[*one.lines, *other.lines] for one, other in zip(kept.columns, edited.columns, strict=True)]
    return Block(sides, np.concatenate([kept.numbers, edited.numbers]))


def _groups(rows: dict[int, Row]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for number, row in rows.items():
        groups.setdefault((row.reason or KEPT) if row.is_known else UNDECIDED, []).append(number)
    return groups


def _look_up(rows: dict[int, Row], left: Sequence[Path]) -> None:
    """Look for what rows became in what the step left: where it is not, it is not known what became of it."""
    results = {number: row.result for number, row in rows.items() if row.result is not None}
    found = found_in(left, set(results.values()))
    for number, result in results.items():
        rows[number].is_known = result in found
        rows[number].result = result if result in found else None
