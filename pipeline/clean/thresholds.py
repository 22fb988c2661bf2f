"""Keeping the lines whose score is above a threshold."""

import logging
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from pipeline.clean.tally import Tally
from pipeline.common.lines import LineWriter, zip_lines
from pipeline.common.script import write_json
from pipeline.common.staging import staged

REASON = "low_score"

logger = logging.getLogger(__name__)


def keep_above(
    threshold: float, scores: Path, texts: Sequence[Path], names: Sequence[str], output: Path
) -> None:
    """Write the lines of parallel texts with a score above the threshold to output/<name> for each of them.

    Their scores go to scores.zst, the counts and samples to stats.json. It is no error when no line is left,
    as other data sets may have some.
    """
    tally = Tally()
    with staged(output) as (folder, _):
        with ExitStack() as stack:
            writers = [stack.enter_context(LineWriter(folder / name)) for name in (*names, "scores.zst")]
            for *sides, score in zip_lines(*texts, scores):
                if float(score) > threshold:
                    tally.kept += 1
                    for writer, line in zip(writers, (*sides, score), strict=True):
                        writer.write(line)
                else:
                    tally.drop(REASON, (score, *sides))
        stats = {"lines": tally.lines(), "threshold": threshold, "samples": tally.dropped_samples()}
        write_json(folder / "stats.json", stats)
    if not tally.kept:
        logger.warning("none of the lines has a score above %s; the data set gives nothing", threshold)
    logger.info("read %d lines, kept %d with a score above %s", tally.total, tally.kept, threshold)
