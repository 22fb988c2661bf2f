"""Upper and title case of real text, compared with ICU's own program, wherever case is changed.

    python -m benchmarks.case [--langs tr az el lt nl de] [--lines 5000] [--work /tmp/debian-text]

The text is that of benchmarks.debian_text. Each language is the source of one pair and the target of another;
line n of both makes a pair. It goes through the modifiers of a training (tokens with links), the sample of a
vocabulary, and a test set's variant. Expected is, line by line and side by side, what `toLocaleUpperCase` of
Node (PATH's, which has an ICU of its own) makes of it; in title case, of the first letter of each word, `ij`
being one in Dutch. Printed are the pairs of each place that differ, how many OpusTrainer's `str.upper` writes
otherwise, and the processor time that this project's and OpusTrainer's modifiers take for a pair of tokens.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from opustrainer.modifiers.surface import TitleCaseModifier, UpperCaseModifier

from benchmarks.debian_text import read_texts
from pipeline.alignments.icu_tokens import tokenize
from pipeline.common.lines import read_lines, write_lines
from pipeline.data.augment import main as augment
from pipeline.train import vocab
from pipeline.train.casing import MODIFIERS
from pipeline.train.curriculum import read_curriculum
from pipeline.train.modifying import Modifying

CURRICULUM = Path("pipeline/train/configs/curriculum/teacher.one-stage.yml")
NODE = """const {text, lang} = JSON.parse(require("fs").readFileSync(0))
process.stdout.write(JSON.stringify(text.map(line => line.toLocaleUpperCase(lang))))"""
CASES = {"UpperCase": "upper", "TitleCase": "title"}
OPUSTRAINERS = {"UpperCase": UpperCaseModifier, "TitleCase": TitleCaseModifier}
RUNS = 5

Lines: TypeAlias = Sequence[tuple[str, str]]
Langs: TypeAlias = tuple[str, str]


def main(argv: Sequence[str] | None = None) -> None:
    """Print a line for each case, pair of languages and place."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--langs", nargs="+", default=["tr", "az", "el", "lt", "nl", "de"])
    parser.add_argument("--lines", type=int, default=5_000, help="of each language")
    parser.add_argument("--work", type=Path, default=Path("/tmp/debian-text"), help="what is fetched")
    args = parser.parse_args(argv)
    texts = {
        lang: [clean(line) for lines in kinds.values() for line in lines][-args.lines :]
        for lang, kinds in read_texts(args.work, ["en", *args.langs], args.lines).items()
    }
    for langs in zip(args.langs, [*args.langs[1:], args.langs[0]], strict=True):
        lines = list(zip(*(texts[lang] for lang in langs), strict=False))
        for case, expect in (("UpperCase", in_upper_case), ("TitleCase", in_title_case)):
            compare(case, langs, lines, expect)


def clean(line: str) -> str:
    """A line with plain single spaces."""
    return " ".join(line.replace("▁", " ").split())


def compare(case: str, langs: Langs, lines: Lines, expect: Callable[[Sequence[str], str], list[str]]) -> None:
    """Print how many lines of each place are not as expected."""
    sides = [expect(side, lang) for side, lang in zip(zip(*lines, strict=True), langs, strict=True)]
    expected = Counter(zip(*sides, strict=True))
    by_python = Counter(tuple(python_case(case, text) for text in line) for line in lines)
    places = {"training": of_training, "vocabulary": of_vocabulary, "test set": of_test_set}
    found = {name: Counter(place(case, langs, lines)) for name, place in places.items()}
    wrong = ", ".join(f"{name} {(expected - made).total()}" for name, made in found.items())
    otherwise = (expected - by_python).total()
    print(f"{case} {'-'.join(langs)}: of {len(lines):,} pairs differ: {wrong}; by str.upper {otherwise:,}")
    ours, theirs = seconds(case, langs, tokens_of(langs, lines))
    print(f"    {1e6 * ours:.1f} µs a pair; OpusTrainer's {1e6 * theirs:.1f}", flush=True)
    for made in found.values():
        for line in sorted((expected - made).keys())[:3]:
            print(f"    expected {line}")
        for line in sorted((made - expected).keys())[:3]:
            print(f"    made     {line}")


def in_upper_case(lines: Sequence[str], lang: str) -> list[str]:
    """By Node."""
    command, given = ["node", "-e", NODE], json.dumps({"text": lines, "lang": lang})
    made = subprocess.run(command, input=given, check=True, capture_output=True, text=True).stdout
    return list(json.loads(made))


