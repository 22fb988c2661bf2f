"""Trainings of a tiny model with Marian, in a folder of a test."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from pipeline.alignments.icu_tokens import tokenize
from pipeline.common.lines import write_lines
from tests.patience import PATIENCE
from tests.pipeline.train import tiny
from translations_assets.common.settings import repository_root

QUICK = {**tiny.TINY, "save-freq": 10, "valid-freq": 1000, "disp-freq": 5, "maxi-batch": 2}
SMALL_CURRICULUM = {
    "batch-size": 64,
    "stages": ["train"],
    "train": ["original 1.0", "until original inf"],
    "modifiers": [],
}


def write_curriculum(folder: Path, changes: Mapping[str, object]) -> Path:
    path = folder / "curriculum.yml"
    path.write_text(yaml.safe_dump({**SMALL_CURRICULUM, **changes}, sort_keys=False))
    return path


def arguments(folder: Path, marian_args: Mapping[str, object], options: Mapping[str, object]) -> list[object]:
    """To train in folder/out, by default with small batches of text."""
    given = dict(options)
    if "curriculum" not in given:
        given["curriculum"] = write_curriculum(folder, {})
    return tiny.corpus().arguments(folder / "out", marian_args, given)


def train(
    folder: Path,
    marian_args: Mapping[str, object],
    options: Mapping[str, object] | None = None,
    env: Mapping[str, object] | None = None,
) -> "subprocess.CompletedProcess[str]":
    """Train in folder/out to the end."""
    return tiny.run_script("pipeline.train.train", *arguments(folder, marian_args, options or {}), env=env)


def metrics(folder: Path) -> Any:
    return json.loads((folder / "out/metrics.json").read_text())


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@contextmanager
def running(
    folder: Path,
    options: Mapping[str, object],
    env: Mapping[str, object] | None = None,
    marian_args: Mapping[str, object] = QUICK,
) -> Iterator["subprocess.Popen[str]"]:
    """A training in folder/out with checkpoints in folder/sets; killed at the end."""
    given = map(str, arguments(folder, {**marian_args, "after": "100000u"}, options))
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "pipeline.train.train", *given],
            env=tiny.environment({"TRANSLATIONS_CHECKPOINTS": folder / "sets", **(env or {})}),
            stderr=log,
            text=True,
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def keeping_all_sets(folder: Path) -> dict[str, object]:
    """The environment of a training that keeps more than its newest two sets."""
    return patched(folder, "from pipeline.train import checkpoints\ncheckpoints.KEPT = 1000\n")


def patched(folder: Path, code: str) -> dict[str, object]:
    """The environment of a training before which some code is run."""
    patch = folder / "patch"
    patch.mkdir(exist_ok=True)
    (patch / "sitecustomize.py").write_text(code)
    return {"PYTHONPATH": f"{patch}:{repository_root()}"}


def wait_for_sets(folder: Path, number: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while len(list(folder.glob("sets/0*"))) < number:
        assert time.monotonic() < deadline, (folder / "log").read_text()
        time.sleep(0.1)


def newest_update(folder: Path) -> int:
    return int(max(path.name for path in folder.glob("sets/0*")).split("-")[-1])


def student_options(folder: Path, link_pieces: bool = True) -> dict[str, object]:
    """Pairs for a student, or without links of pieces for a teacher; one of their text is far too long."""
    source, target, links = tokenised(folder)
    options = ["--alignments", str(links), *["--link-pieces"] * link_pieces]
    made = tiny.training_pairs(folder / "pairs", tiny.corpus().vocabs, source, target, *options, length=200)
    return {"original": made, "bicameral": True, "phonemic": True}


def tokenised(folder: Path) -> list[Path]:
    """Tokenised text with alignments, one pair of it far too long."""
    sides: list[list[str]] = [[], [], []]
    for source, target in [*tiny.pairs(200, seed=1), ("the cat " * 400, "LA TAC " * 400)]:
        tokens = tokenize(source.strip(), "en"), tokenize(target.strip(), "eo")
        words = [[i for i, token in enumerate(side) if token != "▁"] for side in tokens]
        links = " ".join(f"{i}-{j}" for i, j in zip(*words, strict=False))
        for side, line in zip(sides, (" ".join(tokens[0]), " ".join(tokens[1]), links), strict=True):
            side.append(line)
    files = [folder / f"tokenised.{number}.zst" for number in range(3)]
    for file, lines in zip(files, sides, strict=True):
        write_lines(file, lines)
    return files
