"""An exported student in Marian and in the engines of browsers: users' results beside measured ones.

    python -m benchmarks.engines [--split | --partition en-fr.debian --tests test-file_test ... --lines 200]

For each engine and test set: chrF, and how many sentences are as Marian's of 8 bits in batches of 32. Words
a second are those of the first test set by the time of processors, without that to load, the most of
three rounds. The engines of browsers translate one sentence at a time, from the files of the export.

By default the demo's student (`make demo`); with --partition another one's that is trained, on its test sets.
With --split English-Turkish, 600 generated sentences with a vocabulary for each language, on which a student
is trained first, in some minutes. Then the sizes of students with 32,000 pieces, as Mozilla's have, and
random weights. Needs Node.js, Chromium and the engine of browsers: `make ci-environments` installs them, and
prints the variable to export.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sacrebleu import corpus_chrf

from benchmarks.demo import PARTITION, TESTS, download
from benchmarks.timing import processor_seconds
from pipeline.common.engine import load_engine
from pipeline.common.lines import read_lines, write_lines
from pipeline.common.resources import marian_command
from tests.browsers import Translated, in_chromium, in_node, missing
from tests.end_to_end.tiny import SPLIT_PARTITION, make_split_place, unseen
from tests.pipeline.quantize.random_model import exported_bytes

ROUNDS = 3
REPEATS = 5  # of the test set, to tell Marian's time to translate from its time to load
INTEGERS = "Marian, 8 bits"


@dataclass(frozen=True)
class Engine:
    """An engine that translates lines, with or without the time to load in its seconds."""

    run: Callable[[Sequence[str]], Translated]
    loads: bool = False

    def speed(self, lines: Sequence[str]) -> float:
        """Words of the source a second, of the fastest rounds."""
        seconds = self._least(lines)
        if self.loads:
            seconds = (self._least([*lines] * (1 + REPEATS)) - seconds) / REPEATS
        return sum(len(line.split()) for line in lines) / seconds

    def _least(self, lines: Sequence[str]) -> float:
        return min(self.run(lines).seconds for _ in range(ROUNDS))


class TestSet(NamedTuple):
    """Sentences and their references."""

    name: str
    sentences: list[str]
    references: list[str]


def main(argv: Sequence[str] | None = None) -> None:
    """Print a line for each engine, and the sizes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--split", action="store_true", help="train and measure the second pair")
    parser.add_argument("--partition", default=PARTITION, help="the demo's by default")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="its test sets, as in labels of steps")
    parser.add_argument("--lines", type=int, help="so many of each set: a student of full size is slow")
    args = parser.parse_args(argv)
    if reason := missing("node") or missing("chromium"):
        sys.exit(f"error: {reason}")
    with tempfile.TemporaryDirectory(prefix="engines-") as name:
        folder = Path(name)
        models, tests = (
            _split_pair(folder) if args.split else _trained(folder, args.partition, args.tests, args.lines)
        )
        _compare(_engines(folder, *models), tests, speeds=not args.split)
        for architecture in ("tiny", "base-memory"):
            megabytes = len(exported_bytes(folder, architecture, 32_000)) / 1e6
            print(f"{architecture} with 32,000 pieces, random weights: {megabytes:.1f} MB")


def _trained(
    folder: Path, partition: str, names: Sequence[str], lines: int | None
) -> tuple[list[Path], list[TestSet]]:
    pair = partition.partition(".")[0]
    steps = ("finetune-student", "quantize", "export")
    tests = []
    for test in names:
        made = download(f"dataset-{test}-{pair}", folder, partition)
        sides = ([*read_lines(made / f"corpus.{side}.zst")][:lines] for side in pair.split("-"))
        tests.append(TestSet(test, *sides))
    return [download(f"{step}-{pair}", folder, partition) for step in steps], tests


def _split_pair(folder: Path) -> tuple[list[Path], list[TestSet]]:
    place = make_split_place(folder / "place")
    commands = [["train", SPLIT_PARTITION, "--yes"]]
    made = [folder / name for name in ("finetune-student-en-tr", "quantize-en-tr", "export-en-tr")]
    commands += [["artifacts", SPLIT_PARTITION, path.name, "--download", str(path)] for path in made]
    for command in commands:
        done = place.run("translations", *command)
        if done.returncode:
            sys.exit(f"translations {' '.join(command)} failed:\n{done.stdout}\n{done.stderr}")
    sources, references = ([*side] for side in zip(*unseen("tr"), strict=True))
    return made, [TestSet("unseen", sources, references)]


def _engines(folder: Path, student: Path, quantized: Path, exported: Path) -> Mapping[str, Engine]:
    return {
        "Marian, floats": marian(folder, student),
        INTEGERS: marian(folder, quantized),
        f"{INTEGERS}, one at a time": marian(folder, quantized, batch=1),
        "fxtranslate": Engine(lambda lines: fxtranslate(exported, lines)),
        "WebAssembly in Node.js": Engine(lambda lines: in_node(exported, lines)),
        "WebAssembly in Chromium": Engine(lambda lines: in_chromium(exported, lines)),
    }


def _compare(engines: Mapping[str, Engine], tests: Sequence[TestSet], speeds: bool) -> None:
    integers = [engines[INTEGERS].run(test.sentences).translations for test in tests]
    print(" | ".join(["", *(f"{test.name}: {len(test.sentences)} sentences" for test in tests)]))
    for name, engine in engines.items():
        columns = []
        for test, others in zip(tests, integers, strict=True):
            found = engine.run(test.sentences).translations
            same = sum(one == other for one, other in zip(found, others, strict=True))
            chrf = corpus_chrf(found, [test.references]).score
            columns.append(f"chrF {chrf:6.2f}, {same / len(found):6.1%} the same")
        if speeds:
            columns.append(f"{engine.speed(tests[0].sentences):6,.0f} words/s")
        print(" | ".join([f"{name:29}", *columns]), flush=True)


def marian(folder: Path, model: Path, batch: int = 32) -> Engine:
    """Marian's own command: pipeline.common.marian decodes in fixed batches."""
    common = [*marian_command(), "decode", "--config", str(model / "decoder.yml"), "--cpu-threads", "1"]
    batches = ["--mini-batch", str(batch), "--maxi-batch", "100", "--maxi-batch-sort", "src"]
    command = [*common, "--quiet", "--beam-size", "1", *batches]

    def decode(lines: Sequence[str]) -> Translated:
        write_lines(folder / "sentences", lines)
        files = ["--input", str(folder / "sentences"), "--output", str(folder / "translations")]
        began = processor_seconds()
        subprocess.run([*command, *files], check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
        return Translated([*read_lines(folder / "translations")], processor_seconds() - began)

    return Engine(decode, loads=True)


def fxtranslate(exported: Path, lines: Sequence[str]) -> Translated:
    engine = load_engine([*exported.iterdir()])
    began = processor_seconds()
    return Translated([engine.translate(line) for line in lines], processor_seconds() - began)


if __name__ == "__main__":
    main()
