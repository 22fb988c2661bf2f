"""Costs and gains of a shortlist in Firefox's native engine, beside Marian: chrF, changes, words a second.

    python -m benchmarks.shortlists [--quantized FOLDER] [--shortlist FOLDER] [--tests FOLDER …]
        [--src en] [--trg eo] [--otherwise [--corpus FOLDER]]

For several sizes (--best and --frequent of pipeline.quantize.quantize) and none, on each test set: chrF, and
how many sentences are as without one. Words a second are those of the first test set by the time of
processors, without that to load, the most of three rounds. Marian decodes the quantised model as it is.
With --otherwise shortlists are made of the corpus in other ways as well, in some minutes: of clean text, and
of links of pieces in the place of whole words.

By default the demo's student (`make demo`). Folders hold what `translations artifacts --download` copies: of
`quantize-*`, `shortlist-*`, `cefilter-*` (the corpus) and datasets.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias
from unittest.mock import patch

from fxtranslate import Translator
from sacrebleu import corpus_chrf

from benchmarks.alphas import TESTS, download
from benchmarks.timing import processor_seconds
from pipeline.alignments import shortlist as making
from pipeline.common.lines import read_lines, write_lines
from pipeline.common.marian import Model, decode, load_model
from pipeline.common.vocabulary import load_vocabulary
from pipeline.quantize.lexical_shortlist import always_allowed
from pipeline.quantize.quantize import BEST, BROWSER_WEIGHTS, FREQUENT, convert_shortlist
from translations_assets.config.languages import language
from translations_assets.settings import repository_root

SIZES = ((50, 50), (100, 50), (50, 200), (200, 200), (5, 50))  # best, frequent
CURRICULUM = repository_root() / "pipeline" / "train" / "configs" / "curriculum" / "student.yml"
ROUNDS = 3
REPEATS = 5  # of the test set, to tell the time to translate from the time to load

Translate: TypeAlias = Callable[[Sequence[str]], "list[str]"]


class Way(NamedTuple):
    """A way to make a shortlist with links of pieces: of modified text, or clean; how often that is read."""

    modified: bool
    times: int = 1


WAYS = {
    "clean text, links of pieces": Way(modified=False),
    "modified text, links of pieces": Way(modified=True),
    "the same, of four times the text": Way(modified=True, times=4),
}


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
    parser.add_argument("--otherwise", action="store_true", help="make shortlists in other ways, too")
    parser.add_argument("--corpus", type=Path, help="folder of the corpus that they are made of")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="shortlists-") as name:
        folder = Path(name)
        quantized = load_model(args.quantized or download("quantize-en-eo", folder))
        text = args.shortlist or download("shortlist-en-eo", folder)
        write_lines(folder / "lex.s2t", read_lines(text / "lex.s2t.zst"))
        tests = args.tests or [download(f"dataset-{test}-en-eo", folder) for test in TESTS]
        sets = [_test_set(test, (args.src, args.trg), quantized) for test in tests]
        _compare(quantized, sets, folder)
        if args.otherwise:
            corpus = args.corpus or download("cefilter-en-eo", folder)
            for name, way in WAYS.items():
                _make(quantized, corpus, (args.src, args.trg), way, folder)
                line = _scores(_engine(quantized, _converted(quantized, BEST, FREQUENT, folder)), sets)
                print(f"{name:38} | {line}", flush=True)


def _compare(model: Model, tests: Sequence[TestSet], folder: Path) -> None:
    print(f"{'Marian':18} | {_scores(_marian(model, folder), tests)}", flush=True)
    print(f"{'none':18} | {_scores(_engine(model), tests)}", flush=True)
    for best, frequent in SIZES:
        engine = _engine(model, _converted(model, best, frequent, folder))
        kilobytes = (folder / "lex.bin").stat().st_size / 1000
        print(f"{best:3} and {frequent:3}, {kilobytes:3.0f} kB | {_scores(engine, tests)}", flush=True)


def _converted(model: Model, best: int, frequent: int, folder: Path) -> Path:
    first = always_allowed(load_vocabulary(model.target_vocab), frequent)
    convert_shortlist(folder / "lex.s2t", model, first, best, folder / "lex.bin")
    return folder / "lex.bin"


def _make(model: Model, corpus: Path, pair: tuple[str, str], way: Way, folder: Path) -> None:
    """Write lex.s2t of a corpus in that way."""
    spoken, output = language(pair[0]), Path(tempfile.mkdtemp(dir=folder))
    sides = [output / f"corpus.{side}" for side in pair]
    for side in sides:
        write_lines(side, [*read_lines(corpus / f"{side.name}.zst")] * way.times)
    options = {
        "--source-vocab": model.source_vocab,
        "--target-vocab": model.target_vocab,
        "--corpus-src": sides[0],
        "--corpus-trg": sides[1],
        "--src": pair[0],
        "--trg": pair[1],
        "--curriculum": CURRICULUM,
        "--output": output / "made",
    }
    flags = ["--bicameral"] * spoken.bicameral + ["--phonemic"] * spoken.phonemic
    with ExitStack() as stack:
        stack.enter_context(patch.object(making, "LONGEST_WORD", 0))  # each piece by itself
        if not way.modified:
            stack.enter_context(patch.object(making, "read_modifiers", lambda _: []))
        making.main([*(str(part) for option in options.items() for part in option), *flags])
    write_lines(folder / "lex.s2t", read_lines(output / "made" / "lex.s2t.zst"))


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
    began = processor_seconds()
    translate(sentences)
    return processor_seconds() - began


def _test_set(folder: Path, pair: tuple[str, str], model: Model) -> TestSet:
    source, target = ([*read_lines(folder / f"corpus.{language}.zst")] for language in pair)
    return TestSet(source, target, _engine(model)(source))


if __name__ == "__main__":
    main()
