"""A sweep of twelve variants of the demo's student: what they cost, beside the steps in which they differ.

    python -m benchmarks.sweep --work FOLDER [--updates N]

Four learning rates with three seeds each share everything before the student; the first of them is the base.
Printed are the number of steps in which they differ, by their plan, and of those that were made; the time of
these by their own clocks, and that of the whole command, with its twelve starts; and the comparison.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from translations_assets.common.settings import repository_root
from translations_assets.store.local import LocalStore

ROOT = repository_root()
BASE = "en-eo.demo"
RATE = "marian-args.training-student.learn-rate"
RATES = [0.001, 0.003, 0.004]  # besides the demo's own
SEEDS = [1111, 2, 3]  # the first is the demo's
VARIANTS = (1 + len(RATES)) * len(SEEDS)


def main(argv: Sequence[str] | None = None) -> None:
    """Train, and print the figures; see the module's text."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", required=True, type=Path, help="folder for the store and the configs")
    parser.add_argument("--updates", type=int, help="of each student; the demo's if left out")
    args = parser.parse_args(argv)
    work = args.work.absolute()
    (work / "configs" / "sweeps").mkdir(parents=True, exist_ok=True)
    config = yaml.safe_load((ROOT / "configs" / f"{BASE}.yml").read_text(encoding="utf-8"))
    student = config["marian-args"]["training-student"]
    if args.updates:
        student["after"] = f"{args.updates}u"
    config["checks"] = {"training-collapse": {"level": "warn"}}  # so few updates teach little
    (work / "configs" / f"{BASE}.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    axes = {RATE: [student["learn-rate"], *RATES], "experiment.seeds.student": SEEDS}
    sweep = {"base": BASE, "axes": axes, "target": "evaluate_student"}
    (work / "configs" / "sweeps" / "twelve.yml").write_text(json.dumps(sweep), encoding="utf-8")
    _translations(work, "train", BASE, "--target", "alignments_student", "--yes")
    planned = _translations(work, "plan", "twelve").splitlines()[-1]
    began = time.monotonic()
    _translations(work, "train", "twelve", "--yes")
    by_the_clock = time.monotonic() - began
    store = LocalStore(work / "state" / "store")
    made = [*_made(store)]
    print(planned)
    print("| steps made | their time | time of the command | besides, a variant | ratio |")
    print("|---|---|---|---|---|")
    seconds = sum(made)
    besides, ratio = (by_the_clock - seconds) / VARIANTS, by_the_clock / seconds
    print(f"| {len(made)} | {seconds:.0f} s | {by_the_clock:.0f} s | {besides:.1f} s | {ratio:.3f} |")
    print(_translations(work, "sweep", "twelve"))


def _made(store: LocalStore) -> Iterator[float]:
    """The seconds of each step that a run of the sweep has made."""
    for run in store.runs():
        record = store.read_run(run)
        if record and record.options.sweep.startswith("twelve-"):
            for place in record.uses.values():
                result = store.generation(*place)
                if result and result.provenance.run == run:
                    yield result.cost.seconds


def _translations(work: Path, *words: str) -> str:
    env = {
        **os.environ,
        "TRANSLATIONS_CONFIGS": str(work / "configs"),
        "TRANSLATIONS_STATE": str(work / "state"),
    }
    command = [sys.executable, "-m", "translations_assets.cli.main", *words]
    return subprocess.run(command, check=True, env=env, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    main()
