"""The needs of upper case in a vocabulary: pieces a word, and a student's translations of it.

    python -m benchmarks.upper_case [--sizes 600 800 1600] [--split 688] [--updates 1000] [--langs en eo]
        [--corpus corpus.en.gz corpus.fr.gz --dev dev.en.gz dev.fr.gz] [--text-as-it-comes]

For each size, of a joint vocabulary or of one a side, it learns one as the pipeline does, with 7 % of the
lines in upper and 5 % in title case (none with --text-as-it-comes), and prints the numbers of the gate
`vocabulary-case` on the dev set, and whether it fires. Of the demo's text, which is the default, it also
trains a student, half as large as the demo's, on the genuine text and without guided alignment, and prints
its chrF on 300 sentences as they are and in upper case; --updates 0 trains none.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from pipeline.checks.vocabulary import main as check
from pipeline.common.case import upper
from pipeline.common.lines import read_lines, write_lines
from pipeline.data.parallel_demo import main as demo_text
from pipeline.eval.evaluate import main as evaluate
from pipeline.train.training_pairs import main as training_pairs
from pipeline.train.vocab import main as train_vocab
from translations_assets.checks.vocabularies import vocabulary_case
from translations_assets.config.gates import VocabularyCase
from translations_assets.config.languages import language
from translations_assets.stages.languages import letters

CURRICULUM = """
batch-size: 16384
stages: [train]
train: [original 1.0, until original inf]
modifiers: [{UpperCase: 0.07, when: bicameral}, {TitleCase: 0.05, when: bicameral}]
"""
CONFIGS = Path("pipeline/train/configs")
DEMO = Path("configs/en-eo.demo.yml")
SENTENCES = 300
SHAPE = {
    "dim-emb": 96,
    "transformer-dim-ffn": 256,
    "enc-depth": 1,
    "dec-depth": 1,
}  # a third of the demo's work

Files = Sequence[Path]


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures; see the module's text."""
    args = parse_arguments(argv)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "curriculum.yml").write_text(CURRICULUM)
        corpus, dev = args.corpus, args.dev
        if not corpus:
            corpus, dev = (_demo(folder, part, args.langs) for part in ("train", "dev"))
        print("| vocabulary | pieces a word: as it is, upper, title case | gate | chrF: as it is, upper |")
        for size, split in [*((size, False) for size in args.sizes), *((size, True) for size in args.split)]:
            made = folder / f"{size}{split}"
            _learn(args, folder, corpus, made, size, split)
            found = _numbers(args.langs, made, dev)
            verdict = vocabulary_case({"check_train_vocab": {"check": found}}, VocabularyCase())
            words = "; ".join(
                f"{side['lang']} " + ", ".join(f"{pieces:.2f}" for pieces in side["pieces_per_word"].values())
                for side in found["sides"]
            )
            scores = "" if args.corpus or not args.updates else _trained(args, folder, corpus, dev, made)
            state = "passes" if verdict.passed else "fires"
            print(
                f"| {size:,}{' a side' if split else ', joint'} | {words} | {state} | {scores} |", flush=True
            )


def _demo(folder: Path, part: str, langs: Sequence[str]) -> Files:
    src, trg = langs
    out = folder / part
    options = ["--src", src, "--trg", trg, "--src-code", src, "--trg-code", trg]
    demo_text(["--dataset", part, *options, "--output", str(out)])
    return [out / f"corpus.{lang}.zst" for lang in langs]


def _learn(
    args: argparse.Namespace, folder: Path, corpus: Files, output: Path, size: int, split: bool
) -> None:
    options = ["--norm-rule", "nmt_nfkc", "--seed", "1", "--output", str(output)]
    options += ["--bicameral"] * (not args.text_as_it_comes)
    options += ["--curriculum", str(folder / "curriculum.yml"), "--vocab-size", str(size)]
    options += ["--sample-size", str(args.sample_size), *["--split"] * split]
    for side, lang, text in zip(("src", "trg"), args.langs, corpus, strict=True):
        options += [f"--{side}", lang, f"--corpus-{side}", str(text)]
        options += [f"--{side}-letters={letters(language(lang))}"]
    train_vocab(options)


