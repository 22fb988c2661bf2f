"""The mechanics that both cleaning scripts share: clean block by block, write, count."""

import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.clean.tally import Tally
from pipeline.common.errors import InputError
from pipeline.common.line_blocks import BlockWriter
from pipeline.common.lines import count_lines
from pipeline.common.parallel_blocks import lines_of, read_parallel, text_of
from pipeline.common.pool import Texts, map_blocks
from pipeline.common.resources import threads
from pipeline.common.script import write_json
from pipeline.common.staging import staged

logger = logging.getLogger(__name__)


@dataclass
class Cleaned:
    """The good lines of each side of a block, repaired, and what became of the others."""

    sides: list[list[str]]
    tally: Tally = field(default_factory=Tally)


# Given the lines of each side. What becomes of a row must depend on that row alone.
Cleaner = Callable[[Sequence[list[str]]], Cleaned]


def clean(paths: Sequence[Path], cleaner: Cleaner, names: Sequence[str], output: Path) -> None:
    """Write the good lines of parallel files to output/<name> for each of them, and stats.json.

    Names end with the language and the compression: corpus.en.zst.

    Raises InputError, with the reasons, when no row is good; then nothing is written.
    """
    with staged(output) as (folder, _):
        tally = _write_clean(paths, cleaner, [folder / name for name in names])
        _refuse_empty(tally)
        stats = {"lines": tally.lines(), **tally.notes, "samples": tally.dropped_samples()}
        if tally.identified:
            sides = zip(names, tally.identified, strict=True)
            stats["identified"] = [{"lang": name.split(".")[-2], **side.to_json()} for name, side in sides]
        if tally.agreement:
            stats["agreement"] = tally.agreement.to_json()
        write_json(folder / "stats.json", stats)
    logger.info("read %d lines, kept %d; dropped: %s", tally.total, tally.kept, tally.reasons())


def _write_clean(paths: Sequence[Path], cleaner: Cleaner, outputs: Sequence[Path]) -> Tally:
    tally = Tally()
    try:
        with ExitStack() as stack:
            writers = [BlockWriter(path) for path in outputs]
            for writer in writers:
                stack.enter_context(writer)
            for texts, counted in map_blocks(_Work(cleaner), read_parallel(*paths), threads()):
                tally.add(counted)
                for writer, text in zip(writers, texts, strict=True):
                    writer.write_block(text)
    except UnicodeDecodeError:
        for path in paths:
            count_lines(path)  # it tells where the file is not UTF-8
        raise
    return tally


@dataclass(frozen=True)
class _Work:
    """What a process does with a block. Texts cost less to send than lists of lines."""

    cleaner: Cleaner

    def __call__(self, texts: Texts) -> tuple[Texts, Tally]:
        cleaned = self.cleaner([lines_of(text) for text in texts])
        return tuple(map(text_of, cleaned.sides)), cleaned.tally


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
