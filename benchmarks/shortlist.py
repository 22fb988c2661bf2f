"""The cost of a shortlist for a vocabulary of real size, and its gain.

    python -m benchmarks.shortlist [--pairs 50000 100000 200000] [--pieces 32000] [--lines 40]

Generated English-Russian text (benchmarks.generated_pairs, three sentences a line) with a joint vocabulary.
First, for each number of pairs, the seconds and the peak memory of each part of
pipeline.alignments.shortlist, every part in processes of its own: modifying and cutting text, aligning,
counting. Beside it counting in dictionaries, which must give the same shortlist. Aligning needs the memory of
its blocks, which have a million pairs at most; counting that of the different pairs of pieces, of which real
text has more: ten million are made up for both ways of counting.

Then the speed of a `tiny` student of random weights with that vocabulary, without, with, and with a wider
shortlist, in `fxtranslate` and in Marian with 8 bits, one sentence at a time and in batches of 32, on one
thread. The student never ends a sentence: each engine writes as many pieces as it allows. So only what stands
in one row compares.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

from benchmarks.engines import Engine, fxtranslate, marian
from benchmarks.generated_pairs import sentences
from benchmarks.memory import Peak
from pipeline.alignments import shortlist as making
from pipeline.alignments.blocks import SAMPLE_SEED, Corpus, align_corpus
from pipeline.alignments.lexicon import Entry, Lexicon
from pipeline.alignments.symmetrize import Link
from pipeline.common.lines import count_lines, read_lines, write_lines, zip_lines
from pipeline.common.marian import decoder_config
from pipeline.common.marian_options import write_options
from pipeline.common.vocabulary import load_vocabulary
from pipeline.quantize import quantize
from pipeline.train.reading import as_read
from pipeline.train.vocab import learn
from tests.pipeline.quantize.random_model import architecture, write_model

LANGUAGES = ("en", "ru")
TOGETHER = 3  # sentences in a line
LEARNED_FROM = 50_000  # lines of each language
SIZES = {"none": None, "50 and 50": (50, 50), "200 and 200": (200, 200)}  # best, frequent
CURRICULUM = Path(making.__file__).parents[1] / "train" / "configs" / "curriculum" / "student.yml"
MADE_UP, LENGTH = 10_000_000, 50  # pairs of pieces; links in a line
NEVER = -100.0  # logarithm of a probability


class Folder(NamedTuple):
    """Paths of the files of a number of pairs, and the vocabulary of all."""

    path: Path
    vocabulary: Path

    @property
    def text(self) -> list[Path]:
        return [self.path / f"corpus.{language}.zst" for language in LANGUAGES]

    @property
    def ids(self) -> list[Path]:
        return [self.path / f"ids.{language}.zst" for language in LANGUAGES]

    @property
    def links(self) -> Path:
        return self.path / "links.zst"


class InDictionaries(Lexicon):
    """The same in a dictionary for each source unit."""

    def __init__(self) -> None:
        self._found: dict[int, Counter[int]] = defaultdict(Counter)
        self._sums: Counter[int] = Counter()

    def add(self, source: Sequence[int], target: Sequence[int], links: Sequence[Link]) -> None:
        for position, translation in links:
            self._found[source[position]][target[translation]] += 1
            self._sums[source[position]] += 1
        linked = {position for position, _ in links}
        self._sums.update(unit for position, unit in enumerate(source) if position not in linked)

    def best(self, size: int) -> Iterator[Entry]:
        for source, targets in sorted(self._found.items()):
            for target, count in sorted(targets.items(), key=lambda item: (-item[1], item[0]))[:size]:
                yield Entry(target, source, count / self._sums[source])


def main(argv: Sequence[str] | None = None) -> None:
    """Print a line for each number of pairs, and one for each engine."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, nargs="+", default=[50_000, 100_000, 200_000])
    parser.add_argument("--pieces", type=int, default=32_000, help="size of the vocabulary")
    parser.add_argument("--lines", type=int, default=40, help="lines to translate")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="shortlist-") as name:
        folder = Path(name)
        text = [line for language in LANGUAGES for line in _lines(language, LEARNED_FROM)]
        (folder / "vocab.spm").write_bytes(learn(text, args.pieces, "nmt_nfkc"))
        for pairs in args.pairs:
            made = Folder(folder / str(pairs), folder / "vocab.spm")
            made.path.mkdir()
            _measure_making(made, pairs)
        counted, in_dictionaries = (
            _measured(made_up, made) for made_up in (_made_up, _made_up_in_dictionaries)
        )
        print(f"count {MADE_UP:,} made-up pairs {counted}, in dictionaries {in_dictionaries}", flush=True)
        _measure_speed(made, args.pieces, args.lines)


def _lines(language: str, lines: int) -> list[str]:
    whole = sentences(language, np.arange(lines * TOGETHER))
    return [" ".join(islice(whole, TOGETHER)) for _ in range(lines)]


