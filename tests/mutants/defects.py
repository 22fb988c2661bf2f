"""Plants the written defects one at a time, in copies of the tree, and says which of them no test notices.

python -m tests.mutants.defects --sample 30 --seed 1
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence

from tests.mutants.__main__ import ROOT, Copy, Told, judge_all
from tests.mutants.draw import Mutant
from tests.mutants.written import Defect, evenly, read_defects

LEAST = 0.9  # share of the defects that the tests notice which concern their files
LEAST_BY_ALL = 0.95


def main(argv: Sequence[str] | None = None) -> int:
    """Print what became of each defect, and how many were noticed; 1 when those were too few."""
    args = _parser().parse_args(argv)
    defects = [defect for defect in read_defects() if args.only in f"{defect.file}: {defect.old}"]
    if args.sample:
        defects = evenly(defects, args.sample, args.seed)
    planted = {defect.planted(ROOT): defect for defect in defects}
    told = judge_all(planted, args.jobs, args.seconds)
    share = _tell("the tests that concern them", told, planted)
    if not args.all:
        return int(share < LEAST)
    missed = [one.mutant for one in told if one.end == "survived"]
    others = judge_all(missed, args.jobs, args.seconds, Copy.judge_by_all)
    by_all = _tell("all tests", [*(one for one in told if one.mutant not in missed), *others], planted)
    return int(share < LEAST or by_all < LEAST_BY_ALL)


def _tell(tests: str, told: Sequence[Told], planted: Mapping[Mutant, Defect]) -> float:
    """Print what some tests have not noticed, and the share that they have."""
    judged = [one for one in told if one.end != "accepted"]
    missed = [one.mutant for one in judged if one.end == "survived"]
    print(f"\nNot noticed by {tests}:" if missed else "")
    for mutant in missed:
        print(f"  {mutant}\n    harm: {planted[mutant].harm}")
    share = 1 - len(missed) / max(1, len(judged))
    print(f"{len(judged) - len(missed)} of {len(judged)} written defects ({share:.1%}) noticed by {tests}")
    return share


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="defects whose file and text hold this: pipeline/clean")
    parser.add_argument("--sample", type=int, default=0, help="so many of them, evenly over the file")
    parser.add_argument("--seed", type=int, default=0, help="another one takes others")
    parser.add_argument("--all", action="store_true", help="run all tests for those that are not noticed")
    parser.add_argument("--jobs", type=int, default=2, help="defects that are judged at the same time")
    parser.add_argument("--seconds", type=float, default=600, help="longer tests count as noticing")
    return parser


if __name__ == "__main__":
    sys.exit(main())
