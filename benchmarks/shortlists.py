"""What a shortlist costs and saves in Firefox's native engine, beside Marian: chrF, changes, words a second.

    python -m benchmarks.shortlists [--quantized FOLDER] [--shortlist FOLDER] [--tests FOLDER …]
        [--src en] [--trg eo]

For several sizes (--best and --frequent of pipeline.quantize.quantize) and none, on each test set: chrF, and
how many sentences are as without one. Words a second are those of the first test set on one thread, without
the time to load, the most of three rounds. Marian decodes the quantised model as it is.

By default the demo's student (`make demo`). Folders hold what `translations artifacts --download` copies: of
`quantize-*`, `shortlist-*` and datasets.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from fxtranslate import Translator
from sacrebleu import corpus_chrf

from benchmarks.alphas import TESTS, download
from pipeline.common.lines import read_lines, write_lines
from pipeline.common.marian import Model, decode, load_model
from pipeline.common.vocabulary import load_vocabulary
from pipeline.quantize.lexical_shortlist import always_allowed
from pipeline.quantize.quantize import BROWSER_WEIGHTS, convert_shortlist

SIZES = ((50, 50), (100, 50), (50, 200), (200, 200), (5, 50))  # best, frequent
ROUNDS = 3
REPEATS = 5  # of the test set, to tell the time to translate from the time to load

Translate: TypeAlias = Callable[[Sequence[str]], "list[str]"]


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
    print(f"{'Marian':18} | {_scores(_marian(model, folder), tests)}", flush=True)
    print(f"{'none':18} | {_scores(_engine(model), tests)}", flush=True)
    for best, frequent in SIZES:
        convert_shortlist(
            folder / "lex.s2t", model, always_allowed(target, frequent), best, folder / "lex.bin"
        )
        engine = _engine(model, folder / "lex.bin")
        kilobytes = (folder / "lex.bin").stat().st_size / 1000
        print(f"{best:3} and {frequent:3}, {kilobytes:3.0f} kB | {_scores(engine, tests)}", flush=True)


def _marian(model: Model, folder: Path) -> Translate:
    def translate(sentences: Sequence[str]) -> list[str]:
        write_lines(folder / "sentences", sentences)
        decode([model.weights.parent], folder / "sentences", folder / "translations")
        return [*read_lines(folder / "translations")]

    return translate


def _engine(model: Model, shortlist: Path | None = None) -> Translate:
    weights = model.weights.with_name(BROWSER_WEIGHTS).read_bytes()
    vocabularies = (model.source_vocab.read_bytes(), model.target_vocab.read_bytes())
    translator = Translator(weights, *vocabularies, shortlist.read_bytes() if shortlist else None)
    return lambda sentences: [translator.translate(sentence) for sentence in sentences]


def _scores(translate: Translate, tests: Sequence[TestSet]) -> str:
    columns = []
    for test in tests:
        found = translate(test.sentences)
        same = sum(one == other for one, other in zip(found, test.whole, strict=True))
        chrf = corpus_chrf(found, [test.references]).score
        columns.append(f"chrF {chrf:6.2f}, {same / len(found):6.1%} the same")
    return " | ".join([*columns, f"{_speed(translate, tests[0].sentences):6,.0f} words/s"])


def _speed(translate: Translate, sentences: Sequence[str]) -> float:
    """Words of the source a second, of the fastest round."""
    once = min(_seconds(translate, sentences) for _ in range(ROUNDS))
    repeated = min(_seconds(translate, [*sentences] * (1 + REPEATS)) for _ in range(ROUNDS))
    return REPEATS * sum(len(sentence.split()) for sentence in sentences) / (repeated - once)


def _seconds(translate: Translate, sentences: Sequence[str]) -> float:
    began = time.perf_counter()
    translate(sentences)
    return time.perf_counter() - began


def _test_set(folder: Path, pair: tuple[str, str], model: Model) -> TestSet:
    source, target = ([*read_lines(folder / f"corpus.{language}.zst")] for language in pair)
    return TestSet(source, target, _engine(model)(source))


if __name__ == "__main__":
    main()
