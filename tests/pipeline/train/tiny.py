"""A language pair that a tiny model learns in seconds, and models of it, trained once a session."""

import json
import os
import random
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess

from pipeline.common.lines import read_lines, write_lines
from pipeline.common.script import EX_TEMPFAIL
from pipeline.train.training_pairs import main as make_pairs
from pipeline.train.vocab import learn
from tests import forked
from tests.session import once

CONFIGS = Path("pipeline/train/configs").absolute()
NOUNS = ("cat", "dog", "house", "tree", "bird", "fish", "man", "boy", "girl", "book")
VERBS = ("sees", "eats", "loves", "takes", "finds", "wants")
ADJECTIVES = ("big", "small", "red", "old", "new", "good")
VOCAB_SIZE = 320

TINY = {
    "task": "transformer-base",
    "dim-emb": 32,
    "transformer-dim-ffn": 64,
    "transformer-heads": 2,
    "enc-depth": 1,
    "dec-depth": 1,
    "transformer-dropout": 0,
    "label-smoothing": 0,
    "mini-batch": 32,
    "maxi-batch": 5,
    "learn-rate": 0.004,
    "lr-warmup": 10,
    "valid-freq": 100,
    "save-freq": 100,
    "disp-freq": 25,
    "valid-mini-batch": 32,
    "beam-size": 2,
}


def sentence(rng: random.Random) -> str:
    """An English-like sentence of seven words."""
    words = [rng.choice(ADJECTIVES), rng.choice(NOUNS), rng.choice(VERBS), rng.choice(ADJECTIVES)]
    return f"the {words[0]} {words[1]} {words[2]} the {words[3]} {rng.choice(NOUNS)}."


def translation(text: str) -> str:
    """Its translation: every word spelt backwards in capitals, "the" as LA."""
    return " ".join("LA" if word == "the" else word[::-1].upper() for word in text[:-1].split()) + "."


def pairs(number: int, seed: int) -> list[tuple[str, str]]:
    """So many pairs; another seed gives others, with few in common."""
    rng = random.Random(seed)
    return [(text, translation(text)) for text in (sentence(rng) for _ in range(number))]


def write_pairs(folder: Path, name: str, lines: Sequence[tuple[str, str]]) -> tuple[Path, Path]:
    """Write {name}.en.zst and {name}.xx.zst."""
    files = folder / f"{name}.en.zst", folder / f"{name}.xx.zst"
    for side, file in enumerate(files):
        write_lines(file, (pair[side] for pair in lines))
    return files


def write_vocabs(folder: Path) -> tuple[Path, Path]:
    """Two different vocabularies of equal size."""
    lines = pairs(600, seed=1)
    files = folder / "vocab.en.spm", folder / "vocab.xx.spm"
    for side, file in enumerate(files):
        file.write_bytes(learn([pair[side] for pair in lines], VOCAB_SIZE, "nfd"))
    return files


def run_script(
    module: str, *args: object, env: Mapping[str, object] | None = None, stdin: str | None = None
) -> CompletedProcess[str]:
    """Run a script as the engine would, with two threads and three attempts when Marian itself crashes.

    Now and then it does at its end, for having freed something twice; on a busy machine twice in a row.
    """
    for _ in range(3):
        done = forked.run_script(module, args, environment(env), stdin)
        if done.returncode != EX_TEMPFAIL or not re.search(r"marian \w+ failed \(status -\d+\)", done.stderr):
            break
    return done


def environment(extra: Mapping[str, object] | None = None) -> dict[str, str]:
    """The environment of a script."""
    granted = {"TRANSLATIONS_THREADS": 2, "TRANSLATIONS_WORKSPACE": 256, **(extra or {})}
    return {**os.environ, **{name: str(value) for name, value in granted.items()}}


class Corpus:
    """Files to train the pair en → xx on, made once a session."""

    def __init__(self) -> None:
        folder = once("corpus", _write_corpus)
        self.vocabs = folder / "vocab.en.spm", folder / "vocab.xx.spm"
        self.train = folder / "train.en.zst", folder / "train.xx.zst"
        self.dev = folder / "dev.en.zst", folder / "dev.xx.zst"
        self.pairs = folder / "pairs"

    def arguments(
        self, output: Path, marian_args: Mapping[str, object], options: Mapping[str, object] | None = None
    ) -> list[object]:
        """The arguments of pipeline.train.train; `options` replace or add to the usual ones."""
        values: dict[str, object] = {
            "src": "en",
            "trg": "xx",
            "source-vocab": self.vocabs[0],
            "target-vocab": self.vocabs[1],
            "original": self.pairs,
            "dev-src": self.dev[0],
            "dev-trg": self.dev[1],
            "model-config": CONFIGS / "model/teacher.yml",
            "training-config": CONFIGS / "training/teacher.train.yml",
            "curriculum": CONFIGS / "curriculum/backward.yml",
            "marian-args": json.dumps(marian_args),
            "seed": 1,
            "best-model": "chrf",
            "output": output,
            **(options or {}),
        }
        flags = [f"--{name}" for name, value in values.items() if value is True]
        given = [(f"--{name}", value) for name, value in values.items() if value is not True]
        return [*flags, *(part for pair in given for part in pair)]


def _write_corpus(folder: Path) -> None:
    write_vocabs(folder)
    train = write_pairs(folder, "train", pairs(600, seed=1))
    training_pairs(folder / "pairs", (folder / "vocab.en.spm", folder / "vocab.xx.spm"), *train)
    write_pairs(folder, "dev", pairs(30, seed=2))


def training_pairs(
    output: Path, vocabs: Sequence[Path], source: Path, target: Path, *more: str, length: int = 100
) -> Path:
    """Make the pairs that trainings read; `more` are options of the script."""
    sides = ["--corpus-src", str(source), "--corpus-trg", str(target)]
    vocabularies = ["--source-vocab", str(vocabs[0]), "--target-vocab", str(vocabs[1])]
    make_pairs([*sides, *vocabularies, "--max-length", str(length), *more, "--output", str(output)])
    return output


@cache
def corpus() -> Corpus:
    """The files, made once a session."""
    return Corpus()


@cache
def model() -> Path:
    """A model's folder that translates en → xx well, with split vocabularies; trained once a session."""
    return once("model", _train) / "model"


def _train(folder: Path) -> None:
    endless = CONFIGS / "curriculum/backward.yml"
    curriculum = folder / "curriculum.yml"
    curriculum.write_text(endless.read_text().replace("until original 10", "until original inf"))
    arguments = corpus().arguments(folder / "model", {**TINY, "after": "400u"}, {"curriculum": curriculum})
    done = run_script("pipeline.train.train", *arguments)
    assert done.returncode == 0, done.stderr


def lines_of(path: Path) -> list[str]:
    """A text file's lines."""
    return list(read_lines(path))