def _measure_making(made: Folder, pairs: int) -> None:
    for path, language in zip(made.text, LANGUAGES, strict=True):
        write_lines(path, _lines(language, pairs))
    cut, aligned = _measured(_cut, made), _measured(_align, made)
    counted, in_dictionaries = (_measured(count, made) for count in (_count, _count_in_dictionaries))
    lists = [[*read_lines(made.path / f"{kind.__name__}.zst")] for kind in (Lexicon, InDictionaries)]
    if lists[0] != lists[1]:
        sys.exit("error: the two ways of counting differ")
    different = int((made.path / "different").read_text())
    print(
        f"{pairs:,} pairs, {count_lines(made.ids[0]):,} with noise: cut {cut}; align {aligned}; "
        f"count {different:,} different pairs of pieces {counted}, in dictionaries {in_dictionaries}",
        flush=True,
    )


def _measured(part: Callable[[Folder], None], made: Folder) -> str:
    """Seconds and peak memory of a part, which runs in a process of its own."""
    process = get_context("fork").Process(target=part, args=(made,))
    began = time.monotonic()
    process.start()
    assert process.pid
    peak = Peak(process.pid)
    process.join()
    seconds = time.monotonic() - began
    peak.stop()
    if process.exitcode:
        sys.exit(f"error: {part.__name__} ended with {process.exitcode}")
    return f"{seconds:.0f} s, {peak.megabytes:,.0f} MB"


def _cut(made: Folder) -> None:
    source, target = map(str, made.text)
    files = ["--source-vocab", str(made.vocabulary), "--target-vocab", str(made.vocabulary)]
    files += ["--corpus-src", source, "--corpus-trg", target, "--curriculum", str(CURRICULUM)]
    given = [*files, "--src", LANGUAGES[0], "--trg", LANGUAGES[1], "--output", str(made.path)]
    modifiers = making.read_modifiers(making._parser().parse_args([*given, "--bicameral", "--phonemic"]))
    vocabulary = load_vocabulary(made.vocabulary)
    read = as_read(zip_lines(*made.text), modifiers, SAMPLE_SEED)
    making.encode_corpus(read, [vocabulary] * 2, made.ids)


def _align(made: Folder) -> None:
    work = made.path / "work"
    work.mkdir()
    source, target = made.ids
    align_corpus(Corpus(source, target, count_lines(source)), made.links, work)


def _count(made: Folder) -> None:
    vocabulary = load_vocabulary(made.vocabulary)
    lexicon, _ = making.build_lexicon(made.ids, made.links, [vocabulary] * 2)
    entries = making.format_entries(lexicon.best(making.BEST), vocabulary, vocabulary)
    write_lines(made.path / f"{type(lexicon).__name__}.zst", entries)
    if type(lexicon) is Lexicon:
        (made.path / "different").write_text(str(len(lexicon._pairs)))


def _count_in_dictionaries(made: Folder) -> None:
    with patch.object(making, "Lexicon", InDictionaries):
        _count(made)


def _made_up(made: Folder, lexicon: Lexicon | None = None) -> None:
    lexicon = lexicon or Lexicon()
    pieces, chance = load_vocabulary(made.vocabulary).get_piece_size(), np.random.default_rng(1)
    links = [(position, position) for position in range(LENGTH)]
    for _ in range(MADE_UP // LENGTH):
        source, target = chance.integers(0, pieces, (2, LENGTH)).tolist()
        lexicon.add(source, target, links)
    for _ in lexicon.best(making.BEST):
        pass


def _made_up_in_dictionaries(made: Folder) -> None:
    _made_up(made, InDictionaries())


def _measure_speed(made: Folder, pieces: int, lines: int) -> None:
    student = made.path / "student"
    student.mkdir()
    write_model(student / "model.npz", architecture("tiny", pieces, True))
    _never_end(student / "model.npz")
    for side in ("source", "target"):
        (student / f"{side}.spm").write_bytes(made.vocabulary.read_bytes())
    write_options(student / "decoder.yml", decoder_config("model.npz", {}))
    text = _lines(LANGUAGES[0], lines)
    words = sum(len(line.split()) for line in text)
    write_lines(made.path / "dev.zst", text[:10])
    print(f"words/s of {lines} lines, {words:,} words, by the shortlist: {', '.join(SIZES)}")
    engines: dict[str, list[Engine]] = defaultdict(list)
    for name, size in SIZES.items():
        model = made.path / name
        options = ["--model", student, "--text", made.path / "dev.zst", "--output", model]
        if size:
            options += ["--shortlist", made.path / "Lexicon.zst", "--best", size[0], "--frequent", size[1]]
        quantize.main([*map(str, options)])
        engines["fxtranslate"].append(Engine(partial(fxtranslate, _exported(model))))
        engines["Marian, one at a time"].append(marian(made.path, model, batch=1))
        engines["Marian, batches of 32"].append(marian(made.path, model))
    for name, row in engines.items():
        print(f"{name}: {', '.join(f'{engine.speed(text):,.0f}' for engine in row)}", flush=True)


def _never_end(model: Path) -> None:
    with np.load(model) as weights:
        arrays = dict(weights)
    arrays["decoder_ff_logit_out_b"][0, 0] = NEVER
    np.savez(model, **arrays)


def _exported(quantized: Path) -> Path:
    """The files as the export names them."""
    folder = quantized / "exported"
    folder.mkdir()
    names = {"model.intgemm.alphas.bin": "model.x.intgemm.alphas.bin", "source.spm": "vocab.x.spm"}
    for name, exported in {**names, "lex.bin": "lex.x.bin"}.items():
        if (quantized / name).exists():
            (folder / exported).symlink_to(quantized / name)
    return folder


if __name__ == "__main__":
    main()
