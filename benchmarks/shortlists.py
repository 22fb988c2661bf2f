"""What a shortlist costs and saves in Firefox's native engine: chrF, changed sentences, words a second.

    python -m benchmarks.shortlists [--quantized FOLDER] [--shortlist FOLDER] [--tests FOLDER …]
        [--src en] [--trg eo]

For several sizes (--best and --frequent of pipeline.quantize.quantize) and none, on each test set; of five
runs the fastest counts. By default the demo's student (`make demo`). Folders hold what
`translations artifacts --download` copies: of `quantize-*`, `shortlist-*` and datasets.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fxtranslate import Translator
from sacrebleu import corpus_chrf

from benchmarks.alphas import TESTS, download
from pipeline.common.lines import read_lines, write_lines
from pipeline.common.marian import Model, load_model
from pipeline.common.vocabulary import load_vocabulary
from pipeline.quantize.lexical_shortlist import always_allowed
from pipeline.quantize.quantize import BROWSER_WEIGHTS, convert_shortlist

SIZES = ((50, 50), (100, 50), (50, 200), (200, 200), (5, 50))  # best, frequent
ROUNDS = 5


@dataclass(frozen=True)
class TestSet:
    """Sentences with their references, and the translations without a shortlist."""

    sentences: list[str]
    references: list[str]
    whole: list[str]


def main(argv: Sequence[str] | None = None) -> None:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quantized", type=Path, help="folder of the quantised student; by default the demo's"
    )
    parser.add_argument("--shortlist", type=Path, help="folder of its shortlist")
    parser.add_argument("--tests", type=Path, nargs="+", help="folders of test sets")
    parser.add_argument("--src", default="en", help="source language")
    parser.add_argument("--trg", default="eo", help="target language")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="shortlists-") as name:
        folder = Path(name)
        quantized = load_model(args.quantized or download("quantize-en-eo", folder))
        text = args.shortlist or download("shortlist-en-eo", folder)
        write_lines(folder / "lex.s2t", read_lines(text / "lex.s2t.zst"))
        tests = args.tests or [download(f"dataset-{test}-en-eo", folder) for test in TESTS]
        _compare(quantized, [_test_set(test, (args.src, args.trg), quantized) for test in tests], folder)


def _compare(model: Model, tests: Sequence[TestSet], folder: Path) -> None:
    target = load_vocabulary(model.target_vocab)
    print(f"{'none':18} | {_scores(_engine(model), tests)}", flush=True)
    for best, frequent in SIZES:
        convert_shortlist(
            folder / "lex.s2t", model, always_allowed(target, frequent), best, folder / "lex.bin"
        )
        engine = _engine(model, folder / "lex.bin")
        kilobytes = (folder / "lex.bin").stat().st_size / 1000
        print(f"{best:3} and {frequent:3}, {kilobytes:3.0f} kB | {_scores(engine, tests)}", flush=True)


def _engine(model: Model, shortlist: Path | None = None) -> Translator:
    weights = model.weights.with_name(BROWSER_WEIGHTS).read_bytes()
    vocabularies = (model.source_vocab.read_bytes(), model.target_vocab.read_bytes())
    return Translator(weights, *vocabularies, shortlist.read_bytes() if shortlist else None)


def _scores(engine: Translator, tests: Sequence[TestSet]) -> str:
    columns = []
    for test in tests:
        found = [engine.translate(sentence) for sentence in test.sentences]
        same = sum(one == other for one, other in zip(found, test.whole, strict=True))
        chrf = corpus_chrf(found, [test.references]).score
        columns.append(f"chrF {chrf:6.2f}, {same / len(found):6.1%} the same")
    return " | ".join([*columns, f"{_speed(engine, tests[0].sentences):6,.0f} words/s"])


def _speed(engine: Translator, sentences: Sequence[str]) -> float:
    """Words of the source a second, of the fastest round."""
    seconds = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for sentence in sentences:
            engine.translate(sentence)
        seconds.append(time.perf_counter() - began)
    return sum(len(sentence.split()) for sentence in sentences) / min(seconds)


def _test_set(folder: Path, pair: tuple[str, str], model: Model) -> TestSet:
    source, target = ([*read_lines(folder / f"corpus.{language}.zst")] for language in pair)
    engine = _engine(model)
    return TestSet(source, target, [engine.translate(sentence) for sentence in source])


if __name__ == "__main__":
    main()
