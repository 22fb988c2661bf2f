"""The speed of a teacher with Marian and with CTranslate2, and the share of equal translations.

    python -m benchmarks.decoding [--model FOLDER] [--text FILE] [--lines 2000] [--beam 4] [--runs 3]

By default the demo's teacher and monolingual text (`make demo`). The runs alternate; each is that of the
whole script, model loading included. Threads and GPUs: TRANSLATIONS_THREADS, TRANSLATIONS_GPUS.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from benchmarks.demo import download
from benchmarks.timing import seconds
from pipeline.common.lines import read_lines, write_lines
from translations_assets.common.settings import repository_root

CONFIG = "pipeline/translate/configs/teacher.yml"
CUDA = "requirements/cuda.lock"


def main(argv: Sequence[str] | None = None) -> None:
    """Print words a second of both, minimum, median and maximum."""
    parser = argparse.ArgumentParser(description="How fast a teacher translates with Marian and CTranslate2.")
    parser.add_argument("--model", type=Path, help="folder of the teacher; the demo's by default")
    parser.add_argument("--text", type=Path, help="text to translate; the demo's by default")
    parser.add_argument("--lines", type=int, default=2000, help="lines of it")
    parser.add_argument("--beam", type=int, default=4, help="size of the beam")
    parser.add_argument("--runs", type=int, default=3, help="runs of each")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="decoding-") as name:
        folder = Path(name)
        model = args.model or download("train-teacher-en-eo-1", folder)
        text = args.text or download("merge-mono-src-en", folder) / "mono.en.zst"
        lines = list(islice(read_lines(text), args.lines))
        write_lines(folder / "text.zst", lines)
        _run(f"convert --model {model} --output {folder}/converted")
        _compare(folder, model, sum(len(line.split()) for line in lines), args.beam, args.runs)


def _compare(folder: Path, model: Path, words: int, beam: int, runs: int) -> None:
    options = f"--text {folder}/text.zst --decoding-config {CONFIG}"
    commands = {
        "Marian": f"translate --models {model} {options}",
        "CTranslate2": f"with_ctranslate2 --model {folder}/converted --cuda-lock {CUDA} {options}",
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for run in range(runs):
        for name, command in commands.items():
            times[name].append(
                _run(f"{command} --output {folder}/{name}.{run}", "--marian-args", _args(beam))
            )
    for name, taken in times.items():
        slow, median, fast = (round(words / t) for t in (max(taken), statistics.median(taken), min(taken)))
        print(f"{name}: {slow:,} / {median:,} / {fast:,} words/s (min / median / max of {runs} runs)")
    marian, other = (list(read_lines(folder / f"{name}.0" / "translations.zst")) for name in commands)
    same = sum(one == two for one, two in zip(marian, other, strict=True))
    print(f"{same:,} of {len(marian):,} translations are the same, beam {beam}")


def _args(beam: int) -> str:
    return json.dumps({"beam-size": beam})


def _run(command: str, *more: str) -> float:
    script, *arguments = command.split()
    program = [sys.executable, "-m", f"pipeline.translate.{script}"]
    return seconds([*program, *arguments, *more], {}, repository_root())


if __name__ == "__main__":
    main()
