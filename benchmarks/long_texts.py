"""Ten thousand words at once: Firefox's native engine by itself, as evaluation asks it, and the playground.

    python -m benchmarks.long_texts [--exported FOLDER --quantized FOLDER]

Texts are made of the demo's first test set: one line without an end of a sentence, one line of sentences, the
same with a number before each, where UAX #29 parts none, and Chinese characters without spaces, which the
demo's vocabulary writes in three bytes each. For each: seconds of processors, without those to load, and
what came out; of the sentences how many of their translations are in it, each in its place. What takes more
than twenty seconds is ended.

Then for each test set, and its lines in paragraphs of five: how many of them evaluation translates as the
engine does by itself; and how many translations of lines are the beginning of what Marian makes (of 8 bits, a
line at a time). By default the demo's student (`make demo`); folders hold what `translations artifacts
--download` copies of `export-*` and `quantize-*` of another English-Esperanto one. The playground needs
Chromium and the engine of browsers (`make ci-environments`).
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from fxtranslate import Translator

from benchmarks.demo import TESTS, download
from benchmarks.engines import marian
from pipeline.common.engine import Engine, find_file, load_engine
from pipeline.common.lines import read_lines
from tests.browsers import chromium, missing, pasted, playground, processors

WORDS = 10_000
SECONDS = 20  # of a processor
SENTENCES = 5  # of a paragraph
CHINESE = "大狗看见小猫" * 600
_CHILD = "from benchmarks.long_texts import answer; answer()"

Translate: TypeAlias = Callable[[str], str]


@dataclass(frozen=True)
class Text:
    """A long text, and, where they are known, its sentences."""

    name: str
    text: str
    sentences: Sequence[str] = ()


def by_itself(exported: Path) -> Translator:
    """The engine without what pipeline.common.engine does before it."""
    files = [*exported.iterdir()]
    names = ("model.", ".intgemm.alphas.bin"), ("vocab.", ".spm"), ("vocab.", ".spm"), ("lex.", ".bin")
    return Translator(*(find_file(files, *name).read_bytes() for name in names))


def evaluation(exported: Path) -> Engine:
    """The engine as evaluation asks it."""
    return load_engine([*exported.iterdir()])


WAYS: dict[str, Callable[[Path], Translate]] = {
    "fxtranslate, translate": lambda exported: by_itself(exported).translate,
    "fxtranslate, translate_long": lambda exported: by_itself(exported).translate_long,
    "evaluation, a line": lambda exported: evaluation(exported).translate,
    "evaluation, a paragraph": lambda exported: evaluation(exported).translate_text,
}


def main(argv: Sequence[str] | None = None) -> None:
    """Print a line for each text and way, then those for test sets."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--exported", type=Path, help="an exported student")
    parser.add_argument("--quantized", type=Path, help="the same as Marian decodes it")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="long-texts-") as name:
        folder = Path(name)
        exported = args.exported or download("export-en-eo", folder)
        quantized = args.quantized or download("quantize-en-eo", folder)
        tests = {test: _lines(download(f"dataset-{test}-en-eo", folder)) for test in TESTS}
        made = texts(tests[TESTS[0]])
        for text in made:
            for way in WAYS:
                _report(f"{text.name} | {way}", _ended(way, exported, text), text, exported)
        _print_playground(made, exported)
        for test, lines in tests.items():
            _compare(test, lines, exported)
            _print_ends(test, lines, exported, marian(folder, quantized, batch=1).run(lines).translations)


def texts(lines: Sequence[str]) -> Sequence[Text]:
    """Texts of `WORDS` words, the last one of as many bytes."""
    sentences: list[str] = []
    while sum(len(line.split()) for line in sentences) < WORDS:
        sentences += [line for line in lines if not line[0].isdigit()]
    while sum(len(line.split()) for line in sentences) > WORDS:
        sentences.pop()
    bare = [line.rstrip(".!?").lower() for line in sentences]
    return [
        Text("no end of a sentence", " ".join(bare)),
        Text("sentences", " ".join(sentences), sentences),
        Text("a number before each", " ".join(f"{number} {line}" for number, line in enumerate(sentences))),
        Text("Chinese characters", CHINESE),
    ]


