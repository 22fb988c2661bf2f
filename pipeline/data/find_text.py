"""Find a sentence in texts: as a line, inside of one, or nearly the same.

    python -m pipeline.data.find_text --sentence "A dog sees a cat." --text corpus.en.zst index-en \\
        --text merged.en.zst index-en-merged merged.ru.zst index-ru-merged --most 100 --output found

Each --text is a file and its index (`pipeline.data.text_index`); two of each for a parallel text. White space
counts as single spaces. Inside of lines, and nearly the same (a line's chrF against it is 80 or more, as
sacreBLEU computes it), a sentence is looked for that has ten letters or more, white space not counted.

    found/found.json    for each text: lines; exact, inside, near: how many lines are so; nearest: of lines
                        that are not near, but were scored, the highest chrF; found: the first --most lines,
                        exact ones before, then those with the highest chrF: line, counted from 1, kind, chrf,
                        side (0 or 1) that is alike, sides

No line is overlooked. Texts are worked on in TRANSLATIONS_THREADS threads.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import zstandard
from sacrebleu.metrics.chrf import CHRF

from pipeline.common.errors import InputError
from pipeline.common.lines import open_bytes
from pipeline.common.resources import threads
from pipeline.common.script import new_folder, run, write_json
from pipeline.data.candidates import NEAR, Sentence, candidates
from pipeline.data.signatures import GRAM, Numbers, most_chrf

Kind = Literal["exact", "inside", "near"]

FOUND = "found.json"
CHUNK = 1 << 20  # bytes of a text that are unpacked at once
KINDS: tuple[Kind, ...] = ("exact", "inside", "near")


class File(NamedTuple):
    """A side of a text, and the folder of its index."""

    text: Path
    folder: Path


class Hit(NamedTuple):
    """A line that is like a sentence, and how: its kind, its chrF."""

    kind: Kind
    chrf: float


@dataclass(frozen=True)
class Side:
    """The lines of a side that were found, by their numbers, which begin with 0.

    lines    of the side
    nearest  the highest chrF of what was scored and is not near; 0 where nothing was
    """

    lines: int
    hits: Mapping[int, Hit]
    nearest: float


class TextHits:
    """The lines of a text that were found; of one that is alike on both sides, the more alike side counts.

    best   of each line how it is alike, and the number of the side
    shown  the numbers of those that are given back, in order
    """

    def __init__(self, text: Sequence[File], sides: Mapping[File, Side], most: int) -> None:
        self.text, self._sides = text, [sides[file] for file in text]
        self.best: dict[int, tuple[Hit, int]] = {}
        for number, side in enumerate(self._sides):
            for line, hit in side.hits.items():
                if line not in self.best or _rank(hit) < _rank(self.best[line][0]):
                    self.best[line] = hit, number
        self.shown = sorted(self.best, key=lambda line: (*_rank(self.best[line][0]), line))[:most]

    def answer(self, lines: Mapping[File, Mapping[int, str]]) -> dict[str, object]:
        """The text's part of found.json; `lines` are those of its files that are shown, by their numbers."""
        counts = Counter(hit.kind for hit, _ in self.best.values())
        return {
            "lines": self._sides[0].lines,
            **{kind: counts[kind] for kind in KINDS},
            "nearest": round(max(side.nearest for side in self._sides), 2),
            "found": [
                {
                    "line": number + 1,
                    "kind": hit.kind,
                    "chrf": round(hit.chrf, 2),
                    "side": side,
                    "sides": [lines[file].get(number, "") for file in self.text],
                }
                for number in self.shown
                for hit, side in (self.best[number],)
            ],
        }