def _numbers(langs: Sequence[str], made: Path, dev: Files) -> dict[str, Any]:
    options = ["--langs", *langs, "--vocabs", *(str(made / f"vocab.{lang}.spm") for lang in langs)]
    options += [
        "--held-out-first",
        str(dev[0]),
        "--held-out-second",
        str(dev[1]),
        "--cases",
        "upper",
        "title",
    ]
    locales = [language(lang).icu if language(lang).bicameral else "" for lang in langs]
    options += ["--locale-first", locales[0], "--locale-second", locales[1]]
    check([*options, "--seed", "1", "--output", str(made / "check")])
    numbers: dict[str, Any] = json.loads((made / "check/numbers.json").read_text())
    return numbers


def _trained(args: argparse.Namespace, folder: Path, corpus: Files, dev: Files, made: Path) -> str:
    """chrF of a student on its dev set as it is and in upper case."""
    vocabs = [made / f"vocab.{lang}.spm" for lang in args.langs]
    given = ["--source-vocab", str(vocabs[0]), "--target-vocab", str(vocabs[1])]
    sides = ["--corpus-src", str(corpus[0]), "--corpus-trg", str(corpus[1])]
    training_pairs([*sides, *given, "--max-length", "200", "--output", str(made / "pairs")])
    marian_args = yaml.safe_load(DEMO.read_text())["marian-args"]["training-student"]
    marian_args |= {
        **SHAPE,
        "guided-alignment": "none",
        "after": f"{args.updates}u",
        "valid-freq": args.updates,
    }
    marian_args["save-freq"] = args.updates
    options = ["--src", args.langs[0], "--trg", args.langs[1], *given, "--original", str(made / "pairs")]
    options += ["--dev-src", str(dev[0]), "--dev-trg", str(dev[1]), "--bicameral", "--seed", "1"]
    options += ["--model-config", str(CONFIGS / "model/student.tiny.yml")]
    options += ["--training-config", str(CONFIGS / "training/student.train.yml")]
    options += ["--curriculum", str(folder / "curriculum.yml"), "--marian-args", json.dumps(marian_args)]
    options += ["--best-model", "chrf", "--output", str(made / "model")]
    threads = {"TRANSLATIONS_THREADS": str(args.threads)}
    command = [sys.executable, "-m", "pipeline.train.train", *options]
    subprocess.run(command, check=True, env={**os.environ, **threads}, stderr=subprocess.DEVNULL)
    return ", ".join(
        f"{_chrf(args.langs, made, [_lines(file, name, made) for file in dev], name):.1f}"
        for name in ("as-it-is", "upper")
    )


def _lines(file: Path, name: str, folder: Path) -> Path:
    out = folder / f"{name}.{file.name}"
    lines = islice(read_lines(file), SENTENCES)
    write_lines(out, (upper(line, file.name.split(".")[1]) if name == "upper" else line for line in lines))
    return out


def _chrf(langs: Sequence[str], made: Path, test: Files, name: str) -> float:
    options = ["--models", str(made / "model"), "--src", langs[0], "--trg", langs[1], "--dataset", name]
    options += ["--corpus-src", str(test[0]), "--corpus-trg", str(test[1]), "--output", str(made / name)]
    evaluate([*options, "--decoding-config", "pipeline/translate/configs/student.yml"])
    return float(json.loads((made / name / "metrics.json").read_text())["chrf"]["score"])


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--langs", nargs=2, default=["en", "eo"], help="the two languages")
    add("--corpus", nargs=2, type=Path, help="other text than the demo's")
    add("--dev", nargs=2, type=Path, help="the dev set with it")
    add("--sizes", nargs="*", type=int, default=[600, 800, 1600], help="of joint vocabularies")
    add("--split", nargs="*", type=int, default=[688], help="of vocabularies of one side")
    add("--text-as-it-comes", action="store_true", help="no lines in other case in what vocabularies read")
    add("--sample-size", type=int, default=300_000, help="sentences to learn from")
    add("--updates", type=int, default=1000, help="of the student; 0 for none")
    add("--threads", type=int, default=1, help="that train it")
    args = parser.parse_args(argv)
    if bool(args.corpus) != bool(args.dev):
        parser.error("--corpus goes with --dev")
    return args


if __name__ == "__main__":
    main()
