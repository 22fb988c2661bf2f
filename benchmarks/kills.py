"""`kill -9` of parts of a running `translations train`, again and again, each time started again.

The tiny pair of the end-to-end tests, with real Marian: orchestrator, worker, process group and all processes
of a run are killed in turn, at random moments, and the run is started again until it ends by itself; then
follows the next, in a new store. Every run's end is compared with an undisturbed run in another store, which
has the same trained models and makes everything else anew. Ends with exit code 1 when something is wrong.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from itertools import cycle
from pathlib import Path

from tests.end_to_end.kills import VICTIMS, Disturbance, differences
from tests.end_to_end.tiny import make_place


def main() -> None:
    """Kill, and print what came of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=50, help="how many kills")
    parser.add_argument("--seed", type=int, default=1, help="of the moments and the workers that are chosen")
    parser.add_argument("--target", default="all", help="the last stage to make")
    options = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        rounds = disturb(Path(folder), options.times, options.seed, options.target)
    report(rounds, time.monotonic() - began)
    sys.exit(any(one.problems for one, _ in rounds))


def disturb(folder: Path, times: int, seed: int, target: str) -> list[tuple[Disturbance, int]]:
    """Runs that were killed `times` times in all, each with the number of steps that were compared."""
    chance, victims, rounds = random.Random(seed), cycle(VICTIMS), list[tuple[Disturbance, int]]()
    while times > 0:
        place = make_place(folder / f"round-{len(rounds) + 1}")
        one = Disturbance(place, target, chance, victims)
        times -= one.run(times)
        compared, found = differences(place, folder / f"undisturbed-{len(rounds) + 1}", target)
        one.problems += found
        rounds.append((one, compared))
        print(f"run {len(rounds)}: {sum(one.killed.values())} kills, {one.starts} starts", flush=True)
    return rounds


def report(rounds: list[tuple[Disturbance, int]], seconds: float) -> None:
    """Print the figures and every problem."""
    killed = sum((one.killed for one, _ in rounds), Counter[str]())
    problems = [problem for one, _ in rounds for problem in one.problems]
    kinds = ", ".join(f"{kind} {killed[kind]}" for kind in VICTIMS)
    print(f"killed {sum(killed.values())} times ({kinds}) in {len(rounds)} runs, {seconds:.0f} s")
    slowest = max(one.slowest_end for one, _ in rounds)
    print(f"slowest end of what a kill left behind: {slowest:.1f} s (bar: 10 s)")
    print(
        f"repeatable steps with the digests of an undisturbed run: {sum(compared for _, compared in rounds)}"
    )
    print(f"problems: {len(problems)} (bar: 0)", *problems, sep="\n  ")


if __name__ == "__main__":
    main()