class Judge:
    """Says how lines are like a sentence."""

    def __init__(self, sentence: Sentence) -> None:
        self._sentence = sentence
        letters = sentence.letters
        self._grams = Counter(letters[place : place + GRAM] for place in range(len(letters) - GRAM + 1))
        self._chrf = CHRF()

    def __call__(self, line: str) -> Hit | None:
        """How a line is like the sentence; near of whatever chrF, if that was computed; None: it is not."""
        sentence, words = self._sentence, line.split()
        text, letters = " ".join(words), "".join(words)
        if text == sentence.text:
            return Hit("exact", 100.0)
        if not sentence.is_long:
            return None
        if sentence.text in text:  # all of its n-grams are there, which is the most that there can be
            return Hit("inside", most_chrf(len(sentence.letters), len(letters), 0))
        missing = sum(number for gram, number in self._grams.items() if gram not in letters)
        if not sentence.may_be(len(letters), missing):
            return None
        return Hit("near", float(self._chrf.sentence_score(text, [sentence.text]).score))


def main(argv: Sequence[str] | None = None) -> None:
    """Write found.json; see the module's text."""
    args = _arguments(argv)
    sentence = Sentence(args.sentence)
    if not sentence.letters:
        raise InputError("--sentence is empty. Give the sentence to look for.")
    texts = [_files(words) for words in args.text]
    output = new_folder(args.output)
    with ThreadPoolExecutor(threads()) as pool:
        files = list(dict.fromkeys(file for text in texts for file in text))
        sides = dict(zip(files, pool.map(partial(_search, sentence), files), strict=True))
        hits = [TextHits(text, sides, args.most) for text in texts]
        lines = dict(zip(files, pool.map(partial(_lines_shown, hits), files), strict=True))
    write_json(output / FOUND, [one.answer(lines) for one in hits])


def lines_at(path: Path, numbers: Numbers) -> Iterator[tuple[int, str]]:
    """The lines of a text with some numbers, which are in order and begin with 0; reads no further."""
    if not len(numbers):
        return
    before, rest, wanted = 0, b"", numbers
    with open_text(path) as stream:
        while len(wanted) and (chunk := stream.read(CHUNK)):
            text = rest + chunk
            ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
            here = int(np.searchsorted(wanted, before + len(ends)))
            for number in wanted[:here].tolist():
                place = number - before
                begin = int(ends[place - 1]) + 1 if place else 0
                yield number, _decoded(text[begin : int(ends[place])])
            before, wanted = before + len(ends), wanted[here:]
            rest = text[int(ends[-1]) + 1 :] if len(ends) else text
    if len(wanted):
        yield int(wanted[0]), _decoded(rest)  # a last line without a line feed


def open_text(path: Path) -> Any:
    """The text of a file, unpacked."""
    if path.suffix != ".zst":
        return open_bytes(path)
    # by the library's own reader, which is twice as fast: what the store placed here is whole
    return zstandard.ZstdDecompressor().stream_reader(path.open("rb"), read_across_frames=True)


def _decoded(line: bytes) -> str:
    return line.decode("utf-8", "replace").removeprefix("\ufeff").removesuffix("\r")


def _files(words: Sequence[str]) -> list[File]:
    if len(words) not in (2, 4):
        raise InputError(
            f"--text {' '.join(words)}: give a file and its index, or two of each for a parallel text."
        )
    return [File(Path(words[place]), Path(words[place + 1])) for place in range(0, len(words), 2)]


def _search(sentence: Sentence, file: File) -> Side:
    lines, numbers = candidates(file.folder, sentence)
    judge, hits, nearest = Judge(sentence), dict[int, Hit](), 0.0
    for number, line in lines_at(file.text, numbers):
        hit = judge(line)
        if hit and hit.kind == "near" and hit.chrf < NEAR:
            nearest = max(nearest, hit.chrf)
        elif hit:
            hits[number] = hit
    return Side(lines, hits, nearest)


def _lines_shown(texts: Sequence[TextHits], file: File) -> dict[int, str]:
    numbers = sorted({number for one in texts if file in one.text for number in one.shown})
    return dict(lines_at(file.text, np.array(numbers, np.int64)))


def _rank(hit: Hit) -> tuple[int, float]:
    return KINDS.index(hit.kind), -hit.chrf


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--sentence", required=True, help="the sentence, or a part of one")
    add("--text", required=True, nargs="+", action="append", help="FILE INDEX [FILE INDEX]; repeatable")
    add("--most", type=int, default=100, help="lines of each text that are given back")
    add("--output", required=True, type=Path, help="new folder for found.json")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
