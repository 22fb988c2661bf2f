"""Stands in for Marian in runs at 1/N: reads and writes what Marian does, at any speed, and learns nothing.

    TRANSLATIONS_MARIAN="python -m benchmarks.scale.marian --words-per-second 1000000" translations train …

The command line, files, log and exit codes are Marian's. It translates by the dictionary of the generated
text. A training's weights are those that Marian itself has after one update, so that they are quantised,
exported and loaded by engines as real ones; what Marian does besides (its options in full, conversions) it
does itself. It holds as much memory for the lines that a training reads ahead as Marian does, and with
`--weights-mb` its saves are as large as those of a model with such weights.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

import numpy as np
import yaml

from benchmarks.scale.text import translated
from pipeline.train.checkpoints import CONTINUED

MARIAN = str(Path(sys.executable).with_name("pymarian"))
FIRST_LINES = 64  # that Marian itself reads
SAVED = ("model.npz.yml", "model.npz", "model.npz.progress.yml", "model.npz.optimizer.npz")  # in this order
INTERRUPTED = 143
READ_AHEAD = 1_200, 2_400  # bytes a line, without and with links: `python -m benchmarks.read_ahead`


@dataclass
class Pace:
    """Waits so that so many words a second go by; none for as fast as it goes."""

    words_per_second: float
    words: int = 0
    began: float = field(default_factory=time.monotonic)

    def read(self, words: int) -> None:
        """Wait for the words that were read."""
        self.words += words
        if self.words_per_second:
            ahead = self.words / self.words_per_second - (time.monotonic() - self.began)
            if ahead > 0.05:
                time.sleep(ahead)


def main() -> None:
    """Do one of Marian's commands."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--words-per-second", type=float, default=0, help="that it reads; 0 without a limit")
    parser.add_argument(
        "--weights-mb",
        type=float,
        default=0,
        help="of a model that saves as much; 0 for its own",
    )
    parser.add_argument("command", help="as Marian's")
    options, rest = parser.parse_known_args()
    works: dict[str, Callable[[dict[str, Any], Pace], None]] = {
        "train": partial(train, options.weights_mb),
        "decode": decode,
        "score": score,
    }
    if options.command not in works or "--dump-config" in rest:
        os.execv(MARIAN, [MARIAN, options.command, *rest])
    config = yaml.safe_load(Path(rest[rest.index("--config") + 1]).read_text(encoding="utf-8"))
    works[options.command](config, Pace(options.words_per_second))


def decode(config: dict[str, Any], pace: Pace) -> None:
    """Translate a file to another, or what comes on standard input line by line."""
    beam = int(config["beam-size"]) if config.get("n-best") else 0
    if "input" not in config:
        for line in sys.stdin:
            print(translated(line), flush=True)
        return
    with Path(config["input"][0]).open() as text, Path(config["output"]).open("w") as output:
        for number, line in enumerate(text):
            best = translated(line)
            pace.read(len(line.split()))
            if not beam:
                output.write(f"{best}\n")
            for rank, candidate in enumerate(_candidates(best, beam), start=1):
                output.write(f"{number} ||| {candidate} ||| F0= -{rank}.5 ||| -{rank / 10}\n")


def _candidates(best: str, beam: int) -> Iterator[str]:
    """The best translation, and others that lack one of its words."""
    words = best.split()
    for rank in range(beam):
        yield " ".join(words[:rank] + words[rank + 1 :]) if 0 < rank < len(words) else best


def score(config: dict[str, Any], pace: Pace) -> None:
    """A number for each pair: the nearer to zero, the more alike their lengths are."""
    source, target = (Path(side) for side in config["train-sets"])
    with source.open() as left, target.open() as right, Path(config["output"]).open("w") as output:
        for one, other in zip(left, right, strict=True):
            pace.read(len(one.split()))
            output.write(f"-{0.1 + abs(len(one) - len(other)) / (len(one) + len(other)):.6f}\n")


def train(weights_mb: float, config: dict[str, Any], pace: Pace) -> None:
    """Read what is fed to the end, or as many updates as asked for; save and validate as often as asked."""
    lines = sys.stdin.buffer
    first = list(islice(lines, FIRST_LINES))
    training = Training(config, Path(config["model"]).parent)
    if not (training.folder / SAVED[-1]).exists():
        make_weights(config, training.folder, first)
        enlarge(training.folder / SAVED[-1], round(3 * weights_mb * 1e6))
        (training.folder / CONTINUED).write_text("the optimizer is that of one update\n")
    signal.signal(signal.SIGTERM, training.interrupt)
    training.read(chain(first, lines), pace)


