"""The filter that drops what is in another language."""

from collections.abc import Sequence

import numpy as np

from pipeline.clean.filtering.block import Block, Filter
from pipeline.clean.filtering.filter_file import FilterStep
from pipeline.clean.identification import Identifier
from pipeline.clean.tally import Identified


def fasttext_filter(step: FilterStep, identifiers: Sequence[Identifier]) -> Filter:
    """Drop pairs of which a side is in another language; the model that it names is the caller's to load."""
    for name in ("FASTTEXT_MODEL_TYPE", "LANG1", "LANG2", "DEBUG"):
        step.value(name, None)
    return other_languages(identifiers)


def other_languages(identifiers: Sequence[Identifier]) -> Filter:
    """Drop rows of which a side is in another language; there is an identifier for each side.

    It counts what that does to lines that are written in the script of their side's language.
    """

    def work(block: Block) -> None:
        for identifier, column in zip(identifiers, block.columns, strict=True):
            rows = np.flatnonzero(block.alive)
            bad = np.zeros_like(block.alive)
            found = identifier.others([column.lines[row] for row in rows.tolist()])
            bad[rows] = [bool(label) for label in found]
            own = identifier.script.own_lines(column, identifier.least)[rows] & bool(identifier.labels)
            identified = Identified(identifier.script.name, int(own.sum()), identifier.shares)
            for place in np.flatnonzero(own & bad[rows]).tolist():
                identified.others[found[place]] += 1
                identified.sample(found[place], column.lines[rows[place]])
            block.identified.append(identified)
            block.drop(bad)

    return work
