"""The mechanics that both cleaning scripts share: repair, judge, write, count."""

import logging
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.clean.alphabet import check_script
from pipeline.clean.blocks import Row, map_blocks
from pipeline.clean.language import log_coverage
from pipeline.clean.repair import repair
from pipeline.clean.rules import MAX_RAW, Language, Line, is_short_for_language, reason_to_drop
from pipeline.clean.tally import Tally
from pipeline.common.errors import InputError
from pipeline.common.lines import LineWriter
from pipeline.common.resources import threads
from pipeline.common.script import write_json
from pipeline.common.staging import staged

logger = logging.getLogger(__name__)


@dataclass
class Cleaned:
    """The good rows of a block, repaired, and what became of the others."""

    rows: list[Row] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)


@dataclass(frozen=True)
class Cleaner:
    """Cleans blocks of rows that have one side for each of the languages."""

    languages: tuple[Language, ...]

    def __call__(self, block: Sequence[Row]) -> Cleaned:
        """Clean one block; its result depends on its rows alone."""
        cleaned = Cleaned()
        for row in block:
            self._clean(row, cleaned)
        return cleaned

    def _clean(self, row: Row, cleaned: Cleaned) -> None:
        if max(map(len, row)) > MAX_RAW:
            cleaned.tally.drop("too_long", row)
            return
        sides = tuple(map(Line, map(repair, row), self.languages))
        reason = reason_to_drop(sides)
        if reason is not None:
            cleaned.tally.drop(reason, row)
            return
        cleaned.rows.append(tuple(side.text for side in sides))
        cleaned.tally.kept += 1
        if any(map(is_short_for_language, sides)):
            cleaned.tally.notes["kept_short_for_language"] += 1


def clean(rows: Iterable[Row], languages: Sequence[Language], names: Sequence[str], output: Path) -> None:
    """Write the good rows to output/<name> for each side, and stats.json.

    Raises InputError, with the reasons, when no row is good; then nothing is written.
    """
    for language in languages:
        check_script(language.script)
        log_coverage(language.code)
    with staged(output) as (folder, _):
        tally = _write_clean(rows, Cleaner(tuple(languages)), [folder / name for name in names])
        _refuse_empty(tally)
        samples = tally.dropped_samples()
        write_json(folder / "stats.json", {"lines": tally.lines(), **tally.notes, "samples": samples})
    logger.info("read %d lines, kept %d; dropped: %s", tally.total, tally.kept, tally.reasons())


def _write_clean(rows: Iterable[Row], cleaner: Cleaner, paths: Sequence[Path]) -> Tally:
    tally = Tally()
    with ExitStack() as stack:
        writers = [stack.enter_context(LineWriter(path)) for path in paths]
        for cleaned in map_blocks(cleaner, rows, threads()):
            tally.add(cleaned.tally)
            for row in cleaned.rows:
                for writer, text in zip(writers, row, strict=True):
                    writer.write(text)
    return tally


def _refuse_empty(tally: Tally) -> None:
    if tally.kept:
        return
    if not tally.total:
        raise InputError("The corpus is empty. Check the data set, or take it out of the training config.")
    raise InputError(
        f"Cleaning left none of {tally.total:,} lines; dropped: {tally.reasons()}. Check that the "
        "languages and scripts are those of the files, in this order; for example "
        + "; ".join(tally.dropped_samples()[:3])
    )
