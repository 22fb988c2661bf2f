"""A sweep of twelve variants of the demo's student: what they cost, beside the steps in which they differ.

    python -m benchmarks.sweep --work FOLDER [--updates 200]

Four learning rates with three seeds each share everything before the student. Printed are the number of steps
in which the twelve differ from each other and from the base, by their plan, and of those that were made; the
time of these by their own clocks, and that of the whole command, with its twelve starts; and the comparison.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from translations_assets.common.settings import repository_root
from translations_assets.store.local import LocalStore

ROOT = repository_root()
BASE = "en-eo.demo"
RATE = "marian-args.training-student.learn-rate"


def main(argv: Sequence[str] | None = None) -> None:
    """Train, and print the figures; see the module's text."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", required=True, type=Path, help="folder for the store and the configs")
    parser.add_argument("--updates", type=int, default=200, help="of each student")
    args = parser.parse_args(argv)
    work = args.work.absolute()
    (work / "configs" / "sweeps").mkdir(parents=True, exist_ok=True)
    config = (ROOT / "configs" / f"{BASE}.yml").read_text(encoding="utf-8")
    (work / "configs" / f"{BASE}.yml").write_text(config, encoding="utf-8")
    axes = {
        "marian-args.training-student.after": [f"{args.updates}u"],
        RATE: [0.0006, 0.001, 0.0016, 0.0025],
        "experiment.seeds.student": [1, 2, 3],
    }
    sweep = {"base": BASE, "axes": axes, "target": "evaluate_student"}
    (work / "configs" / "sweeps" / "twelve.yml").write_text(json.dumps(sweep), encoding="utf-8")
    _translations(work, "train", BASE, "--target", "alignments_student", "--yes")
    planned = _translations(work, "plan", "twelve").splitlines()[-1]
    began = time.monotonic()
    _translations(work, "train", "twelve", "--yes")
    by_the_clock = time.monotonic() - began
    store = LocalStore(work / "state" / "store")
    made: dict[tuple[str, int], float] = {}
    for run in store.runs():
        record = store.read_run(run)
        if record and record.options.sweep.startswith("twelve-"):
            for place in record.begun.values():
                result = store.generation(*place)
                made[place] = result.cost.seconds if result else 0.0
    print(planned)
    print("| steps made | their time | time of the command | ratio |\n|---|---|---|---|")
    seconds = sum(made.values())
    print(f"| {len(made)} | {seconds:.0f} s | {by_the_clock:.0f} s | {by_the_clock / seconds:.3f} |")
    print(_translations(work, "sweep", "twelve"))


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
