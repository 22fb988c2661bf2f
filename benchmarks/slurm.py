"""Steps on a real Slurm on this machine: commands and processor time a step, and what survives disturbances.

Slurm's programs have to be installed (`make ci-environments`); its daemons are started here, and end with
this program. Ends with exit code 1 when something is wrong.

    python -m benchmarks.slurm --only steps --steps 300
    python -m benchmarks.slurm --only chaos --chaos 100 --accounting
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.end_to_end.on_cluster import Site
from tests.kube.cluster import Cluster
from tests.slurm.daemons import Slurm, missing_programs
from tests.slurm.disturbances import Disturbed, kinds, make_on_one_machine
from tests.slurm.runs import on_cluster, on_slurm
from tests.slurm.silence import Silence
from tests.store.gcs_server import BUCKET, serve
from translations_assets.runners.batch.silence import SILENT_SECONDS

PARTS = ("steps", "chaos")
_MOST, _HARMLESS = 45, 10  # disturbances of a run; of every second one, which has only those that end no job


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=PARTS, action="append", help="which part; all by default")
    parser.add_argument("--steps", type=int, default=300, help="how many short steps")
    parser.add_argument("--chaos", type=int, default=100, help="how many disturbances")
    parser.add_argument("--accounting", action="store_true", help="with slurmdbd")
    parser.add_argument("--seed", type=int, default=1, help="of what happens when, and to which job")
    options = parser.parse_args()
    parts = options.only or PARTS
    if missing := missing_programs(options.accounting):
        sys.exit(f"Slurm is not installed: {', '.join(missing)}. Run `make ci-environments` as root.")
    slurm, problems = Slurm(accounting=options.accounting), list[str]()
    logging.getLogger("api.object").setLevel(logging.CRITICAL)  # the emulator tells of every miss
    try:
        with tempfile.TemporaryDirectory() as name:
            if "steps" in parts:
                problems += steps(slurm, Path(name) / "steps", options.steps)
            if "chaos" in parts:
                problems += chaos(slurm, Path(name), options.chaos, random.Random(options.seed))
    finally:
        slurm.close()
    print(f"problems: {len(problems)} (bar: 0)", *problems, sep="\n  ")
    sys.exit(bool(problems))


def steps(slurm: Slurm, folder: Path, number: int) -> list[str]:
    """Short steps, ten in a job: on Slurm, and on a cluster of Kubernetes whose API server is a fake."""
    texts = number * 2 // 3  # a third of the steps reads the others
    cluster = Cluster("fake")
    with serve(BUCKET) as bucket:
        os.environ["STORAGE_EMULATOR_HOST"] = bucket.url
        site = Site(cluster, cluster.make_namespace(), bucket)
        one = on_slurm(folder / "slurm", slurm, texts, 0.0, **{"steps-per-job": 10})
        other = on_cluster(folder / "cluster", site, texts, 0.0, **{"steps-per-pod": 10})
    cluster.close()
    n, each = len(one.made), sum(one.commands.values()) / len(one.made)
    print(
        f"{n} short steps, ten in a job: {each:.2f} commands of Slurm a step (bar: 1; {dict(one.commands)})"
    )
    for name, ran in ("Slurm", one), ("Kubernetes", other):
        print(f"orchestrator on {name}: {1000 * ran.cpu / n:.0f} ms of processor a step", flush=True)
    problems = [] if one.made == other.made else ["keys or bytes differ"]
    return problems + (["too many commands"] if each > 1 else [])


def chaos(slurm: Slurm, folder: Path, times: int, chance: random.Random) -> list[str]:
    """Runs, again and again, until they were disturbed so often."""
    problems, left, number = list[str](), times, 0
    happened, reasons, silence, lost = Counter[str](), Counter[str](), Silence(), 0
    local = make_on_one_machine(folder / "local")
    while left > 0 and number < times:
        number += 1
        harmless = number % 2 == 0
        one = Disturbed(folder / f"run-{number}", slurm, kinds(slurm, harmless=harmless), chance)
        began = time.monotonic()
        left -= one.run(min(left, _HARMLESS if harmless else _MOST))
        seconds, compared = time.monotonic() - began, one.compare(local)
        print(
            f"run {number}: {one.happened.total()} disturbances in {seconds:.0f} s, {one.starts} starts, "
            f"longest silence {one.silence.longest:.0f} s, {compared} steps as on one machine, "
            f"{len(one.problems)} problems",
            flush=True,
        )
        happened, reasons = happened + one.happened, reasons + one.reasons
        silence = max(silence, one.silence, key=lambda each: each.longest)
        problems, lost = problems + one.problems, lost + one.lost
    print(
        f"disturbances: {happened.total()} ({', '.join(f'{kind} {n}' for kind, n in happened.most_common())})"
    )
    print(f"attempts that came to nothing: {lost}; while a run followed them:", *_lines(reasons), sep="\n  ")
    print(f"longest silence: {silence.longest:.0f} s (bar: {SILENT_SECONDS:.0f} s), after: {silence.after}")
    return problems + (["a run was silent for too long"] if silence.longest > SILENT_SECONDS + 1 else [])


def _lines(reasons: Counter[str]) -> list[str]:
    return [f"{number} x {reason}" for reason, number in reasons.most_common()]


if __name__ == "__main__":
    main()
