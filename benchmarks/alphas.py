"""Rules for the multipliers of activations, by the change they make in Firefox's native engine.

    python -m benchmarks.alphas [--student FOLDER] [--quantized FOLDER] [--dev FOLDER] [--tests FOLDER …]
        [--src en] [--trg eo] [--shortlist]

For each rule: chrF on each test set, and how many sentences are those of Marian's float model and of its
8-bit form. By default the demo's finetuned student (`make demo`). Without a shortlist, which makes
differences of its own; with --shortlist through that of the quantised model. Folders hold what
`translations artifacts --download` copies: of `finetune-student-*`, `quantize-*`, `merge-devset-*` and
datasets.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np
from fxtranslate import Translator
from sacrebleu import corpus_chrf

from benchmarks.timing import BIN
from pipeline.common.lines import read_lines
from pipeline.common.marian import Model, decode, load_model
from pipeline.quantize.alphas import browser_model
from pipeline.quantize.calibration import SPREAD, multiplier, translated
from pipeline.quantize.marian_binary import LARGEST, serialize
from pipeline.quantize.student import Array, Student, read_weights

PARTITION = "en-eo.demo"
TESTS = ("test-demo_test", "test-demo_aug-typos_test", "test-demo_aug-upper_test")
MAGNITUDES = (
    np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)
)  # all finite ones of 16 bits
BATCH = 32  # upstream's


@dataclass
class Activations:
    """Inputs of a matrix: the largest of each sentence, and how often each magnitude occurred."""

    maxima: list[float] = field(default_factory=list)
    counts: Array = field(default_factory=lambda: np.zeros(len(MAGNITUDES), np.int64))

    def add(self, activations: Array) -> None:
        """Those of one sentence."""
        sizes = np.abs(activations)
        self.maxima.append(float(sizes.max()))
        bits = np.minimum(sizes, MAGNITUDES[-1]).astype(np.float16).view(np.uint16).ravel()
        self.counts += np.bincount(bits, minlength=len(MAGNITUDES))


Rule: TypeAlias = Callable[[Activations], float]


@dataclass(frozen=True)
class TestSet:
    """Sentences, their reference, and what Marian makes of them."""

    name: str
    sentences: list[str]
    reference: list[str]
    floats: list[str]
    integers: list[str]


def spread(factor: float, batch: int = 1) -> Rule:
    """The mean of the maxima of batches and some standard deviations."""

    def rule(seen: Activations) -> float:
        maxima = [max(seen.maxima[start : start + batch]) for start in range(0, len(seen.maxima), batch)]
        return float(LARGEST / (np.mean(maxima) + factor * np.std(maxima)))

    return rule


def percentile(share: float) -> Rule:
    """The magnitude that a share of all activations does not exceed."""

    def rule(seen: Activations) -> float:
        below = np.cumsum(seen.counts)
        return float(LARGEST / MAGNITUDES[np.searchsorted(below, share * below[-1])])

    return rule


def least_squares(seen: Activations) -> float:
    """The multiplier with the least squared error of all activations."""
    found = np.flatnonzero(seen.counts)
    sizes, counts = MAGNITUDES[found], seen.counts[found]

    def error(scale: float) -> float:
        rounded = np.minimum(np.rint(sizes * scale), LARGEST) / scale
        return float((counts * (rounded - sizes) ** 2).sum())

    return min((float(LARGEST / (sizes[-1] * part)) for part in np.linspace(0.1, 1, 91)), key=error)


RULES: Mapping[str, Rule] = {
    f"default: mean + {SPREAD:g} deviations": lambda seen: multiplier(seen.maxima),
    "mean + 1.1 deviations": spread(1.1),
    f"upstream: the same of {BATCH} sentences": spread(1.1, BATCH),
    "mean + 3 deviations": spread(3),
    "largest": lambda seen: LARGEST / max(seen.maxima),
    "99.9 %": percentile(0.999),
    "99.99 %": percentile(0.9999),
    "least squared error": least_squares,
}


def main(argv: Sequence[str] | None = None) -> None:
    """Print a line for each rule."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--student", type=Path, help="folder of the trained student; the demo's by default")
    parser.add_argument("--quantized", type=Path, help="folder of its quantised form")
    parser.add_argument("--dev", type=Path, help="folder of text to calibrate with")
    parser.add_argument("--tests", type=Path, nargs="+", help="folders of test sets")
    parser.add_argument("--src", default="en", help="source language")
    parser.add_argument("--trg", default="eo", help="target language")
    parser.add_argument("--shortlist", action="store_true", help="translate through the shortlist")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="alphas-") as name:
        folder = Path(name)
        student = load_model(args.student or download("finetune-student-en-eo", folder))
        quantized = load_model(args.quantized or download("quantize-en-eo", folder))
        dev = args.dev or download("merge-devset-en-eo", folder)
        tests = [
            _test_set(test, (args.src, args.trg), student, quantized, folder)
            for test in args.tests or [download(f"dataset-{test}-en-eo", folder) for test in TESTS]
        ]
        for test in tests:
            scores = (corpus_chrf(lines, [test.reference]).score for lines in (test.floats, test.integers))
            marian = "chrF {:.2f} in floats, {:.2f} in 8 bits".format(*scores)
            print(f"{test.name}: {len(test.sentences)} sentences, Marian {marian}")
        shortlist = quantized.shortlist if args.shortlist else None
        _compare(student, shortlist, dev / f"corpus.{args.src}.zst", tests, folder)


def _compare(
    student: Model, shortlist: Path | None, dev: Path, tests: Sequence[TestSet], folder: Path
) -> None:
    seen: dict[str, Activations] = {}
    weights = read_weights(student.weights)
    run = Student(weights, lambda name, x: seen.setdefault(name, Activations()).add(x)).run
    for source, target in translated(student, dev, folder):
        run(source, target)
    vocabularies = (student.source_vocab.read_bytes(), student.target_vocab.read_bytes())
    narrowed = shortlist.read_bytes() if shortlist else None
    for name, rule in RULES.items():
        alphas = {matrix: rule(activations) for matrix, activations in seen.items()}
        translator = Translator(serialize(browser_model(weights, alphas)), *vocabularies, narrowed)
        print(f"{name:35}" + "".join(f" | {_scores(translator, test)}" for test in tests), flush=True)


def _scores(translator: Translator, test: TestSet) -> str:
    found = [translator.translate(sentence) for sentence in test.sentences]
    score = corpus_chrf(found, [test.reference]).score
    floats, integers = (
        sum(one == other for one, other in zip(found, lines, strict=True))
        for lines in (test.floats, test.integers)
    )
    return f"chrF {score:6.2f}, {floats:4d} as float, {integers:4d} as int8"


def _test_set(
    folder: Path, pair: tuple[str, str], student: Model, quantized: Model, scratch: Path
) -> TestSet:
    source, target = (folder / f"corpus.{language}.zst" for language in pair)
    decoded = []
    for model in (student, quantized):
        decode([model.weights.parent], source, scratch / "decoded", {"beam-size": 1})
        decoded.append([*read_lines(scratch / "decoded")])
    return TestSet(folder.name, [*read_lines(source)], [*read_lines(target)], *decoded)


def download(label: str, folder: Path) -> Path:
    command = [str(BIN / "translations"), "artifacts", PARTITION, label, "--download", str(folder / label)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder / label


if __name__ == "__main__":
    main()
