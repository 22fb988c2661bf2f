"""The filter that drops what is in another language."""

import numpy as np

from pipeline.clean.filtering.block import Block, Filter
from pipeline.clean.filtering.filter_file import FilterStep
from pipeline.clean.identification import Identifier


def fasttext_filter(step: FilterStep, identifier: Identifier) -> Filter:
    """Drop pairs of which a side is in another language; the model that it names is the caller's to load."""
    for name in ("FASTTEXT_MODEL_TYPE", "LANG1", "LANG2", "DEBUG"):
        step.value(name, None)
    return other_languages(identifier)


def other_languages(identifier: Identifier) -> Filter:
    """Drop rows of which a side is in another language."""

    def work(block: Block) -> None:
        for side, column in enumerate(block.columns):
            rows = np.flatnonzero(block.alive)
            bad = np.zeros_like(block.alive)
            bad[rows] = identifier.others([column.lines[row] for row in rows.tolist()], side)
            block.drop(bad)

    return work