def in_title_case(lines: Sequence[str], lang: str) -> list[str]:
    """The first letter, digit or sign of each word by Node, all else as it is; accents stay in Greek."""
    words = [[split_word(word, lang) for word in line.split()] for line in lines]
    heads = sorted({head for line in words for _, head, _ in line})
    capitals = dict(zip(heads, in_upper_case(heads, "en" if lang == "el" else lang), strict=True))
    return [" ".join(f"{marks}{capitals[head]}{rest}" for marks, head, rest in line) for line in words]


def split_word(word: str, lang: str) -> tuple[str, str, str]:
    """Marks before the first letter, digit or sign; that; the rest."""
    for at, character in enumerate(word):
        category = unicodedata.category(character)
        if (category[0] in "LNS" and category != "Lm") or category == "Co":
            length = 2 if lang == "nl" and re.match("ij", word[at:], re.I) else 1
            return word[:at], word[at : at + length], word[at + length :]
    return word, "", ""


def python_case(case: str, text: str) -> str:
    """Change the case of plain text as OpusTrainer does."""
    if case == "UpperCase":
        return text.upper()
    return " ".join(word[0].upper() + word[1:] for word in text.split())


def of_training(case: str, langs: Langs, lines: Lines) -> list[tuple[str, ...]]:
    """Through the modifiers of a teacher's training, others but Tags left out."""
    names = dict(zip(("src", "trg"), langs, strict=True))
    read = read_curriculum(CURRICULUM, {"bicameral": True, "phonemic": False}, names, {case: 1.0})
    config = read.stage_config(0, {name: Path() for name in read.datasets}, aligned=True, seed=1)
    config["modifiers"] = [made for made in config["modifiers"] if case in made or "Tags" in made]
    config["modifiers"][-1]["Tags"] = 0.0
    rows = tokens_of(langs, lines)
    return [tuple(line.split("\t")[:2]) for line in Modifying(config).batch(rows, "1")]


def tokens_of(langs: Langs, lines: Lines) -> list[str]:
    """The pairs as tokens with a link."""
    sides = (
        [" ".join(tokenize(text, lang)) for text, lang in zip(line, langs, strict=True)] for line in lines
    )
    return ["\t".join((*side, "0-0")) for side in sides]


def seconds(case: str, langs: Langs, rows: Sequence[str]) -> tuple[float, float]:
    """Processor time a pair, the least of some runs: this project's modifier, and OpusTrainer's."""
    ways = [MODIFIERS[case](1.0, *langs, tokens=True), OPUSTRAINERS[case](1.0)]
    least = [float("inf")] * len(ways)
    for _ in range(RUNS):
        for number, way in enumerate(ways):
            begin = time.process_time()
            list(way(list(rows)))
            least[number] = min(least[number], (time.process_time() - begin) / len(rows))
    return least[0], least[1]


def of_vocabulary(case: str, langs: Langs, lines: Lines) -> list[tuple[str, ...]]:
    """The sample of a joint vocabulary."""
    with tempfile.TemporaryDirectory() as folder:
        shares = ", ".join(f'"{name}": {int(name == case)}' for name in CASES)
        given = [*_files(Path(folder), langs, lines), "--curriculum", str(CURRICULUM), "--bicameral"]
        given += ["--modifiers", f"{{{shares}}}", "--vocab-size", "1", "--sample-size", str(2 * len(lines))]
        args = vocab.parse_arguments([*given, "--norm-rule", "nfkc", "--seed", "1", "--output", "x"])
        (sampled,), _ = vocab.sample_texts(args, Path(folder, "sample.zst"))
        text = [*sampled]
    return list(zip(text[::2], text[1::2], strict=True))


def of_test_set(case: str, langs: Langs, lines: Lines) -> list[tuple[str, ...]]:
    """The variant of a test set."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "work", "out")
        given = [*_files(Path(folder), langs, lines), "--modifier", CASES[case]]
        augment([*given, "--output", str(output)])
        return list(zip(*(read_lines(output / f"corpus.{lang}.zst") for lang in langs), strict=True))


def _files(folder: Path, langs: Langs, lines: Lines) -> list[str]:
    options = []
    for name, lang, side in zip(("src", "trg"), langs, zip(*lines, strict=True), strict=True):
        write_lines(folder / name, side)
        options += [f"--{name}", lang, f"--corpus-{name}", str(folder / name)]
    return options


if __name__ == "__main__":
    main()
