"""Whether the sides of a parallel text go together: as lines that translate each other, and as a whole.

Of each 1,250 lines the first 100, as they come, are looked at. A line's target should fit its source better
than the targets next to it do, by its length and by the words and numbers that stand on both sides: in a text
that is shifted by a line it does not, and those of another distance do. Words in small letters that stand on
both sides, and lengths that are spread too far, tell of sentences that are translated in part.

What is found of blocks adds up to what is found of the whole (`pipeline.clean.tally`); what it means is for
the gates to say.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import regex

from pipeline.clean.filtering.lengths import letter_weights
from pipeline.clean.filtering.strings import WORD_LETTERS
from pipeline.clean.tally import BIN, MAX_PLACES, MAX_SAMPLES, SAMPLE_CHARACTERS, Agreement

WINDOW, STEP = 100, 1_250  # lines that are looked at together, and from one such window to the next
FEWEST = 50  # lines of a window, and of comparisons in it those that are no draws, that tell anything
DISTANCES = (-2, -1, 0, 1, 2)  # of a target that is compared from its source
# A target fits its source better than its neighbours' do in 0.7 to 1.0 of the comparisons of real text, and
# in 0.35 to 0.55 where they do not belong together (`python -m benchmarks.planted_corpora`).
FITS = 0.6
SHARED = 5.0  # bits of shared words that count as much as a length that is off by a factor of two
SHORT = 2  # letters of words that all text shares
SMALL_WORDS = 4  # of a source, from which on it tells what of it was left as it is
LEFT = 0.4  # the share of these that stand in the target of a line that is translated in part, or not
LONG = 40  # letters of a source whose translation's length tells something

_WORD = regex.compile(rf"(?V1)[{WORD_LETTERS}\p{{N}}]+")
_NUMERAL = regex.compile(r"\p{N}")

Numbers = npt.NDArray[np.float64]


def agreement(sources: Sequence[str], targets: Sequence[str]) -> Agreement:
    """What is found of a block of pairs."""
    found = Agreement()
    for begin in range(0, len(sources), STEP):
        sides = [lines[begin : begin + WINDOW] for lines in (sources, targets)]
        _add_fit(found, begin, *sides)
        for source, target in zip(*sides, strict=True):
            _add_pair(found, source, target)
    return found


def _add_fit(found: Agreement, begin: int, sources: Sequence[str], targets: Sequence[str]) -> None:
    """Count a window, if it tells enough, and say where it is if its sides do not go together."""
    if len(sources) < FEWEST:
        return
    won, compared = _won(_fits(sources, targets))
    if compared[DISTANCES.index(0)] < FEWEST:
        return
    shares = dict(zip(DISTANCES, (won / np.maximum(compared, 1)).tolist(), strict=True))
    found.windows += 1
    found.fit += shares[0]
    if shares[0] < FITS:
        best = max(DISTANCES, key=lambda distance: shares[distance])
        found.apart[best if shares[best] >= FITS else None] += 1
        found.places += [begin + 1][: MAX_PLACES - len(found.places)]


def _fits(sources: Sequence[str], targets: Sequence[str]) -> Numbers:
    """(distances, lines): how well the target at each distance fits a source, in factors of two of lengths.

    Those lines of a window are judged that have targets at all distances.
    """
    lengths = [np.log2([len(line) + 4.0 for line in lines]) for lines in (sources, targets)]
    usual = np.median(lengths[1] - lengths[0])
    words = [[_telling(line) for line in lines] for lines in (sources, targets)]
    lines_with = Counter(word for side in words for line in side for word in line)
    bits = {word: np.log2(2 * len(sources) / number) / SHARED for word, number in lines_with.items()}
    reach = max(DISTANCES)
    judged = np.arange(reach, len(sources) - reach)
    return np.array(
        [
            [sum(bits[word] for word in words[0][line] & words[1][line + away]) for line in judged]
            - np.abs(lengths[1][judged + away] - lengths[0][judged] - usual)
            for away in DISTANCES
        ]
    )


def _telling(line: str) -> frozenset[str]:
    """The words of a line that tell lines apart: of some length, and numbers."""
    return frozenset(
        word.casefold() for word in _WORD.findall(line) if len(word) > SHORT or _NUMERAL.search(word)
    )


def _won(fits: Numbers) -> tuple[Numbers, Numbers]:
    """For each distance the comparisons with others in which it fits better, and those that are no draw."""
    better = fits[:, None] > fits[None, :]
    won = better.sum(axis=(1, 2)).astype(float)
    return won, won + better.sum(axis=(0, 2))


def _add_pair(found: Agreement, source: str, target: str) -> None:
    """Count what of a source stands in its target, and how long that is if it is another text."""
    small = [word for word in _WORD.findall(source) if not (_NUMERAL.search(word) or word[0].isupper())]
    there = set(_WORD.findall(target)) if len(small) >= SMALL_WORDS else set()
    left = sum(word in there for word in small)
    if len(small) >= SMALL_WORDS:
        found.sentences += 1
        found.copied += source == target
    if len(small) >= SMALL_WORDS and source != target and left >= LEFT * len(small):
        found.partly += 1
        if len(found.samples) < MAX_SAMPLES:
            found.samples.append(f"{source[:SAMPLE_CHARACTERS]} ||| {target[:SAMPLE_CHARACTERS]}")
    elif source != target and len(source) >= LONG // 3:
        letters, others = _letters(source), _letters(target)
        if letters >= LONG:
            found.ratios[round(float(np.log2((others + 1) / (letters + 1)) / BIN))] += 1


def _letters(line: str) -> int:
    codes = np.frombuffer(line.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    return int(letter_weights()[codes].sum(dtype=np.int64))
