"""Multipliers of activations ("alphas"): how far 8 bits reach in front of each matrix of a student.

A product in 8 bits takes each activation times a multiplier, rounded, and cut at 127. Too small a multiplier
loses digits, too large a one cuts what is large. Marian looks at all activations twice to find the best each
time; the engines of browsers read it from the model. Here it follows from the largest absolute value in each
sentence of a text while the student translates it. Decision 27 compares the rule with others.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, write_lines
from pipeline.common.marian import MAX_LENGTH, Model, decode
from pipeline.common.pool import killed_is_temporary
from pipeline.common.processes import dying_with_parent
from pipeline.common.resources import at_once
from pipeline.common.sampling import sample
from pipeline.common.vocabulary import load_vocabulary
from pipeline.quantize.marian_binary import LARGEST
from pipeline.quantize.student import END, Array, Student, read_weights

LINES = 2_000
SPREAD = 2.0

CHUNK = 100  # sentences of a process's task
PROCESS_MB = 500  # what a process takes that holds a student
_BLAS_THREADS = "OPENBLAS_NUM_THREADS"

Pieces = list[int]
Pairs = Sequence[tuple[Pieces, Pieces]]  # sentences and their translations
Maxima = dict[str, list[float]]  # matrix → the largest absolute value that enters it, in each sentence


def multipliers(model: Model, text: Path, scratch: Path) -> dict[str, float]:
    """Matrix → multiplier of what enters it, from at most 2,000 lines of a text in the source language.

    `scratch` is a folder for files. Raises InputError when the text has no line.
    """
    maxima = activation_maxima(model.weights, translated(model, text, scratch))
    return {name: multiplier(values) for name, values in maxima.items()}


def multiplier(maxima: Sequence[float]) -> float:
    """The multiplier of a matrix's activations.

    Three digits are enough, and the last ones of the maxima differ from run to run: sums of floats depend on
    where these lie in memory.
    """
    return float(f"{LARGEST / (np.mean(maxima) + SPREAD * np.std(maxima)):.3g}")


def translated(model: Model, text: Path, scratch: Path) -> Pairs:
    """Sentences of a text as the model reads them, with its translations."""
    lines = sample(filter(str.strip, read_lines(text)), LINES, "calibration")
    if not lines:
        raise InputError(f"{text} has no line to calibrate with. Give text in the source language.")
    write_lines(scratch / "calibration", lines)
    decode([model.weights.parent], scratch / "calibration", scratch / "translations", {"beam-size": 1})
    source, target = load_vocabulary(model.source_vocab), load_vocabulary(model.target_vocab)
    return [
        ([*source.encode(line)[:MAX_LENGTH], END], [*target.encode(translation), END])
        for line, translation in zip(lines, read_lines(scratch / "translations"), strict=True)
    ]


def activation_maxima(weights: Path, pairs: Pairs) -> Maxima:
    """What a student's matrices see while it translates; in as many processes as threads and memory allow.

    A sentence's matrices are too small to be shared by threads, and sums depend on how they are shared.
    Raises TemporaryError when a process was killed.
    """
    chunks = [pairs[start : start + CHUNK] for start in range(0, len(pairs), CHUNK)]
    spawn = get_context("spawn")
    workers = min(at_once(PROCESS_MB), len(chunks))
    with (
        _one_thread(),
        killed_is_temporary(),
        ProcessPoolExecutor(workers, spawn, initializer=dying_with_parent()) as pool,
    ):
        return _joined(list(pool.map(_chunk_maxima, [weights] * len(chunks), chunks)))


def _chunk_maxima(weights: Path, pairs: Pairs) -> Maxima:
    maxima: Maxima = {}

    def observe(name: str, activations: Array) -> None:
        maxima.setdefault(name, []).append(float(np.abs(activations).max()))

    student = Student(read_weights(weights), observe)
    for source, target in pairs:
        student.run(source, target)
    return maxima


def _joined(parts: Sequence[Mapping[str, list[float]]]) -> Maxima:
    return {name: [value for part in parts for value in part[name]] for name in parts[0]}


@contextmanager
def _one_thread() -> Iterator[None]:
    """For new processes: numpy's library for matrices reads the variable when it is loaded."""
    before = os.environ.get(_BLAS_THREADS)
    os.environ[_BLAS_THREADS] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_BLAS_THREADS]
        else:
            os.environ[_BLAS_THREADS] = before
