"""Runs eflomal (Östling and Tiedemann 2016) on a block of sentence pairs.

eflomal samples, and has no option for its seed: the same text gets somewhat different links each time.
"""

import itertools
import math
import os
import signal
import subprocess
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

import eflomal

from pipeline.common.errors import InputError, TemporaryError
from pipeline.common.lines import count_lines, read_lines
from pipeline.common.processes import dying_with_parent
from pipeline.common.resources import threads

SAMPLERS = 3  # independent samplers whose distributions are added up, eflomal's default
NULL_PRIOR = 0.2  # probability of no link before anything is known, eflomal's default
PRIORS = "priors.numbers"
PROGRAM = Path(eflomal.__file__).parent / "bin" / "eflomal"


@dataclass(frozen=True)
class Block:
    """Sentence pairs that are aligned together: `source` and `target` in a folder, words joined by spaces.

    Lines without words get no links. `forward` and `reverse` are written beside them, one line a pair.
    """

    folder: Path
    number: int
    priors: Path | None = None

    @property
    def source(self) -> Path:
        return self.folder / "source"

    @property
    def target(self) -> Path:
        return self.folder / "target"

    @property
    def forward(self) -> Path:
        return self.folder / "forward"

    @property
    def reverse(self) -> Path:
        return self.folder / "reverse"


def align_directions(block: Block) -> None:
    """Align a block in both directions: `source`, `target` → `forward`, `reverse` (source-target indices).

    Raises InputError when its priors are none, TemporaryError when eflomal is killed.
    """
    indices = [_write_numbers(text) for text in (block.source, block.target)]
    pairs = sum(1 for line in read_lines(block.source) if line)
    if pairs == 0:
        block.forward.write_text("\n" * count_lines(block.source))
        block.reverse.write_text("\n" * count_lines(block.source))
        return
    if block.priors is not None:
        pairs = max(pairs, _write_priors(block.priors, indices, block.folder / PRIORS))
    with ThreadPoolExecutor(min(2, threads())) as pool:
        runs = [pool.submit(_run, block, pairs, option) for option in ("-f", "-r")]
    for run in runs:
        run.result()


def compute_priors(block: Block, output: Path) -> None:
    """Count the links of an aligned block into a priors file, in the format of `eflomal-align --priors`.

    Lexical, forward jump and source fertility counts come from the forward links, the others from the reverse
    ones. Words are lower-cased, as eflomal does when it aligns. Pairs that were not aligned do not count.
    """
    files = (block.source, block.target, block.forward, block.reverse)
    rows = zip(*(map(str.lower, read_lines(file)) for file in files), strict=True)
    aligned = itertools.tee((row for row in rows if row[0]), len(files))
    columns = (map(itemgetter(column), stream) for column, stream in enumerate(aligned))
    counts = eflomal.calculate_priors(*columns)
    with output.open("w", encoding="utf-8", newline="\n") as stream:
        eflomal.write_priors(stream, *counts)


def iterations(pairs: int) -> tuple[int, int, int]:
    """How often eflomal samples with each of its three models; fewer times the more text there is.

    The rule is eflomal's own. Text that a block's priors were learned from counts as the block's: it knows as
    much as they do, and more rounds, which small parts of a corpus would get, change nothing for the better.
    """
    most = max(2, round(5000 / math.sqrt(pairs)))
    quarter = max(1, most // 4)
    return max(2, quarter), quarter, most


def _write_numbers(text: Path) -> eflomal.TextIndex:
    """Write a text as numbers for the program; returns the numbers of its words."""
    with text.with_suffix(".numbers").open("wb") as numbers:
        index, _, _ = eflomal.to_eflomal_text_file(read_lines(text), numbers)
    return index


def _write_priors(priors: Path, indices: Sequence[eflomal.TextIndex], output: Path) -> int:
    """Write priors as numbers for the program; returns how many pairs they were learned from."""
    counts = _read_priors(priors)
    with output.open("w") as numbers:
        eflomal.to_eflomal_priors_file(counts, *indices, numbers)
    words, forward_jumps, *_ = counts
    # A pair has a jump to each of its links, and one more to its end.
    pairs: float = sum(forward_jumps.values()) - sum(count for _, _, count in words)
    return round(pairs)


def _read_priors(priors: Path) -> tuple[Any, ...]:
    try:
        return tuple(eflomal.read_priors(read_lines(priors)))
    except (ValueError, TypeError, IndexError) as error:
        raise InputError(
            f"{priors} is not a priors file ({error}). Give the corpus.priors of pipeline.alignments.priors."
        ) from error


def _run(block: Block, pairs: int, option: str) -> None:
    """Align one direction: `-f` for `forward`, `-r` for `reverse`."""
    output = block.forward if option == "-f" else block.reverse
    result = subprocess.run(
        [str(part) for part in _arguments(block, pairs, option, output)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        preexec_fn=dying_with_parent(),
    )
    if result.returncode < 0 and result.returncode != -signal.SIGILL:  # built for another processor
        name = signal.Signals(-result.returncode).name
        raise TemporaryError(f"eflomal was killed by {name}; was memory short?")
    if result.returncode != 0:
        raise RuntimeError(f"eflomal ended with code {result.returncode}: {result.stderr.decode()[-2000:]}")


def _arguments(block: Block, pairs: int, option: str, output: Path) -> Iterable[object]:
    ibm1, hmm, fertility = iterations(pairs)
    texts = ("-s", block.source.with_suffix(".numbers"), "-t", block.target.with_suffix(".numbers"))
    model = ("-m", 3, "-1", ibm1, "-2", hmm, "-3", fertility, "-n", SAMPLERS, "-N", NULL_PRIOR)
    priors = () if block.priors is None else ("-p", block.folder / PRIORS)
    return (PROGRAM, *texts, *model, "-q", option, output, *priors)
