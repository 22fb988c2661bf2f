"""Carry out many plans, and tell what was reached; shrink one that breaks an invariant.

    python -m tests.simulation.simulate --schedules 100000
    python -m tests.simulation.simulate --seed 4711     # one, with its trace

Each seed is a schedule. The same seed makes the same schedule, as long as neither the code nor the simulation
changes.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing import get_context

from tests.simulation.plan import Plan, draw
from tests.simulation.world import world_of

BATCH = 50  # schedules that a process is given at once
BATCHES = 20  # that a process is given, one after the other: what it keeps of the dead grows
TRIES = 200  # to make a plan smaller


@dataclass
class Reached:
    """Figures of some schedules.

    met     how often a fault (or none) befell a request of a kind
    states  digests of the states of the world that were seen
    broken  seeds of schedules that broke an invariant, each with how
    """

    schedules: int = 0
    steps: int = 0
    requests: int = 0
    met: Counter[tuple[str, str]] = field(default_factory=Counter)
    happened: Counter[str] = field(default_factory=Counter)
    states: set[int] = field(default_factory=set)
    broken: dict[int, str] = field(default_factory=dict)

    def add(self, other: Reached) -> None:
        """Count others as well."""
        self.schedules += other.schedules
        self.steps += other.steps
        self.requests += other.requests
        self.met += other.met
        self.happened += other.happened
        self.states |= other.states
        self.broken |= other.broken


def carry_out(plan: Plan, reached: Reached | None = None, trace: Callable[[str], None] | None = None) -> str:
    """Carry out a plan; how it broke an invariant, empty when it did not."""
    with world_of(plan, trace) as world:
        try:
            world.carry_out()
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        finally:
            if reached:
                reached.schedules += 1
                reached.steps += world.kernel.switches
                reached.requests += world.service.faults.requests
                reached.met += world.service.faults.met
                reached.happened.update(one.kind for one in plan.happenings)
                reached.states |= world.checks.states
    return ""


def schedules(first: int, number: int) -> Reached:
    """Carry out some seeds, until one breaks an invariant."""
    reached = Reached()
    for seed in range(first, first + number):
        if broken := carry_out(draw(seed), reached):
            reached.broken[seed] = broken
            break
        if seed == first:
            gc.freeze()  # what all schedules share need not be looked at after each
    return reached


def shrunk(plan: Plan, broken: str) -> Plan:
    """The smallest plan that is found by leaving out one thing after the other, and is broken as well."""
    kind, tries = broken.partition(":")[0], 0
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for smaller in plan.smaller():
            tries += 1
            if tries > TRIES:
                return plan
            if carry_out(smaller).partition(":")[0] == kind:
                plan, is_smaller = smaller, True
                break
    return plan


def show(plan: Plan) -> str:
    """Carry out a plan and print its trace."""
    for one in plan.happenings:
        print(
            f"# phase {one.phase}, {one.at:6.1f} s: {one.kind} (chance {one.chance:.2f}, {one.seconds:.0f} s)"
        )
    for at, fault in sorted(plan.faults.items()):
        print(f"# request {at}: {fault}")
    broken = carry_out(plan, trace=print)
    print(broken or "Nothing is broken.")
    return broken


def _batches(first: int, number: int) -> Iterator[tuple[int, int]]:
    for start in range(first, first + number, BATCH):
        yield start, min(BATCH, first + number - start)


def in_processes(first: int, number: int, processes: int, seconds: float) -> Reached:
    """Carry out seeds in several processes, until one is broken, or it takes too long.

    Not by a ProcessPoolExecutor: Python 3.11's hangs when it replaces a process that has done its share.
    """
    reached, begun = Reached(), time.monotonic()
    with get_context("spawn").Pool(processes, maxtasksperchild=BATCHES) as pool:
        for done in pool.imap_unordered(_schedules, _batches(first, number)):
            reached.add(done)
            if reached.broken or time.monotonic() - begun > seconds:
                break
    return reached


def _schedules(batch: tuple[int, int]) -> Reached:
    return schedules(*batch)


def _table(reached: Reached, seconds: float) -> str:
    faults = sorted({fault for _, fault in reached.met})
    kinds = sorted({kind for kind, _ in reached.met})
    rows = [f"{'':12}" + "".join(f"{fault:>15}" for fault in faults)]
    rows += [f"{kind:12}" + "".join(f"{reached.met[kind, fault]:>15,}" for fault in faults) for kind in kinds]
    happened = ", ".join(f"{kind} {number:,}" for kind, number in sorted(reached.happened.items()))
    pairs = sum(1 for (_, fault), number in reached.met.items() if fault != "none" and number)
    return "\n".join(
        [
            *rows,
            f"Happened: {happened}.",
            f"{reached.schedules:,} schedules, {reached.requests:,} requests, {reached.steps:,} steps; "
            f"{pairs} pairs of request and fault; {len(reached.states):,} states; "
            f"{seconds / 60:.1f} minutes.",
        ]
    )


def main() -> None:
    """See the module's text; the exit code is 1 when an invariant was broken."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--schedules", type=int, default=2000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="only this one, with its trace")
    parser.add_argument("--minutes", type=float, default=1e9, help="end after so many")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="that carry them out")
    args = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED") != "0":  # else sets have another order each time
        os.execve(
            sys.executable,
            [sys.executable, "-m", __spec__.name, *sys.argv[1:]],
            {**os.environ, "PYTHONHASHSEED": "0"},
        )
    if args.seed is not None:
        sys.exit(bool(show(draw(args.seed))))
    begun = time.monotonic()
    reached = in_processes(args.first, args.schedules, args.processes, args.minutes * 60)
    print(_table(reached, time.monotonic() - begun))
    for seed, broken in list(reached.broken.items())[:1]:
        print(f"\nSeed {seed} breaks an invariant: {broken}\nThe smallest plan that does:\n")
        show(shrunk(draw(seed), broken))
        sys.exit(1)


if __name__ == "__main__":
    main()
