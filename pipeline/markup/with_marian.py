"""Translations of a quantised student in Marian, with its alignments: attention that training has guided."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from sentencepiece import SentencePieceProcessor

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, write_lines
from pipeline.common.marian import QUANTISED, load_model
from pipeline.common.marian_options import Options
from pipeline.common.marian_process import run_marian
from pipeline.common.vocabulary import load_vocabulary
from pipeline.markup.placing import Aligned, Link

_BYTE = re.compile("<0x([0-9A-F]{2})>")


def translate_aligned(folder: Path, texts: Sequence[str], scratch: Path) -> list[Aligned]:
    """Translate sentences with a quantised student; `scratch` is a folder for Marian's files.

    Raises InputError when the model is not whole, not quantised, or does not align; else as `run_marian`.
    """
    model = load_model(folder)
    if not model.quantised:
        raise InputError(f"{folder} is no quantised student. Give what pipeline.quantize.quantize wrote.")
    options: Options = {
        **model.settings,
        **QUANTISED,
        "mini-batch": 1,  # as engines of browsers translate, and with each sentence's own shortlist
        "alignment": "soft",
        "no-spm-decode": True,
        "log-level": "warn",
        "quiet-translation": True,
        "models": [str(model.weights)],
        "vocabs": [str(model.source_vocab), str(model.target_vocab)],
        "input": [str(scratch / "text")],
        "output": str(scratch / "pieces"),
    }
    if model.shortlist:
        options["shortlist"] = [str(model.shortlist), False]
    write_lines(scratch / "text", texts)
    run_marian("decode", options, scratch)
    lines = [*read_lines(scratch / "pieces")]
    if len(lines) != len(texts):
        raise InputError(f"Marian wrote {len(lines):,} lines instead of {len(texts):,}.")
    vocabulary = load_vocabulary(model.source_vocab)
    places = (source_places(vocabulary, text) for text in texts)
    return [read_aligned(*found) for found in zip(lines, places, strict=True)]


def source_places(vocabulary: SentencePieceProcessor, text: str) -> list[int]:
    """For each piece of a text the place of its last character, or of what follows a space; then the end."""
    places = []
    for piece in vocabulary.encode(text, out_type="immutable_proto").pieces:
        place = max(piece.begin, piece.end - 1)
        while place < len(text) and text[place].isspace():
            place += 1
        places.append(place)
    return [*places, len(text)]


def read_aligned(line: str, places: Sequence[int]) -> Aligned:
    """Read `▁La ▁hundo ||| 0.9,0.1 0.2,0.8 …`: pieces, and for each the weights of the source's pieces.

    Raises InputError when there are no such weights.
    """
    written, bars, rows = line.rpartition(" ||| ")
    pieces = written.split(" ") if written else []
    text, spans = _joined(pieces)
    weights = [[*map(float, row.split(","))] for row in (rows.split() if bars else ())][: len(pieces)]
    if not bars or len(weights) != len(pieces) or any(len(row) > len(places) for row in weights):
        raise InputError("Marian does not align each piece of a translation with the pieces of its source.")
    if weights:  # of a source that was cropped there are fewer
        places = [*places[: len(weights[0]) - 1], places[-1]]
    links = (
        Link(begin, end, places[max(range(len(row)), key=row.__getitem__)], max(row))
        for (begin, end), row in zip(spans, weights, strict=True)
    )
    return Aligned(text, tuple(links))


def _joined(pieces: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """The text of pieces, and where in it each stands; the bytes of a character all at its place."""
    texts = [*_units(pieces)]
    text = "".join(unit for unit, _ in texts)
    skipped = len(text) - len(text.lstrip())
    spans, begin = [], -skipped
    for unit, number in texts:
        spans += [(max(0, begin), max(0, begin + len(unit)))] * number
        begin += len(unit)
    return text[skipped:], spans


def _units(pieces: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Texts of pieces, and of rows of pieces that are bytes; with their number."""
    row = bytearray()
    for piece in pieces:
        if byte := _BYTE.fullmatch(piece):
            row.append(int(byte[1], 16))
            continue
        if row:
            yield row.decode("utf-8", "replace"), len(row)
            row.clear()
        yield piece.replace("▁", " "), 1
    if row:
        yield row.decode("utf-8", "replace"), len(row)
