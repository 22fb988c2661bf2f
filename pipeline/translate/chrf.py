"""chrF of each of some texts against each of the others, as sacreBLEU's `CHRF().sentence_score` gives it.

Popović 2015, "chrF: character n-gram F-score for automatic MT evaluation": n-grams of 1 to 6 characters,
white space left out, beta 2, averaged over the orders that both texts have. sacreBLEU counts the n-grams of
both texts of each pair; here those of each text are counted once.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

ORDER = 6  # of the longest n-grams
BETA_SQUARED = 4

Matrix = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


def pairwise_chrf(texts: Sequence[str]) -> Matrix:
    """The chrF, 0 to 100, of the text of each row as a translation of the reference of each column."""
    precision, recall, orders = np.zeros((3, len(texts), len(texts)))
    for counts in _counts_by_order(["".join(text.split()) for text in texts]):
        totals = counts.sum(axis=1)
        have = np.minimum.outer(totals, totals) > 0
        shared = _shared(counts)
        precision += _divided(shared, totals[:, None], have)
        recall += _divided(shared, totals[None, :], have)
        orders += have
    precision, recall = (_divided(total, orders, orders > 0) for total in (precision, recall))
    weighed = BETA_SQUARED * precision + recall
    return 100 * _divided((1 + BETA_SQUARED) * precision * recall, weighed, weighed > 0)


def _counts_by_order(texts: Sequence[str]) -> Iterator[Counts]:
    """For each order, how often each text (row) has each n-gram (column) that any of them has."""
    lengths = np.array([len(text) for text in texts], int)
    characters = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    letters = _numbered(characters)
    base = letters.max(initial=0) + 1
    owners = np.repeat(np.arange(len(texts)), lengths)
    left = np.repeat(lengths.cumsum(), lengths) - np.arange(len(letters))  # characters, with the one itself
    places, grams = np.arange(len(letters)), letters  # where n-grams begin, and the number of each
    for order in range(1, ORDER + 1):
        if order > 1:
            longer = left[places] >= order
            places = places[longer]
            grams = _numbered(grams[longer] * base + letters[places + order - 1])
        width = grams.max(initial=-1) + 1
        cells = owners[places] * width + grams
        yield np.bincount(cells, minlength=len(texts) * width).reshape(len(texts), width)


def _numbered(values: npt.NDArray[np.generic]) -> Counts:
    """Numbers from 0 on in place of values, the same for the same."""
    numbers: Counts = np.unique(values, return_inverse=True)[1]
    return numbers


def _shared(counts: Counts) -> Matrix:
    """How many n-grams each two texts share: of each as many as the text has that has fewer."""
    shared = np.zeros((len(counts), len(counts)))
    for least in range(1, counts.max(initial=0) + 1):
        counts = counts[:, counts.max(axis=0) >= least]
        has = (counts >= least).astype(np.float32)  # BLAS multiplies no integers; sums stay below 2**24
        shared += has @ has.T
    return shared


def _divided(values: Matrix, by: npt.NDArray[np.generic], where: npt.NDArray[np.bool_]) -> Matrix:
    """Quotients; 0 elsewhere."""
    quotients: Matrix = np.divide(values, by, out=np.zeros_like(values), where=where)
    return quotients