class Training:
    """A training's count of updates, sentences and words, and what it leaves."""

    def __init__(self, config: dict[str, Any], folder: Path) -> None:
        self.folder, self._config = folder, config
        self._after = _updates(config.get("after")) or _updates(config.get("after-batches"))
        self._batch = int(config.get("mini-batch-words") or 0) or 20 * int(config["mini-batch"])
        self._sentences = 0
        self._line = b"-" * READ_AHEAD[config.get("guided-alignment", "none") != "none"]
        self._most_ahead = int(config["mini-batch"]) * int(config.get("maxi-batch", 100)) * len(self._line)
        self._ahead = bytearray()  # the memory of lines that Marian reads before it learns from them
        saved = self._progress() if (folder / SAVED[2]).exists() else {}
        self._update = int(saved.get("batches", 0))

    def read(self, lines: Iterator[bytes], pace: Pace) -> None:
        """Count batches of words until the text or the training ends."""
        words = 0
        for line in lines:
            read = line.count(b" ", 0, line.find(b"\t")) + 1
            words += read
            self._sentences += 1
            if len(self._ahead) < self._most_ahead:
                self._ahead += self._line
            if words >= self._batch:
                pace.read(words)
                self._finish_update(words)
                words = 0
                if self._after and self._update >= self._after:
                    break
        self._update += bool(words)
        self._save()
        self._validate()

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """At SIGTERM: save and end."""
        _say("Training interrupted (via signal)")
        self._save()
        os._exit(INTERRUPTED)

    def _finish_update(self, words: int) -> None:
        self._update += 1
        due = {
            name: self._update % _updates(self._config[name]) == 0
            for name in ("disp-freq", "save-freq", "valid-freq")
        }
        if due["disp-freq"]:
            _say(
                f"Ep. 1 : Up. {self._update} : Sen. {self._sentences:,} : Cost 1.00000 * {words:,} "
                f"@ {words:,} after {words:,} : Time 1s : {words:.2f} words/s : gNorm 1.0 : L.r. 3.0000e-04"
            )
        if due["save-freq"]:
            self._save()
        if due["valid-freq"]:
            self._validate()

    def _progress(self) -> dict[str, Any]:
        found: dict[str, Any] = yaml.safe_load((self.folder / SAVED[2]).read_text())
        return found

    def _save(self) -> None:
        progress = self._progress() | {"batches": self._update, "samples": self._sentences, "epochs": 1}
        for name in SAVED:
            path = self.folder / name
            if name.endswith(".yml"):
                text = path.read_bytes() if name != SAVED[2] else yaml.safe_dump(progress).encode()
                path.write_bytes(text)
            else:
                shutil.copyfile(path, self.folder / "new$$")
                (self.folder / "new$$").rename(path)
            time.sleep(0.01)  # files of one save have different times

    def _validate(self) -> None:
        for metric in self._config["valid-metrics"]:
            best = self.folder / f"model.npz.best-{metric}.npz"
            if not best.exists():
                shutil.copy2(self.folder / "model.npz", best)
            _say(f"[valid] Ep. 1 : Up. {self._update} : {metric} : {50 + self._update / 1e6:.4f} : new best")


def make_weights(config: dict[str, Any], folder: Path, lines: list[bytes]) -> None:
    """Have Marian make the files of a save, by one update."""
    with TemporaryDirectory(dir=folder.parent) as name:
        scratch = Path(name)
        small = {
            key: value for key, value in config.items() if not key.startswith(("valid-", "early-", "after"))
        }
        small |= {"model": str(scratch / "model.npz"), "after-batches": 1, "mini-batch": 8, "workspace": 256}
        small |= {
            "mini-batch-words": 0,
            "optimizer-delay": 1,
            "maxi-batch": 1,
            "disp-freq": "1u",
            "save-freq": "1u",
        }
        (scratch / "train.yml").write_text(yaml.safe_dump(small))
        command = [MARIAN, "train", "--config", str(scratch / "train.yml")]
        done = subprocess.run(command, input=b"".join(lines), capture_output=True, check=False)
        if done.returncode:
            sys.stderr.buffer.write(done.stderr)
            sys.exit(done.returncode)
        for file in SAVED:
            shutil.move(scratch / file, folder / file)


def enlarge(optimizer: Path, size: int) -> None:
    """Put so many bytes more into Adam's file, for all of a save: the model stays small, to be exported."""
    if size:
        with np.load(optimizer) as arrays:
            kept = {name: arrays[name] for name in arrays.files}
        np.savez(optimizer, **kept, more=np.zeros(size, np.uint8))


def _updates(said: object) -> int:
    """Updates in an option such as `500u`; 0 for none, or epochs."""
    text = str(said or 0)
    return 0 if text.endswith(("e", "t")) else int(text.removesuffix("u"))


def _say(text: str) -> None:
    print(f"[{time.strftime('%Y-%m-%d %H:%M:%S')}] {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
