"""Rows of steps whose rules are not known here: what went in beside what came out, line by line where that is
how the step works.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pipeline.common.errors import InputError
from pipeline.common.line_blocks import read_blocks
from pipeline.common.selection import Selection
from pipeline.samples.drawn import KEPT, READ, Drawn, Wanted, drawn
from pipeline.samples.rows import Row, Text, count_rows, fetch, found_in

TEXTS = (".zst", ".gz")  # how the names of texts end
BESIDE = {"corpus.aln.zst": "alignments", "scores.zst": "score"}  # files that stand beside a text
MOST = 1_000  # bytes of a file by which it is known for a text


def draw(read: Mapping[str, Path], made: Path, langs: Sequence[str], wanted: Wanted) -> Drawn:
    """Draw rows of a step, given the files that it read by the names of its options, and what it left.

    langs  the languages of the sides, source first, by which the files that it left are named
    """
    texts = {name: path for name, path in read.items() if is_text(path)}
    left = {path.name: path for path in _by_sides(made, langs) if is_text(path)}
    sizes = {path: count_rows(path) for path in (*texts.values(), *left.values())}
    if not sizes:
        raise InputError("The step reads and leaves no text of lines.")
    rows_left = max((sizes[path] for path in left.values()), default=0)
    came = {name: path for name, path in left.items() if sizes[path] == rows_left}
    went = {name: path for name, path in texts.items() if sizes[path] == rows_left}
    if went and came:
        return _line_by_line(went, came, rows_left, wanted)
    most = max((sizes[path] for path in texts.values()), default=0)
    went = {name: path for name, path in texts.items() if sizes[path] == most}
    return _apart(went, came, most, rows_left, wanted)


def _by_sides(made: Path, langs: Sequence[str]) -> list[Path]:
    """The files of a folder by their names, those of several languages in the order of these."""
    order = {lang: number for number, lang in enumerate(langs)}

    def place(path: Path) -> tuple[list[str], list[int]]:
        words = path.name.split(".")
        return [word for word in words if word not in order], [order[word] for word in words if word in order]

    return sorted(made.iterdir(), key=place)


def is_text(path: Path) -> bool:
    """True if a file holds lines of text."""
    if path.suffix not in TEXTS:
        return False
    try:
        block = next(read_blocks(path), b"")
        block[: block.rfind(b"\n", 0, MOST) + 1].decode("utf-8")
    except (InputError, UnicodeDecodeError):
        return False
    return b"\0" not in block


def _line_by_line(went: Mapping[str, Path], came: Mapping[str, Path], rows: int, wanted: Wanted) -> Drawn:
    """Draw rows of a step that makes a line of each."""
    texts, beside = _parted(went)
    results, more = _parted(came)
    if not results:
        results, more = texts, {**beside, **more}
    whole = Text("", (*texts.values(), *results.values()), {**beside, **more})
    lowest = wanted.lowest()
    lowest.add(KEPT, Selection(rows, wanted.number, wanted.places).numbers())
    found = fetch([whole], [0, rows], lowest.all_numbers())
    for row in found.values():
        row.text, row.result = row.text[: len(texts)], row.text[len(texts) :]
    return drawn(rows, rows, lowest, found, wanted)


def _parted(files: Mapping[str, Path]) -> tuple[dict[str, Path], dict[str, Path]]:
    """The texts among files, and what stands beside these, by what it is."""
    beside = {BESIDE[path.name]: path for path in files.values() if path.name in BESIDE}
    return {name: path for name, path in files.items() if path.name not in BESIDE}, beside


def _apart(went: Mapping[str, Path], came: Mapping[str, Path], read: int, left: int, wanted: Wanted) -> Drawn:
    """Draw lines that went in, and whether they came out as they were; and others that came out."""
    rows_read, rows_left = _rows(went, read, wanted), _rows(came, left, wanted)
    texts, results = _parted(went)[0], _parted(came)[0]
    is_alike = bool(texts) and len(texts) == len(results)
    found = found_in([*results.values()], {row.text for row in rows_read}) if is_alike else set()
    for row in rows_read:
        row.is_known = row.text in found
        row.result = row.text if row.is_known else None
    for row in rows_left:
        row.result = row.text
    return Drawn(read or left, read or left, rows_read, rows_left)


def _rows(files: Mapping[str, Path], number: int, wanted: Wanted) -> list[Row]:
    if not files:
        return []
    texts, beside = _parted(files)
    lowest = wanted.lowest()
    lowest.add(READ, Selection(number, wanted.number, wanted.places).numbers())
    found = fetch([Text("", tuple(texts.values()), beside)], [0, number], lowest.all_numbers())
    return [found[one] for one in lowest.numbers(READ)]
