"""Trainings and decoding on this machine's GPUs: a check that they run, their speed, the GPUs' load.

    make gpu-check
    make gpu-check PRICE=2.50 CURRENCY=EUR
    python -m benchmarks.gpu_check [--minutes 3] [--gpus 0 1] [--price 2.50] [--output gpu-check.md]
    python -m benchmarks.gpu_check --cpu

Trains a teacher, a student and a finetuned student by the pipeline's scripts and configs on generated text,
each for some minutes, stops each as a machine that goes away does, and goes on from its checkpoint for an
update; translates by Marian and by CTranslate2. Prints Markdown for docs/benchmarks.md, and writes it with
--output: words/s as Marian logs them (the median after the first third of the log's lines, without start and
compilation), use of the GPUs (mean of the whole script) and their memory (peak of all together), versions.
With the price of an hour of the machine also words for the money, by which machines compare.

--cpu does the same on a CPU with small models and little text, to try the command: its figures say nothing of
GPUs. Without a GPU and without --cpu nothing is checked, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.gpu_text import LANGUAGES, Text, generate
from pipeline.common.lines import read_lines
from translations_assets.common.settings import repository_root
from translations_assets.runners.machine import GpuMonitor, cpu_count, find_gpus, workspace

ROOT = repository_root()
TRAIN = ROOT / "pipeline" / "train" / "configs"
DECODING = ROOT / "pipeline" / "translate" / "configs" / "teacher.yml"
CUDA = ROOT / "requirements" / "cuda.lock"
TEMPORARY = 75  # exit code of a script that was stopped
POINTS = 3  # lines of Marian's log, at least, before a training is stopped
LOOK_SECONDS = 0.5
HOUR = 3600  # seconds
FIELDS = "name,driver_version,compute_cap,memory.total"
NO_GPU = """\
No GPU: nvidia-smi is absent, fails, or shows none (CUDA_VISIBLE_DEVICES counts).
Not checked: training of a teacher, a student and a finetuned student, decoding by Marian and by CTranslate2;
their words/s, how busy GPUs are, how much of their memory is used; whether Marian has code for this GPU.
To try the same way on a CPU, with small models: python -m benchmarks.gpu_check --cpu"""


@dataclass(frozen=True)
class Size:
    """Amounts of training and translation, and changes of the pipeline's models."""

    pairs: int
    lines: int
    vocab_size: int
    teacher: Mapping[str, object]
    student: Mapping[str, object]
    decoding: Mapping[str, object]


SMALL = {"dim-emb": 64, "transformer-dim-ffn": 128, "enc-depth": 1, "dec-depth": 1, "transformer-heads": 2}
FULL_SIZE = Size(300_000, 20_000, 32_000, {}, {}, {})
CPU_SIZE = Size(
    pairs=1_000,
    lines=30,
    vocab_size=1_000,
    teacher={"task": "transformer-base", **SMALL, "mini-batch-words": 500, "maxi-batch": 1},
    student={**SMALL, "mini-batch-words": 500, "maxi-batch": 1},
    decoding={"beam-size": 2, "max-length": 100, "max-length-factor": 1},
)


@dataclass
class Row:
    """Measurements of one script."""

    what: str
    words_per_second: float = 0
    gpu_use: float = 0
    gpu_memory: int = 0
    seconds: float = 0
    notes: list[str] = field(default_factory=list)


class Failed(Exception):
    """A script failed; the end of what it said."""


