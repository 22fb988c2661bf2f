"""The cost of making training pairs: beside the former loop in each training, and one without checks.

    python -m benchmarks.training_pairs [--pairs 40000] [--threads 1 2] [--runs 3] \\
        [--corpus corpus.tok-icu.en.zst corpus.tok-icu.ru.zst corpus.aln.zst]

For pairs with links of tokens (teachers), with links of pieces (guided students) and without (backwards
models): microseconds of processors a pair by the number of processes, pairs a second, peak memory, bytes a
pair. The loop before ran on one core of the GPU machine, at each attempt, and wrote text; links of pieces
were made by OpusTrainer's Tags whenever a line was read. The bare loop joins columns to lines of text, as
upstream does. Of several runs, in turns, the median counts. Text is generated, its links are made up;
--corpus gives other text, as alignments leave it.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from opustrainer.modifiers.placeholders import PlaceholderTagModifier
from sentencepiece import SentencePieceProcessor

from benchmarks.generated_pairs import sentences
from benchmarks.memory import Peak
from benchmarks.timing import processor_seconds
from pipeline.alignments.icu_tokens import detokenize, tokenize, words_of
from pipeline.common.lines import read_lines, write_lines, zip_lines
from pipeline.train import training_pairs
from pipeline.train.vocab import learn

JOINED = 3  # generated sentences to a line: 20 words
VOCABULARY = 8_000
LEARNT = 20_000  # lines
ALIGNMENT = re.compile(r"\d+-\d+(?: \d+-\d+)*")


@dataclass(frozen=True)
class Form:
    """Pairs of a kind: the longest that they may be, in pieces, and what the script is told besides."""

    name: str
    length: int
    aligned: bool = True
    linked: bool = False


FORMS = (
    Form("links of tokens (teacher)", 100),
    Form("links of pieces (student)", 200, linked=True),
    Form("no links (backwards model)", 100, aligned=False),
)


class Material(NamedTuple):
    """Tokens and links of a corpus, its text, and a vocabulary a side."""

    tokens: list[Path]
    text: list[Path]
    vocabs: list[Path]
    pairs: int

    def files(self, form: Form) -> list[Path]:
        """Return the files for pairs of a form."""
        return self.tokens if form.aligned else self.text


class Cost(NamedTuple):
    """Cost of a run: seconds of processors, and by the clock; megabytes of memory at most."""

    processors: float
    clock: float
    memory: float


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--pairs", type=int, default=40_000, help="how many to make")
    add("--threads", type=int, nargs="+", default=[1, 2], help="numbers of processes")
    add("--runs", type=int, default=3, help="of each way")
    add(
        "--corpus",
        type=Path,
        nargs=3,
        help="tokens of both sides and their links, in place of generated ones",
    )
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="training-pairs-") as name:
        material = prepare(Path(name), args.pairs, args.corpus)
        for form in FORMS:
            compare(material, form, Path(name), args.threads, args.runs)


def compare(material: Material, form: Form, folder: Path, threads: Sequence[int], runs: int) -> None:
    """Run all ways in turns; print a line for each."""
    text, made = folder / "pairs.tsv", [0]

    def by_script(processes: int) -> None:
        os.environ["TRANSLATIONS_THREADS"] = str(processes)
        made[0] += 1
        training_pairs.main(
            [*arguments(material, form), "--output", str(folder / f"made.{form.length}.{made[0]}")]
        )

    ways: dict[str, Callable[[], None]] = {
        "bare loop": partial(bare, material.files(form), text),
        "loop before": partial(before, material, form, text),
        **{
            f"the step, {number} process{'es' * (number > 1)}": partial(by_script, number)
            for number in threads
        },
    }
    costs: dict[str, list[Cost]] = defaultdict(list)
    for _ in range(runs):
        for name, work in ways.items():
            costs[name].append(measured(work))
    print(f"{form.name}, {material.pairs:,} pairs")
    base = statistics.median(cost.processors for cost in costs["loop before"])
    for name, found in costs.items():
        processors, clock = (statistics.median(column) for column in list(zip(*found, strict=True))[:2])
        print(
            f"  {name:22} {processors / material.pairs * 1e6:6.1f} µs of processors a pair, "
            f"{base / processors:4.1f} × less than the loop before, {material.pairs / clock:8,.0f} pairs/s, "
            f"{max(cost.memory for cost in found):6.0f} MB at most",
            flush=True,
        )
    compressed = next(folder.glob("made.*.1")) / "pairs.zst"
    sizes = [file.stat().st_size / material.pairs for file in (text, compressed)]
    print(f"  {sizes[0]:.0f} bytes a pair as text, {sizes[1]:.0f} in blocks", flush=True)
    for left in folder.glob("made.*"):
        left.rename(folder / f"old.{form.length}.{form.aligned}.{left.name}")


def measured(work: Callable[[], None]) -> Cost:
    """Measure the cost of a run."""
    peak = Peak(os.getpid())
    processors, clock = processor_seconds(), time.perf_counter()
    work()
    cost = processor_seconds() - processors, time.perf_counter() - clock
    peak.stop()
    return Cost(*cost, peak.megabytes)


def arguments(material: Material, form: Form) -> list[str]:
    """The script's, but for the output."""
    files = material.files(form)
    given = ["--corpus-src", files[0], "--corpus-trg", files[1], "--max-length", form.length]
    given += ["--source-vocab", material.vocabs[0], "--target-vocab", material.vocabs[1]]
    given += ["--alignments", files[2]] if form.aligned else []
    return [*map(str, given), *["--link-pieces"] * form.linked]


