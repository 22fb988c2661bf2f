"""Plants small defects one at a time, in copies of the tree, and says which of them no test notices.

python -m tests.mutants --each 4 --seed 1
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory

import yaml

from tests.mutants.choose import choose_tests
from tests.mutants.draw import Mutant, draw, packages

ROOT = Path(__file__).parents[2]
ACCEPTED = Path(__file__).with_name("accepted.yml")
LEAST = 0.95  # share of the mutants that tests notice, but for accepted ones
ALL_SECONDS = 4 * 3600.0  # for all tests, one after the other
_LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "node_modules")
_ALL_DESELECTED = 5  # exit status of pytest
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+\.py(?:::.*?)?)(?: - |$)", re.MULTILINE)


@dataclass(frozen=True)
class Told:
    """Verdict on a mutant: `noticed`, `survived` or `accepted`; by which test, or why."""

    mutant: Mutant
    end: str
    detail: str


class Copy:
    """A copy of the tree, in which one defect at a time is planted."""

    def __init__(self, folder: Path, seconds: float) -> None:
        shutil.copytree(ROOT, folder, ignore=_LEFT_OUT, symlinks=True)
        self._folder, self._seconds = folder, seconds
        self._broken: list[str] = []  # tests that fail without a defect, too

    def judge(self, mutant: Mutant) -> Told:
        """Run the tests that concern a mutant, the slow ones last."""
        tests = choose_tests(self._folder, mutant.file)
        return self._judge(mutant, tests, self._seconds) or Told(mutant, "survived", " ".join(tests))

    def judge_by_all(self, mutant: Mutant) -> Told:
        """Run all tests but those of the mutants themselves."""
        found = self._judge(mutant, ["tests", "--ignore=tests/mutants"], ALL_SECONDS)
        return found or Told(mutant, "survived", "all tests")

    def _judge(self, mutant: Mutant, tests: Sequence[str], seconds: float) -> Told | None:
        for marks in ("not slow", "slow"):
            try:
                if failed := self._notices(mutant, [*tests, "-m", marks], seconds):
                    return Told(mutant, "noticed", f"by {failed}")
            except subprocess.TimeoutExpired:
                return Told(mutant, "noticed", f"by the time limit of {seconds:g} s")
        return None

    def _notices(self, mutant: Mutant, arguments: Sequence[str], seconds: float) -> str:
        """The test that fails because of a mutant: the same one passes without it. Raises TimeoutExpired."""
        path = self._folder / mutant.file
        whole = path.read_bytes()
        while True:
            _write(path, mutant.text.encode())
            try:
                status, output = self._run([*arguments, *map(_without, self._broken)], seconds)
            finally:
                _write(path, whole)
            if status in (0, _ALL_DESELECTED):
                return ""
            failed = next(iter(_FAILED.findall(output)), "pytest itself")
            if failed in self._broken or not self._run([failed], seconds)[0]:
                return failed
            self._broken.append(failed)

    def _run(self, arguments: Sequence[str], seconds: float) -> tuple[int, str]:
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        process = subprocess.Popen(
            [*command, *arguments],
            cwd=self._folder,
            env={**environment, "PYTHONPATH": str(self._folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=seconds)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        return process.returncode, output


def _write(path: Path, text: bytes) -> None:
    """Write a module, and forget its compiled form: Python takes one of the same second and size for new."""
    path.write_bytes(text)
    Path(cache_from_source(str(path))).unlink(missing_ok=True)


def _without(test: str) -> str:
    """The option that leaves a test, or a file of tests, out."""
    return f"--{'deselect' if '::' in test else 'ignore'}={test}"


def accepted() -> dict[tuple[str, str, str], str]:
    """(file, function, change) of each accepted mutant → the reason."""
    entries = yaml.safe_load(ACCEPTED.read_text(encoding="utf-8"))
    return {(entry["file"], entry["function"], entry["change"]): entry["reason"] for entry in entries}


def judge_all(
    mutants: Iterable[Mutant],
    jobs: int,
    seconds: float,
    judging: Callable[[Copy, Mutant], Told] = Copy.judge,
) -> list[Told]:
    """Judge mutants, several at a time; each is printed when it is known."""
    known, copies, told = accepted(), SimpleQueue[Copy](), list[Told]()

    def judge(mutant: Mutant) -> Told:
        if reason := known.get((mutant.file, mutant.function, mutant.change)):
            return Told(mutant, "accepted", reason)
        copy = copies.get()
        try:
            return judging(copy, mutant)
        finally:
            copies.put(copy)

    with TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        for number in range(jobs):
            copies.put(Copy(Path(folder) / str(number), seconds))
        for one in pool.map(judge, mutants):
            told.append(one)
            print(f"{one.end:8} {one.mutant}\n         {one.detail}", flush=True)
    return told


def main(argv: Sequence[str] | None = None) -> int:
    """Print what became of each mutant, and how many were noticed; 1 when those were too few."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--each", type=int, default=4, help="defects of each package")
    parser.add_argument("--seed", type=int, default=1, help="another one draws others")
    parser.add_argument("--only", default="", help="packages whose path begins so, as pipeline/clean")
    parser.add_argument("--jobs", type=int, default=2, help="defects that are judged at the same time")
    parser.add_argument("--seconds", type=float, default=600, help="longer tests count as noticing")
    args = parser.parse_args(argv)
    chosen = [package for package in packages(ROOT) if package.startswith(args.only)]
    mutants = [mutant for package in chosen for mutant in draw(ROOT, package, args.each, args.seed)]
    told = judge_all(mutants, args.jobs, args.seconds)
    ends = {end: sum(one.end == end for one in told) for end in ("noticed", "survived", "accepted")}
    share = ends["noticed"] / max(1, ends["noticed"] + ends["survived"])
    counts = ", ".join(f"{number} {end}" for end, number in ends.items())
    print(f"{len(told)} mutants of {len(chosen)} packages: {counts}; {share:.1%} noticed")
    return int(share < LEAST)


if __name__ == "__main__":
    sys.exit(main())