def answer() -> None:
    """In a process of its own: print the seconds and the translation of what stdin asks for."""
    way, exported, text = json.load(sys.stdin)
    translate = WAYS[way](Path(exported))
    began = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(began) + SECONDS,) * 2)
    translation = translate(text)
    print(json.dumps([time.process_time() - began, translation]))


def _ended(way: str, exported: Path, text: Text) -> tuple[float, str] | None:
    """Seconds and translation; None when it took more than `SECONDS`: the process is ended then."""
    done = subprocess.run(
        [sys.executable, "-c", _CHILD],
        input=json.dumps([way, str(exported), text.text]),
        stdout=subprocess.PIPE,
        text=True,
    )
    if done.returncode < 0:  # by the kernel
        return None
    done.check_returncode()
    seconds, translation = json.loads(done.stdout)
    return seconds, translation


def _report(label: str, answer: tuple[float, str] | None, text: Text, exported: Path) -> None:
    if answer is None:
        print(f"{label}: more than {SECONDS} s", flush=True)
        return
    seconds, translation = answer
    shown = f"{len(translation.split()):,} words, {len(translation):,} characters"
    if text.sentences:
        translate = evaluation(exported).translate
        known = {sentence: translate(sentence) for sentence in {*text.sentences}}
        found = in_order([known[sentence] for sentence in text.sentences], translation)
        shown += f"; {found:,} of {len(text.sentences):,} sentences"
    print(f"{label}: {seconds:.2f} s, {shown}", flush=True)


def in_order(parts: Sequence[str], text: str) -> int:
    """Count the parts that stand in a text, each behind the one before.

    >>> in_order(["a b", "c", "d"], "a b d")
    2
    """
    place = found = 0
    for part in parts:
        at = text.find(part, place)
        if at >= 0:
            found, place = found + 1, at + len(part)
    return found


def _print_playground(made: Sequence[Text], exported: Path) -> None:
    if reason := missing("chromium"):
        print(f"playground: {reason}")
        return
    with playground(exported) as served, chromium() as page:
        page.goto(served.url)
        pasted(page, ".")
        for text in made:
            began, clock = processors(), time.perf_counter()
            translation = pasted(page, text.text)
            seconds, wall = processors() - began, time.perf_counter() - clock
            print(f"{text.name} | playground: {wall:.2f} s by the clock")
            _report(f"{text.name} | playground", (seconds, translation), text, exported)


def _compare(test: str, lines: Sequence[str], exported: Path) -> None:
    engine, alone = evaluation(exported), by_itself(exported)
    same = sum(engine.translate(line) == alone.translate(line) for line in lines)
    paragraphs = [" ".join(lines[at : at + SENTENCES]) for at in range(0, len(lines), SENTENCES)]
    joined = sum(engine.translate_text(text) == alone.translate_long(text) for text in paragraphs)
    print(f"{test}: as by itself {same} of {len(lines)} lines, {joined} of {len(paragraphs)} paragraphs")


def _print_ends(test: str, lines: Sequence[str], exported: Path, expected: Sequence[str]) -> None:
    pairs = [*zip(map(evaluation(exported).translate, lines), expected, strict=True)]
    sooner = sum(other != found and other.startswith(found) for found, other in pairs)
    later = sum(other != found and found.startswith(other) for found, other in pairs)
    print(f"{test}: {sooner} translations are the beginning of Marian's, {later} begin with Marian's")


def _lines(dataset: Path) -> list[str]:
    return [*read_lines(dataset / "corpus.en.zst")]


if __name__ == "__main__":
    main()
