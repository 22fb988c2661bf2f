"""Indexes of `translations trace` over real text: their size, the time of an answer, and the recall.

    python -m benchmarks.trace --corpus configs/en-fr.debian --work /tmp/trace [--lines 10000000]

The folder is one of `python -m corpora.debian`. Its pairs are the first lines of the text; in further copies
four words of ten are drawn anew from all words, and numbers have other digits, so that the text is as dense
as what people write. Text and indexes stay in the work folder and are used again.

Prints the bytes of both texts as the store has them, and those of the indexes (bar: no more); the seconds of
searches in both, from a store, with its check of digests, to the answer (bar: 10 s; on two cores); and the
recall: of real lines that were edited until their chrF against the original was from 80 to 100, how many are
found by it.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from sacrebleu.metrics.chrf import CHRF

from benchmarks.timing import processor_seconds
from pipeline.common.lines import read_lines, write_lines
from pipeline.data.candidates import NEAR, Sentence, candidates
from pipeline.data.text_index import main as make_index
from translations_assets.store.local import LocalStore
from translations_assets.trace.indexes import FILES, SCRIPT
from translations_assets.trace.search import Indexed, search

LEFT_OUT = ("dev", "test", "mono", "libreoffice-test")
NEW_WORDS = 0.4
PLANTED = 1_000
FEWEST_LETTERS = 10


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print; see the module's text."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", required=True, type=Path, help="folder of a corpus")
    parser.add_argument("--langs", nargs=2, default=["en", "fr"], help="its languages")
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--work", required=True, type=Path, help="folder for texts and indexes")
    args = parser.parse_args(argv)
    args.work.mkdir(parents=True, exist_ok=True)
    store = LocalStore(args.work / "store")
    sides = [_side(store, args.corpus, lang, args.lines, args.work) for lang in args.langs]
    text, index = (
        sum(one.text.size for one in sides),
        sum(blob.size for one in sides for blob in one.index.values()),
    )
    print(f"text {text / 1e6:,.1f} MB, index {index / 1e6:,.1f} MB: {index / text:.0%}; bar: 100%")
    lines = _lines(args.corpus, args.langs[0])
    for name, sentence in _sentences(lines):
        print(f"{name}, {len(sentence)} characters: {_time(store, sentence, sides, args.work)}")
    print(_recall(lines))


def _lines(corpus: Path, lang: str) -> list[str]:
    """The pairs' lines in a language, shuffled in the same way for each."""
    files = sorted(path for path in corpus.glob(f"*.{lang}.*") if path.name.split(".")[0] not in LEFT_OUT)
    found = [line for path in files for line in read_lines(path)]
    random.Random(1).shuffle(found)
    return found


def _varied(lines: Sequence[str], number: int, seed: str) -> Iterator[str]:
    """So many lines: the given ones, then changed copies of them."""
    draw = random.Random(seed).random
    words = [word for line in lines for word in line.split(" ") if word.isalpha()]
    for place in range(number):
        line = lines[place % len(lines)]
        yield line if place < len(lines) else " ".join(_changed(line.split(" "), words, draw))


def _changed(line: Sequence[str], words: Sequence[str], draw: Callable[[], float]) -> Iterator[str]:
    for word in line:
        if word.isalpha() and draw() < NEW_WORDS:
            yield words[int(draw() * len(words))]
        else:
            yield str(int(draw() * 10 ** len(word))) if word.isdecimal() else word


def _side(store: LocalStore, corpus: Path, lang: str, number: int, work: Path) -> Indexed:
    """A side of the text and its index, made where they are not there yet, in a store."""
    text, index = work / f"{number}.{lang}.zst", work / f"{number}.{lang}.index"
    if not text.exists():
        write_lines(text, _varied(_lines(corpus, lang), number, lang))
    if not index.exists():
        began, used = time.perf_counter(), processor_seconds()
        command = [sys.executable, "-m", SCRIPT, "--text", str(text), "--output", str(index)]
        subprocess.run(command, check=True)
        seconds, processor = time.perf_counter() - began, processor_seconds() - used
        print(f"index of {lang}: {seconds:.0f} s, {processor:.0f} s of a processor")
    return Indexed(store.add_blob(text), {name: store.add_blob(index / name) for name in FILES})


def _sentences(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Kinds of sentences, and one of each."""
    long = next(line for line in lines if 80 <= len(line) < 100)
    short = next(line for line in lines if 15 <= len(line) < 20)
    yield "a line", long
    yield "a short line", short
    yield "a part of lines", next(line for line in lines if len(line) > 60)[20:45]
    yield "a frequent part of ten letters", "the following"[:11]
    yield "an edited line", _edited(long, random.Random(1), 2)
    yield "in no line", "Quizzical zebras vex jumpy wolfhounds by dusk"


def _time(store: LocalStore, sentence: str, sides: Sequence[Indexed], folder: Path) -> str:
    with tempfile.TemporaryDirectory(dir=folder) as work:
        began, used = time.perf_counter(), processor_seconds()
        (answer,) = search(store, sentence, [sides], Path(work))
        seconds, processor = time.perf_counter() - began, processor_seconds() - used
    found = f"{answer.exact:,} exact, {answer.inside:,} inside, {answer.near:,} near"
    return f"{seconds:.1f} s, {processor:.1f} s of a processor; {found}; bar: 10 s"


def _edited(line: str, draw: random.Random, edits: int) -> str:
    """A line with letters and words dropped, doubled, replaced or moved."""
    words = line.split()
    for _ in range(edits):
        place, kind = draw.randrange(len(words)), draw.randrange(6)
        word, other = words[place], draw.choice(words)
        cut = draw.randrange(len(word))
        if kind == 0 and len(words) > 1:
            words.pop(place)
        elif kind == 1:
            words.insert(place, other)
        elif kind == 2:
            words[place] = other
        elif kind == 3:
            words[place] = word[:cut] + draw.choice("aeinrstáж") + word[cut + 1 :]
        elif kind == 4:
            words[place] = word[:cut] + word[cut : cut + 1] + word[cut:]
        else:
            words.append(words.pop(place))
    return " ".join(words)


def _recall(lines: Sequence[str]) -> str:
    """The share of edited lines, nearly the same as the originals, that these find."""
    draw, chrf = random.Random(2), CHRF()
    pairs: list[tuple[str, str]] = []
    while len(pairs) < PLANTED:
        line = draw.choice(lines)
        if len("".join(line.split())) >= FEWEST_LETTERS:
            edited = _edited(line, draw, draw.randint(1, 1 + len(line) // 20))
            if NEAR <= chrf.sentence_score(edited, [line]).score < 100:
                pairs.append((line, edited))
    with tempfile.TemporaryDirectory() as name:
        text, index = Path(name) / "text.zst", Path(name) / "index"
        write_lines(text, [edited for _, edited in pairs])
        make_index(["--text", str(text), "--output", str(index)])
        found = sum(
            number in candidates(index, Sentence(line))[1].tolist() for number, (line, _) in enumerate(pairs)
        )
    return f"recall: {found:,} of {len(pairs):,} planted near duplicates; bar: 99%"


if __name__ == "__main__":
    main()
