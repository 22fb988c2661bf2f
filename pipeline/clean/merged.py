"""The second pass of the merges: the lines that were judged good, their sample, their numbers."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from pipeline.clean.merging import Dataset, Judgement, Row, Verdict
from pipeline.clean.selection import Selection
from pipeline.clean.tally import MAX_SAMPLES, SAMPLE_CHARACTERS, Tally
from pipeline.common.lines import LineWriter, write_lines
from pipeline.common.sampling import Reservoir
from pipeline.common.script import write_json

logger = logging.getLogger(__name__)

SAMPLE_ROWS = 1_000


class Merged:
    """The rows to keep, in order, at most `limit` of them, uniformly chosen; and the tallies."""

    def __init__(
        self, datasets: Sequence[Dataset], judgement: Judgement, seed: int, limit: int | None = None
    ) -> None:
        self.tallies = [(dataset, Tally()) for dataset in datasets]
        self._verdicts = judgement.verdicts()
        size = judgement.kept if limit is None else limit
        self._selection = Selection(judgement.kept, size, f"max-sentences {seed}")

    def rows(self) -> Iterator[Row]:
        """Read the data sets again and yield what is kept; to be called once."""
        for dataset, tally in self.tallies:
            for row in dataset.rows():
                verdict = Verdict(next(self._verdicts))
                if verdict == Verdict.KEPT and not self._selection.take():
                    verdict = Verdict.SAMPLED_OUT
                if verdict == Verdict.KEPT:
                    tally.kept += 1
                    yield row
                else:
                    tally.drop(verdict.reason)

    def write_stats(self, path: Path, samples: Sequence[Row]) -> None:
        """Write stats.json: the numbers of all lines and of each data set's, and a few of the rows kept."""
        whole = Tally()
        for dataset, tally in self.tallies:
            whole.add(tally)
            logger.info(
                "%s: %d lines, kept %d; dropped: %s", dataset.name, tally.total, tally.kept, tally.reasons()
            )
        logger.info("wrote %d of %d lines; dropped: %s", whole.kept, whole.total, whole.reasons())
        stats = {
            "lines": whole.lines(),
            "datasets": [{"dataset": dataset.name, **tally.lines()} for dataset, tally in self.tallies],
            "samples": [shown(row) for row in samples[:MAX_SAMPLES]],
        }
        write_json(path, stats)


def shown(row: Row) -> str | list[str]:
    """A row as stats.json shows it: a string, or source and target."""
    sides = [side[:SAMPLE_CHARACTERS] for side in row]
    return sides if len(sides) > 1 else sides[0]


def write_rows(rows: Iterable[Row], folder: Path, names: Sequence[str], seed: int) -> list[Row]:
    """Write each side to folder/<name> and 1,000 uniformly chosen rows to sample.txt; return these."""
    sample: Reservoir[Row] = Reservoir(SAMPLE_ROWS, f"sample.txt {seed}")
    with ExitStack() as stack:
        writers = [stack.enter_context(LineWriter(folder / name)) for name in names]
        for row in rows:
            sample.add(row)
            for writer, side in zip(writers, row, strict=True):
                writer.write(side)
    write_lines(folder / "sample.txt", ("\t".join(row) for row in sample.items()))
    return sample.items()