@dataclass(frozen=True)
class Machine:
    """The machine of the scripts: GPUs by their ids, none for a CPU; resources that they get."""

    gpus: Sequence[str]
    environment: Mapping[str, str]

    def run(
        self, script: str, options: Mapping[str, object], row: Row, folder: Path, minutes: float | None = None
    ) -> int:
        """Run a script, and note GPUs and time; with `minutes`, stop it then. Returns its exit code, 0 or 75.

        Raises Failed for another one.
        """
        progress = folder / "progress.jsonl"
        progress.unlink(missing_ok=True)
        env = {**os.environ, **self.environment, "TRANSLATIONS_PROGRESS": str(progress)}
        monitor, start = GpuMonitor(self.gpus), time.monotonic()
        with (folder / "log").open("w+") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", script, *_arguments(options)],
                cwd=ROOT,
                env=env,
                stdout=log,
                stderr=log,
            )
            try:
                while process.poll() is None:
                    monitor.sample()
                    time.sleep(LOOK_SECONDS)
                    ready = len(_points(progress)) >= POINTS
                    if minutes is not None and ready and time.monotonic() - start > 60 * minutes:
                        process.send_signal(signal.SIGTERM)
                        minutes = None
            finally:
                process.kill()
                process.wait()
                monitor.close()
            log.seek(0)
            said = log.read()
        row.seconds += time.monotonic() - start
        row.gpu_use = max(row.gpu_use, monitor.utilisation)
        row.gpu_memory = max(row.gpu_memory, monitor.peak_memory)
        if process.returncode not in (0, TEMPORARY):
            raise Failed("\n".join(said.splitlines()[-15:]))
        return process.returncode


