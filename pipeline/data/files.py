"""Files of text that a step is given: .zst, .gz or plain, whatever they are called."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from tempfile import mkdtemp

from pipeline.common.errors import InputError
from pipeline.data.text_urls import MAGIC, packing
from pipeline.data.texts import file_lines


def recognised(file: Path, name: str, scratch: Path) -> Path:
    """The file under a name for messages, below the scratch folder, with the suffix that says how to read it.

    Raises InputError when there is none.
    """
    if not file.is_file():
        raise InputError(f"There is no file {file}. Check the name.")
    packed = packing(file)
    suffix = Path(name).suffix if Path(name).suffix in MAGIC else ""
    link = Path(mkdtemp(dir=scratch)) / (name if suffix == packed else f"{name}{packed or '.txt'}")
    link.symlink_to(file.resolve())
    return link


def counted_pairs(src: Path, trg: Path) -> Iterator[tuple[str, str]]:
    """The pairs of two files; raises InputError with both numbers when one has more lines than the other."""
    numbers = [0, 0]
    for pair in zip_longest(file_lines(src), file_lines(trg)):
        for side, line in enumerate(pair):
            numbers[side] += line is not None
        if numbers[0] == numbers[1]:
            yield pair
    if numbers[0] != numbers[1]:
        raise InputError(
            f"Unequal numbers of lines: {src.name} has {numbers[0]:,}, {trg.name} has {numbers[1]:,}. The "
            "n-th lines of both must be translations of each other; where they shift, nothing can be learnt."
        )
