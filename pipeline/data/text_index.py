"""Make the index of a text by which `pipeline.data.find_text` finds sentences in it.

    python -m pipeline.data.text_index --text corpus.en.zst --output index

    index/widths.npy       uint8: the bytes of each line's signature
    index/signatures.npy   uint8: the signatures, by segments of 262,144 lines, in each of which those of one
                           width stand together, the narrowest first: the first bytes of all of these lines,
                           then the second ones (see pipeline.data.signatures)
    index/stats.json       lines in, kept

It takes some 12 bytes a line of 45 letters. Blocks of lines are worked on in several processes.
"""

import argparse
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from pipeline.common.lines import count_lines
from pipeline.common.parallel_blocks import lines_of, read_parallel
from pipeline.common.pool import Texts, map_blocks
from pipeline.common.resources import threads
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.data.signatures import SEGMENT, Bytes, Signatures, by_width, signatures

WIDTHS, SIGNATURES = "widths.npy", "signatures.npy"


def main(argv: Sequence[str] | None = None) -> None:
    """Write the index; see the module's text."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--text", required=True, type=Path, help="text with one sentence a line (.zst, .gz or plain)"
    )
    parser.add_argument("--output", required=True, type=Path, help="new folder for the index")
    args = parser.parse_args(argv)
    with staged(args.output) as (folder, scratch):
        widths = []
        with (scratch / SIGNATURES).open("wb") as stream:
            for segment in _segments(args.text):
                _write_segment(segment, stream)
                widths.append(segment.widths)
        np.save(folder / WIDTHS, np.concatenate([np.empty(0, np.uint8), *widths]))
        _with_header(scratch / SIGNATURES, folder / SIGNATURES)
        lines = sum(map(len, widths))
        write_json(folder / "stats.json", {"lines": {"in": lines, "kept": lines, "dropped": {}}})


def _segments(text: Path) -> Iterator[Signatures]:
    """The signatures of each segment of a text, in the order of its lines."""
    widths: Bytes = np.empty(0, np.uint8)
    flat: Bytes = np.empty(0, np.uint8)
    try:
        for made in map_blocks(_of_block, read_parallel(text), threads()):
            widths, flat = np.concatenate([widths, made.widths]), np.concatenate([flat, made.flat])
            while len(widths) >= SEGMENT:
                end = int(widths[:SEGMENT].sum(dtype=np.int64))
                yield Signatures(widths[:SEGMENT], flat[:end])
                widths, flat = widths[SEGMENT:], flat[end:]
    except UnicodeDecodeError:
        count_lines(text)  # it tells where the file is not UTF-8
        raise
    if len(widths):
        yield Signatures(widths, flat)


def _of_block(texts: Texts) -> Signatures:
    return signatures(lines_of(texts[0]))


def _write_segment(segment: Signatures, stream: BinaryIO) -> None:
    sizes = segment.widths.astype(np.int64)
    starts = np.cumsum(sizes) - sizes
    for width, lines in by_width(segment.widths):
        for byte in range(width):
            stream.write(segment.flat[starts[lines] + byte].tobytes())


def _with_header(raw: Path, target: Path) -> None:
    """Write an array's bytes with the header that numpy reads."""
    shape = (raw.stat().st_size,)
    header = {"descr": "|u1", "fortran_order": False, "shape": shape}
    with raw.open("rb") as source, target.open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, header)  # type: ignore[no-untyped-call] # numpy's own
        shutil.copyfileobj(source, stream, 1 << 20)


if __name__ == "__main__":
    run(main)