def main(argv: Sequence[str] | None = None) -> None:
    """Check, and print what was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=3, help="of each training")
    parser.add_argument("--gpus", nargs="+", help="ids of the GPUs, as nvidia-smi counts; all by default")
    parser.add_argument("--cpu", action="store_true", help="try it on a CPU, with small models")
    parser.add_argument("--price", type=positive, help="of an hour of this machine")
    parser.add_argument("--currency", default="USD", help="of the price, as in the deployment file")
    parser.add_argument("--output", type=Path, help="file for what is printed")
    args = parser.parse_args(argv)
    machine = on_cpu() if args.cpu else on_gpus(args.gpus)
    if machine is None:
        sys.exit(NO_GPU)
    with tempfile.TemporaryDirectory(prefix="gpu-check-") as name:
        rows = check(machine, CPU_SIZE if args.cpu else FULL_SIZE, args.minutes, Path(name))
    found = "\n".join([*_heading(machine, args.minutes), *_table(rows, args.price, args.currency)])
    print(found)
    if args.output:
        args.output.write_text(f"{found}\n", encoding="utf-8")
    if any("failed" in note for row in rows for note in row.notes):
        sys.exit(1)


def positive(text: str) -> float:
    """A number above 0, for argparse."""
    number = float(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


def on_cpu() -> Machine:
    """This machine without its GPUs."""
    threads = {"TRANSLATIONS_THREADS": str(cpu_count()), "TRANSLATIONS_WORKSPACE": "512"}
    return Machine([], {**threads, "TRANSLATIONS_GPUS": "", "TRANSLATIONS_GRACE": "60"})


def on_gpus(ids: Sequence[str] | None) -> Machine | None:
    """This machine with its GPUs, or those of them; None when there is none."""
    gpus = [gpu for gpu in find_gpus(os.environ) if ids is None or gpu.id in ids]
    if not gpus:
        return None
    given = {
        "TRANSLATIONS_GPUS": " ".join(gpu.id for gpu in gpus),
        "TRANSLATIONS_WORKSPACE": str(workspace(gpus)),
        "TRANSLATIONS_THREADS": str(cpu_count()),
        "TRANSLATIONS_GRACE": "60",
    }
    return Machine([gpu.id for gpu in gpus], given)


def check(machine: Machine, size: Size, minutes: float, folder: Path) -> list[Row]:
    """Train and translate; a row for each. What needs a model that failed is left out, and says so."""
    text = generate(folder, size.pairs, size.lines, size.vocab_size)
    rows: list[Row] = []
    teacher = Trainer(
        machine, text, folder / "teacher", minutes, "teacher", "teacher.train", "teacher.original"
    )
    trained = teacher.train("teacher, training", size.teacher, rows)
    for program in ("Marian", "CTranslate2"):
        translate(machine, text, trained, program, size, folder, rows)
    student = Trainer(
        machine, text, folder / "student", minutes, "student.base-memory", "student.train", "student"
    )
    trained = student.train("student, training", size.student, rows)
    tuned = Trainer(
        machine,
        text,
        folder / "finetuned",
        minutes,
        "student.base-memory",
        "student.finetune",
        "student",
        trained,
    )
    tuned.train("student, finetuning", size.student, rows)
    return rows


@dataclass(frozen=True)
class Trainer:
    """A training of the pipeline's: its configs by their names, and the model that it goes on with."""

    machine: Machine
    text: Text
    folder: Path
    minutes: float
    model: str
    training: str
    curriculum: str
    pretrained: Path | None = None

    def train(self, what: str, changed: Mapping[str, object], rows: list[Row]) -> Path | None:
        """Train for some minutes, stop, and go on to the result; returns the model's folder."""
        row = Row(what)
        rows.append(row)
        self.folder.mkdir()
        if self.pretrained is None and self.training == "student.finetune":
            row.notes.append("failed: there is no student")
            return None
        try:
            options = self._options(row)
            stopped = self._run(options, changed, "1000000u", row, self.minutes)
            last = max(path.name for path in (self.folder / "sets").iterdir()) if stopped else ""
            if stopped:
                self._run(options, changed, f"{int(last.split('-')[-1]) + 1}u", row, None)
            self._note(row)
        except Failed as error:
            row.notes.append(f"failed: {error}")
            return None
        return self.folder / "out"

    def _options(self, row: Row) -> dict[str, object]:
        guided = self.curriculum == "student"
        source, target = self.text.vocabs
        vocabs = {"source-vocab": source, "target-vocab": target}
        making: dict[str, object] = {"corpus-src": self.text.tokens[0], "corpus-trg": self.text.tokens[1]}
        making |= {"alignments": self.text.links, "max-length": 200 if guided else 100, "link-pieces": guided}
        pairs = self.folder / "pairs"
        making_row = Row("")  # the pairs are made without a GPU
        self.machine.run(
            "pipeline.train.training_pairs", {**making, **vocabs, "output": pairs}, making_row, self.folder
        )
        options = {"src": LANGUAGES[0], "trg": LANGUAGES[1], **vocabs, "original": pairs}
        options |= {"dev-src": self.text.dev[0], "dev-trg": self.text.dev[1], "seed": 1, "best-model": "chrf"}
        options |= {
            "model-config": TRAIN / "model" / f"{self.model}.yml",
            "bicameral": True,
            "phonemic": True,
        }
        options |= {"training-config": TRAIN / "training" / f"{self.training}.yml"}
        options |= {"curriculum": TRAIN / "curriculum" / f"{self.curriculum}.yml"}
        options |= {"output": self.folder / "out"}
        return {**options, **({"pretrained": self.pretrained} if self.pretrained else {})}

    def _run(
        self,
        options: Mapping[str, object],
        changed: Mapping[str, object],
        after: str,
        row: Row,
        minutes: float | None,
    ) -> bool:
        """Run the script; true if it was stopped."""
        often = {"disp-freq": 5, "disp-first": 0, "valid-freq": 1_000_000, "save-freq": 1_000_000}
        marian_args = json.dumps({**changed, **often, "after": after})
        environment = {**self.machine.environment, "TRANSLATIONS_CHECKPOINTS": str(self.folder / "sets")}
        machine = Machine(self.machine.gpus, environment)
        code = machine.run(
            "pipeline.train.train", {**options, "marian-args": marian_args}, row, self.folder, minutes
        )
        return code == TEMPORARY

    def _note(self, row: Row) -> None:
        metrics = json.loads((self.folder / "out" / "metrics.json").read_text())
        points = [point["words_per_second"] for point in metrics["curve"] if point["kind"] == "train"]
        row.words_per_second = median(points[len(points) // 3 :])
        derived = metrics["derived"]
        words, delay = derived["mini-batch-words"], derived["optimizer-delay"]
        divided = f"{delay} micro-batch{'es' * (delay > 1)} a device"
        row.notes.append(f"{metrics['updates']:,} updates of {words:,} words in {divided}")
        if "out-of-memory-at" in derived:
            row.notes.append(f"memory ran out at update {derived['out-of-memory-at']:,}")


def translate(
    machine: Machine, text: Text, model: Path | None, program: str, size: Size, folder: Path, rows: list[Row]
) -> None:
    """Translate by a program. Words are those of the source; the whole script counts, its start included."""
    row = Row(f"teacher, decoding by {program}")
    rows.append(row)
    if model is None:
        row.notes.append("failed: there is no teacher")
        return
    options: dict[str, object] = {"text": text.plain, "decoding-config": DECODING, "output": folder / program}
    options["marian-args"] = json.dumps(size.decoding)
    script = "pipeline.translate.translate"
    try:
        if program == "CTranslate2":
            script, converted = "pipeline.translate.with_ctranslate2", folder / "converted"
            machine.run("pipeline.translate.convert", {"model": model, "output": converted}, Row(""), folder)
            options |= {"model": converted, "cuda-lock": CUDA}
        else:
            options["models"] = model
        if machine.gpus:  # the first time kernels are compiled, and libraries fetched
            first = {**options, "text": text.dev[0], "output": folder / f"{program}.first"}
            machine.run(script, first, Row(""), folder)
        machine.run(script, options, row, folder)
    except Failed as error:
        row.notes.append(f"failed: {error}")
        return
    stats: dict[str, Any] = json.loads((folder / program / "stats.json").read_text())
    words = sum(len(line.split()) for line in read_lines(text.plain))
    row.words_per_second = words / row.seconds
    row.notes.append(f"{stats['lines']['in']:,} lines")


def _arguments(options: Mapping[str, object]) -> list[str]:
    flags = [f"--{name}" for name, value in options.items() if value is True]
    given = [f"--{name}={value}" for name, value in options.items() if not isinstance(value, bool)]
    return [*flags, *given]


def _points(progress: Path) -> list[str]:
    lines = progress.read_text().splitlines() if progress.exists() else []
    return [line for line in lines if '"train"' in line]


def _heading(machine: Machine, minutes: float) -> list[str]:
    versions = ", ".join(f"{name} {version(name)}" for name in ("pymarian", "ctranslate2"))
    cores = f"{machine.environment['TRANSLATIONS_THREADS']} cores"
    what = f"{minutes:g} minutes each training; {versions}, Python {sys.version.split()[0]}"
    if not machine.gpus:
        return [f"CPU, {cores}: small models, the command tried without a GPU. {what}", ""]
    asked = ["nvidia-smi", "-i", ",".join(machine.gpus), f"--query-gpu={FIELDS}", "--format=csv,noheader"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=60)
    gpus = "; ".join(
        "{} (driver {}, compute capability {}, {})".format(*line.split(", "))
        for line in done.stdout.splitlines()
    )
    return [f"{gpus}; {cores}; workspace {machine.environment['TRANSLATIONS_WORKSPACE']} MB. {what}", ""]


def _table(rows: Sequence[Row], price: float | None, currency: str) -> list[str]:
    """A line for each row; with the price of an hour, how many words that much money is enough for."""
    money = f" words per {currency} |" if price else ""
    lines = [
        f"| what | words/s |{money} GPU use | GPU memory | notes |",
        f"|---|---|{'---|' * bool(price)}---|---|---|",
    ]
    for row in rows:
        notes = "; ".join(row.notes).replace("\n", " ").replace("|", "\\|")
        use = f"{row.gpu_use:.0%} | {row.gpu_memory / 2**20:,.0f} MB" if row.gpu_memory else "– | –"
        speed = f"{row.words_per_second:,.0f}" if row.words_per_second else "–"
        words = f" {row.words_per_second * HOUR / price / 1e6:,.2f} million |" if price else ""
        lines.append(f"| {row.what} | {speed} |{words} {use} | {notes} |")
    return lines


if __name__ == "__main__":
    main()
