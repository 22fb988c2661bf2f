"""Split a text into a given number of parts of about the same size, or of given weights, in order.

    python -m pipeline.translate.split --text corpus.en.zst --references corpus.ru.zst --parts 10 \\
        --output parts

Writes part.1.zst … part.N.zst, part.1.ref.zst … part.N.ref.zst with --references, and stats.json. There are
always N parts; when the text has fewer lines, the last ones are empty.
"""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

from pipeline.common.errors import InputError
from pipeline.common.lines import LineWriter, count_lines, zip_lines
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged


def main(argv: Sequence[str] | None = None) -> None:
    """Write the parts and stats.json."""
    args = parse_arguments(argv)
    if args.parts < 1:
        raise InputError(f"--parts must be at least 1, not {args.parts}")
    if args.weights and (len(args.weights) != args.parts or min(args.weights) <= 0):
        raise InputError(f"--weights must be {args.parts} numbers above 0, one for each part")
    texts = [args.text, *([args.references] if args.references else [])]
    lines = count_lines(args.text)
    sizes = weighted_sizes(lines, args.weights) if args.weights else part_sizes(lines, args.parts)
    stats = {"lines": {"in": lines, "kept": lines, "dropped": {}}, "parts": sizes}
    rows = zip_lines(*texts)
    with staged(args.output) as (output, _):
        for number, size in enumerate(sizes, start=1):
            write_part(output, number, size, rows, with_references=len(texts) > 1)
        for _row in rows:  # also finds references that go on after the text
            raise InputError(f"{args.text} grew while it was split. Run the step again.")
        write_json(output / "stats.json", stats)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--text", required=True, type=Path, help="text to split")
    parser.add_argument("--references", type=Path, help="its translation, split in the same way")
    parser.add_argument("--parts", required=True, type=int, help="number of parts")
    parser.add_argument("--weights", nargs="+", type=float, help="sizes of the parts, relative to each other")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the parts")
    return parser.parse_args(argv)


def part_sizes(lines: int, parts: int) -> list[int]:
    """How many lines each part gets: sizes differ by at most one, larger ones first."""
    size, larger = divmod(lines, parts)
    return [size + 1] * larger + [size] * (parts - larger)


def weighted_sizes(lines: int, weights: Sequence[float]) -> list[int]:
    """How many lines each part gets by its weight; each end is at most half a line from the exact one."""
    total = sum(weights)
    ends = [round(lines * sum(weights[:number]) / total) for number in range(len(weights) + 1)]
    return [end - begin for begin, end in pairwise(ends)]


def write_part(
    output: Path, number: int, size: int, rows: Iterator[tuple[str, ...]], with_references: bool
) -> None:
    """Write the next `size` rows as part `number`."""
    suffixes = [".zst", ".ref.zst"] if with_references else [".zst"]
    with ExitStack() as stack:
        writers = [stack.enter_context(LineWriter(output / f"part.{number}{suffix}")) for suffix in suffixes]
        for _ in range(size):
            for writer, line in zip(writers, next(rows), strict=True):
                writer.write(line)


if __name__ == "__main__":
    run(main)
