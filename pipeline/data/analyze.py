"""Draw how long the lines of a text are: histograms of words and of code points a line.

Words are what stands between white space. Both histograms have 30 bins of equal width on a logarithmic
axis, up to 5,000 words and 10,000 code points; longer lines are counted in the last bin, empty ones are left
out.

    python -m pipeline.data.analyze --text corpus.en.zst --lang en --dataset opus_ELRC_2922/v1 --output plots
"""

import argparse
import logging
import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines
from pipeline.common.sampling import Reservoir
from pipeline.common.script import new_folder, run
from pipeline.data.imports import SAMPLES, SEED, publish, scratch_folder, shown

log = logging.getLogger(__name__)

BINS = 30
MOST_WORDS = 5_000
MOST_CODE_POINTS = 10_000
LEFT, TOP, RIGHT, BOTTOM = 90, 60, 770, 440  # of the bars, in pixels


@dataclass
class Histogram:
    """Numbers of lines by length, in bins of equal width on a logarithmic axis from 1 to `most`."""

    name: str
    most: int
    counts: list[int] = field(default_factory=lambda: [0] * BINS)
    total: int = 0  # sum of the lengths
    longest: int = 0
    edges: list[float] = field(init=False)  # BINS + 1 of them

    def __post_init__(self) -> None:
        self.edges = [self.most ** (edge / BINS) for edge in range(BINS)] + [float(self.most)]

    def add(self, length: int) -> None:
        """Count a line; one of length 0 has no place on a logarithmic axis."""
        self.total += length
        self.longest = max(self.longest, length)
        if length:
            self.counts[min(bisect_right(self.edges, length), BINS) - 1] += 1


def main(argv: Sequence[str] | None = None) -> None:
    """Write distribution-words.png, distribution-codepoints.png and stats.json with the counts."""
    args = _arguments(argv)
    output = new_folder(args.output)
    log.info("Analyzing %s (%s, %s)", args.text, args.dataset, args.lang)
    words = Histogram("words", MOST_WORDS)
    code_points = Histogram("code points", MOST_CODE_POINTS)
    with scratch_folder(output, args.dataset) as scratch:
        stats = _count(args.text, words, code_points)
        files = [scratch / "distribution-words.png", scratch / "distribution-codepoints.png"]
        for histogram, file in zip((words, code_points), files, strict=True):
            _draw(histogram, f"{args.dataset} ({args.lang})", file)
        publish(files, stats, output)


def _count(text: Path, words: Histogram, code_points: Histogram) -> dict[str, object]:
    samples: Reservoir[str] = Reservoir(SAMPLES, SEED)
    for line in read_lines(text):
        words.add(len(line.split()))
        code_points.add(len(line))
        samples.add(line)
    if not samples.seen:
        raise InputError(f"{text} is empty. There is nothing to draw.")
    log.info("Read %s lines, %s words", f"{samples.seen:,}", f"{words.total:,}")
    return {
        "lines": {"in": samples.seen, "kept": samples.seen, "dropped": {}},
        "words": _summary(words, samples.seen),
        "code points": _summary(code_points, samples.seen),
        "samples": [shown(line) for line in samples.items()],
    }


def _summary(histogram: Histogram, lines: int) -> dict[str, object]:
    return {
        "total": histogram.total,
        "a line": round(histogram.total / lines, 2),
        "longest": histogram.longest,
        "bin edges": [round(edge, 2) for edge in histogram.edges],
        "bin counts": histogram.counts,
    }


def _draw(histogram: Histogram, title: str, file: Path) -> None:
    """Draw a histogram; the bytes depend on the counts and the title alone."""
    image = Image.new("RGB", (RIGHT + 30, BOTTOM + 60), "white")
    pen = ImageDraw.Draw(image)
    write = partial(pen.text, font=ImageFont.load_default(14), fill="black")
    step = _step(max(histogram.counts))
    top = step * max(1, math.ceil(max(histogram.counts) / step))
    for count in range(0, top + 1, step):
        y = _y(count, top)
        pen.line((LEFT, y, RIGHT, y), fill="lightgrey")
        write((LEFT - 10, y), f"{count:,}", anchor="rm")
    for low, high, count in zip(histogram.edges, histogram.edges[1:], histogram.counts, strict=False):
        if count:
            bar = (_x(low, histogram.most), _y(count, top), _x(high, histogram.most), BOTTOM)
            pen.rectangle(bar, fill="steelblue")
    pen.line((LEFT, BOTTOM, RIGHT, BOTTOM), fill="black")
    for length in _marked(histogram.most):
        x, is_power = _x(length, histogram.most), str(length).strip("0") == "1"
        pen.line((x, BOTTOM, x, BOTTOM + (8 if is_power else 4)), fill="black")
        if is_power:
            write((x, BOTTOM + 12), f"{length:,}", anchor="mt")
    # Pillow's own font, which is the same everywhere, has the letters of ASCII alone
    write(((LEFT + RIGHT) / 2, TOP - 30), title.encode("ascii", "backslashreplace").decode(), anchor="mm")
    write(((LEFT + RIGHT) / 2, BOTTOM + 44), f"{histogram.name} a line", anchor="mm")
    write((LEFT - 10, TOP - 30), "lines", anchor="rm")
    image.save(file, format="png", optimize=True)


def _x(length: float, most: int) -> int:
    """The place of a length on the logarithmic axis, which ends with the longest."""
    return LEFT + round((RIGHT - LEFT) * math.log(length, most))


def _y(count: int, top: int) -> int:
    return BOTTOM - round((BOTTOM - TOP) * count / top)


def _step(most: int) -> int:
    """A round number that divides the axis of counts into eight parts at most."""
    steps: Iterator[int] = (factor * 10**power for power in range(20) for factor in (1, 2, 5))
    return next(step for step in steps if step * 8 >= most)


def _marked(most: int) -> list[int]:
    """The lengths that have a mark on the axis: 1, 2, … 10, 20, …"""
    lengths = [factor * 10**power for power in range(len(str(most))) for factor in range(1, 10)]
    return [length for length in lengths if length <= most]


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--text", required=True, type=Path, help="text with one sentence a line (.zst, .gz or plain)")
    add("--lang", required=True, help="language, for the title")
    add("--dataset", required=True, help="name of the dataset, for the title")
    add("--output", required=True, type=Path, help="new folder for the histograms")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
