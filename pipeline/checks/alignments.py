"""Numbers of word alignments that tell whether training can be guided by them.

    python -m pipeline.checks.alignments --tokens corpus.tok-icu.en.zst corpus.tok-icu.ru.zst \\
        --alignments corpus.aln.zst --output numbers

writes numbers.json: lines, those without a link although both sides have tokens, links, tokens (the `▁` that
stand for spaces are counted apart: they are never linked), and links that point beyond a line's last token
or are no links, with a few of those lines; and a few of the lines with links, drawn by chance, with their
pairs of words, to see whether these are translations. Every line is read, once, in constant memory.
"""

import argparse
import logging
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.checks.letters import read_blocks
from pipeline.common.sampling import Reservoir
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged

logger = logging.getLogger(__name__)

SPACE = "\u2581"
SAMPLES = 5
SAMPLE_CHARACTERS = 300
SEED = 1
_LINKS = re.compile(r"(?:[0-9]{1,9}-[0-9]{1,9}(?: |$))*")

Counts = npt.NDArray[np.int64]


class Numbers:
    """What is counted, block by block."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._samples: dict[str, list[list[str]]] = {"out_of_range": [], "malformed": [], "no_links": []}
        self._linked: Reservoir[tuple[str, str, str]] = Reservoir(SAMPLES, SEED)

    def add(self, sources: Sequence[str], targets: Sequence[str], alignments: Sequence[str]) -> None:
        """Add a block of tokenised pairs and their links."""
        malformed = {line for line, links in enumerate(alignments) if not _LINKS.fullmatch(links)}
        links = [" " if line in malformed else text for line, text in enumerate(alignments)]
        per_line = np.fromiter((text.count("-") for text in links), np.int64, len(links))
        numbers = np.array(" ".join(links).replace("-", " ").split(), dtype=np.int64).reshape(-1, 2)
        lines = np.repeat(np.arange(len(links)), per_line)
        tokens = [_tokens(side) for side in (sources, targets)]
        wrong = (numbers[:, 0] >= tokens[0][lines]) | (numbers[:, 1] >= tokens[1][lines])
        without = (per_line == 0) & (tokens[0] > 0) & (tokens[1] > 0)
        without[list(malformed)] = False
        self._counts.update(
            lines=len(links),
            links=len(numbers),
            source_words=sum(tokens[0].tolist()) - _spaces(sources),
            target_words=sum(tokens[1].tolist()) - _spaces(targets),
            out_of_range=int(wrong.sum()),
            malformed=len(malformed),
            no_links=int(without.sum()),
        )
        block = (sources, targets, alignments)
        self._sample("out_of_range", np.unique(lines[wrong]).tolist(), block)
        self._sample("malformed", sorted(malformed), block)
        self._sample("no_links", np.flatnonzero(without).tolist(), block)
        good = per_line > 0
        good[lines[wrong]] = False
        for line in np.flatnonzero(good).tolist():
            self._linked.add((sources[line], targets[line], alignments[line]))

    def _sample(self, kind: str, lines: Iterable[int], block: Sequence[Sequence[str]]) -> None:
        for line in lines:
            if len(self._samples[kind]) == SAMPLES:
                return
            self._samples[kind].append([side[line][:SAMPLE_CHARACTERS] for side in block])

    def to_json(self) -> dict[str, Any]:
        """The counts, and what they mean for a line and for a word."""
        counts = self._counts
        words = counts["source_words"] + counts["target_words"]
        samples = {**self._samples, "linked": [_pairs_of_words(*line) for line in self._linked.items()]}
        return {
            "lines": counts["lines"],
            "no_links": counts["no_links"],
            "no_links_share": round(counts["no_links"] / max(1, counts["lines"]), 6),
            "links": counts["links"],
            "links_per_word": round(2 * counts["links"] / max(1, words), 4),
            "out_of_range": counts["out_of_range"],
            "malformed": counts["malformed"],
            "samples": {kind: lines for kind, lines in samples.items() if lines},
        }


def _pairs_of_words(source: str, target: str, links: str) -> list[str]:
    """A line and its links, as the words that they link."""
    words = source.split(" "), target.split(" ")
    ends = [link.partition("-") for link in links.split()]
    linked = ", ".join(f"{words[0][int(i)]} – {words[1][int(j)]}" for i, _, j in ends)
    return [text[:SAMPLE_CHARACTERS] for text in (source, target, linked)]


def _tokens(lines: Sequence[str]) -> Counts:
    """How many tokens, parted by single spaces, each line has."""
    return np.fromiter((line.count(" ") + 1 if line else 0 for line in lines), np.int64, len(lines))


def _spaces(lines: Sequence[str]) -> int:
    return sum(f" {line} ".count(f" {SPACE} ") for line in lines)


def main(argv: Sequence[str] | None = None) -> None:
    """Write numbers.json."""
    args = parse_arguments(argv)
    numbers = Numbers()
    with staged(args.output) as (output, _):
        for sources, targets, alignments in read_blocks([*args.tokens, args.alignments]):
            numbers.add(sources, targets, alignments)
        write_json(output / "numbers.json", numbers.to_json())
    logger.info("%s", {name: value for name, value in numbers.to_json().items() if name != "samples"})


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--tokens", required=True, nargs=2, type=Path, help="both sides as tokens, parted by spaces")
    add("--alignments", required=True, type=Path, help="links `0-0 2-1` between tokens, a line a pair")
    add("--output", required=True, type=Path, help="new folder for numbers.json")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