def bare(files: Sequence[Path], output: Path) -> None:
    """The lines of the files side by side."""
    with output.open("w", encoding="utf-8") as lines:
        for columns in zip_lines(*files):
            lines.write("\t".join(columns) + "\n")


def before(material: Material, form: Form, output: Path) -> None:
    """The loop that ran at the beginning of each training, and OpusTrainer's Tags, which followed it."""
    vocabs = [SentencePieceProcessor(model_file=str(vocab)) for vocab in material.vocabs]
    models = map(str, material.vocabs)
    tags = PlaceholderTagModifier(0.0, "icu:a", "icu:b", *models, augment=1, tag=0) if form.linked else None
    with output.open("w", encoding="utf-8") as lines:
        for rows in zip_lines(*material.files(form)):
            columns = [" ".join(line.split()) for line in rows]
            if not all(columns) or not all(map(partial(_fits, form), vocabs, columns)):
                continue
            if form.aligned:
                _check(columns)
            line = "\t".join(columns)
            if tags:
                tags.apply(line)
            lines.write(line + "\n")


def _fits(form: Form, vocab: SentencePieceProcessor, text: str) -> bool:
    plain = text.replace(" ", "").replace("▁", " ") if form.aligned else text
    return len(plain.encode()) + 2 <= form.length or len(vocab.encode(plain)) + 1 <= form.length


def _check(columns: Sequence[str]) -> None:
    source, target, alignment = columns
    assert ALIGNMENT.fullmatch(alignment), alignment
    tokens = len(source.split()), len(target.split())
    for pair in alignment.split():
        i, j = map(int, pair.split("-"))
        assert i < tokens[0], pair
        assert j < tokens[1], pair


def prepare(folder: Path, pairs: int, corpus: Sequence[Path] | None) -> Material:
    """Write tokens, links and text, and learn the vocabularies."""
    given = zip_lines(*corpus) if corpus else generated(pairs)
    rows = [row for row in islice(given, pairs) if all(row)]
    tokens, text, vocabs = [], [], []
    for number, column in enumerate(zip(*rows, strict=True)):
        tokens.append(folder / f"tokens.{number}.zst")
        write_lines(tokens[-1], column)
        if number < 2:
            text.append(folder / f"text.{number}.zst")
            write_lines(text[-1], (detokenize(line.split()) for line in column))
            vocabs.append(folder / f"vocab.{number}.spm")
            sample = list(islice(read_lines(text[-1]), LEARNT))
            vocabs[-1].write_bytes(learn(sample, VOCABULARY, "nmt_nfkc"))
    return Material(tokens, text, vocabs, len(rows))


def generated(pairs: int) -> Iterator[tuple[str, ...]]:
    """Tokenised pairs, each word linked with the one at its place."""
    ids = np.arange(pairs * JOINED)
    sides = [sentences(lang, ids) for lang in ("en", "ru")]
    while lines := [" ".join(islice(side, JOINED)) for side in sides]:
        if not all(lines):
            return
        tokens = [tokenize(line, lang) for line, lang in zip(lines, ("en", "ru"), strict=True)]
        words = [[i for i, token in enumerate(side) if words_of([token])] for side in tokens]
        links = " ".join(f"{i}-{j}" for i, j in zip(*words, strict=False))
        yield " ".join(tokens[0]), " ".join(tokens[1]), links


if __name__ == "__main__":
    main()
