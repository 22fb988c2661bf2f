"""Disturbs runs on a real Slurm at random moments, and looks at what comes of them."""

from __future__ import annotations

import random
import re
import subprocess
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.end_to_end.evidence import begun_after_end, defects, newest, seconds_until
from tests.end_to_end.tiny import Place
from tests.runners.scripts import leftovers
from tests.slurm.daemons import Slurm, variables
from tests.slurm.orchestrator import LONG_CLASS, make_graph, write_settings
from tests.slurm.runs import command, made_in, slurm_settings
from tests.slurm.silence import Silence

HARMLESS = (  # cost no step an attempt
    "controller restarted",
    "orchestrator killed",
    "node drained",
    "submission refused",
    "munge away",
)
HARMFUL = (
    "job cancelled",
    "worker killed",
    "time limit",
    "stepd killed",
    "job preempted",
    "node down",
    "controller killed",
)
ACCOUNTING = "accounting away"  # harmless, too, where there is accounting
TEXTS, LONGS = 24, 2  # steps of a run, but for those that read them
GONE_SECONDS = 120.0  # in which jobs that are no longer wanted have gone
_RUN_SECONDS = 900.0
_LOOK_SECONDS = 0.2
_DAEMONS = {
    "controller restarted": "slurmctld",
    "controller killed": "slurmctld",
    "munge away": "munged",
    ACCOUNTING: "slurmdbd",
}


def kinds(slurm: Slurm, *, harmless: bool = False) -> list[str]:
    """The disturbances that are possible."""
    found = [*HARMLESS, *([ACCOUNTING] if slurm.has_accounts else []), *(() if harmless else HARMFUL)]
    return sorted(found)


@dataclass
class Disturbed:
    """One run that is disturbed, and started again when its orchestrator is killed.

    kinds    of what may happen; each happens as often as the others, where it can
    longest_wait  seconds until the next event
    silence  the one that lasted longest in any start of the run
    reasons  the words with which attempts ended while a run followed them, numbers left out
    lost     attempts that came to nothing
    """

    folder: Path
    slurm: Slurm
    kinds: list[str]
    chance: random.Random
    texts: int = TEXTS
    longs: int = LONGS
    longest_wait: float = 2.0
    happened: Counter[str] = field(default_factory=Counter)
    starts: int = 0
    silence: Silence = field(default_factory=Silence)
    reasons: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    problems: list[str] = field(default_factory=list)
    _limited: set[str] = field(default_factory=set)

    def run(self, times: int) -> int:
        """Have so many events happen at most, then let the run end; how many it were."""
        self.folder.mkdir(parents=True)
        settings = slurm_settings(self.folder, self.slurm, **{"steps-per-job": 2})
        write_settings(self.folder, settings, self.texts, self.longs)
        run = self._start()
        try:
            while self.happened.total() < times and self._waits_for_job(run):
                rare = sorted(self.kinds, key=lambda kind: (self.happened[kind], self.chance.random()))
                kind = next(kind for kind in rare if self._disturb(kind, run))
                self.happened[kind] += 1
                if kind == "orchestrator killed":
                    run = self._start()
            self._let_end(run)
        finally:
            run.kill()
            run.wait()
        self._check_end()
        return self.happened.total()

    @property
    def place(self) -> Place:
        """The place with the run's store."""
        return Place(self.folder)

    def compare(self, other: Place) -> int:
        """Compare with a place in which the same was made undisturbed; how many steps are the same."""
        one, two = made_in(self.place.store), made_in(other.store)
        different = sorted(label for label in two if one.get(label) != two[label])
        self._complain(different, "has another key or other bytes than on one machine")
        return len(two) - len(different)

    def _start(self) -> subprocess.Popen[bytes]:
        self.starts += 1
        run = subprocess.Popen(
            command(self.folder),
            env={**self.place.environment, **variables(self.slurm)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        threading.Thread(target=self._hear, args=(run, self._output(self.starts)), daemon=True).start()
        return run

    def _output(self, start: int) -> Path:
        return self.folder / f"output-{start}.txt"

    def _hear(self, run: subprocess.Popen[bytes], path: Path) -> None:
        """Keep what a run says, and measure its silence."""
        assert run.stdout
        silence = Silence()
        with run.stdout, path.open("wb") as kept:
            for line in run.stdout:
                silence.hear(line.decode(errors="replace").strip(), time.monotonic())
                self.silence = max(self.silence, silence, key=lambda each: each.longest)
                kept.write(b"%.1f %s" % (time.time(), line))
                kept.flush()

    def _jobs(self, state: str = "RUNNING") -> dict[str, str]:
        """Jobs of steps in a state → their worker class."""
        asked = ("squeue", "-h", "-t", state, "-O", "JobID:20,Name:64,Comment:240")
        found = {}
        for line in self.slurm.ask(*asked, check=False).splitlines():
            uid, name, *comment = line.split()
            if name.startswith("translations-") and len(comment) > 1:
                found[uid] = comment[1]
        return found

    def _waits_for_job(self, run: subprocess.Popen[bytes]) -> bool:
        """Wait until a job runs, and some time; False when the run has ended by itself meanwhile."""
        while run.poll() is None and not self._jobs():
            time.sleep(_LOOK_SECONDS)
        return not _has_ended(run, self.chance.uniform(0.0, self.longest_wait))

    def _disturb(self, kind: str, run: subprocess.Popen[bytes]) -> bool:
        """Have something happen; False when there is nothing it could happen to."""
        jobs = self._jobs()
        short = sorted(uid for uid, name in jobs.items() if name != LONG_CLASS)
        long = sorted(set(jobs) - set(short) - self._limited)
        if kind == "orchestrator killed":
            run.kill()
            run.wait()
        elif kind in _DAEMONS:
            self._take_daemon(_DAEMONS[kind], kill=kind == "controller killed")
        elif kind == "submission refused":
            self._refuse()
        elif kind == "job preempted":
            return self._preempt()
        elif kind in ("node drained", "node down"):
            self._take_node("DRAIN" if kind == "node drained" else "DOWN")
        elif kind == "time limit":
            if long:
                self.slurm.ask("scontrol", "update", f"JobId={long[0]}", "TimeLimit=1", check=False)
                self._limited.add(long[0])
            return bool(long)
        else:
            return bool(short) and self._end_job(kind, self.chance.choice(short))
        return True

    def _take_daemon(self, name: str, *, kill: bool) -> None:
        (self.slurm.stop if kill else self.slurm.end)(name)
        time.sleep(self.chance.uniform(0.1, 3.0))
        self.slurm.start(name)
        if kill:  # the state that was saved last may be one in which a node was drained
            nodes = ",".join(self.slurm.nodes)
            self.slurm.ask("scontrol", "update", f"NodeName={nodes}", "State=RESUME", check=False)

    def _refuse(self) -> None:
        """Have Slurm take no job for a moment: for a limit where there are any, else for its partition."""
        if self.slurm.has_accounts:
            limit = "sacctmgr -i modify account lab set MaxSubmitJobs="
            ways = f"{limit}1", f"{limit}-1"
        else:
            partition = "scontrol update PartitionName=spare State="
            ways = f"{partition}INACTIVE", f"{partition}UP"
        self.slurm.ask(*ways[0].split())
        time.sleep(self.chance.uniform(1.0, 4.0))
        self.slurm.ask(*ways[1].split())

    def _preempt(self) -> bool:
        """Take nodes' places with jobs of the better partition, for a moment."""
        before = self._preempted()
        account = ["--account=lab"] if self.slurm.has_accounts else []
        words = (
            "sbatch",
            "--parsable",
            "-p",
            "main",
            "-c1",
            "--output=/dev/null",
            *account,
            "--wrap=sleep 2",
        )
        uids = [self.slurm.ask(*words).strip() for _ in range(2)]
        happened = seconds_until(lambda: self._preempted() > before, 8.0) < 8.0
        for uid in uids:
            self.slurm.ask("scancel", uid, check=False)
        return happened

    def _preempted(self) -> int:
        return list(self.slurm.states().values()).count("PREEMPTED")

    def _take_node(self, state: str) -> None:
        node = self.chance.choice(self.slurm.nodes)
        self.slurm.ask("scontrol", "update", f"NodeName={node}", f"State={state}", "Reason=chaos")
        time.sleep(self.chance.uniform(0.5, 3.0))
        self.slurm.ask("scontrol", "update", f"NodeName={node}", "State=RESUME", check=False)

    def _end_job(self, kind: str, uid: str) -> bool:
        if kind == "job cancelled":
            self.slurm.ask("scancel", uid, check=False)
            return True
        found = processes_of(uid, "slurmstepd" if kind == "stepd killed" else "python")
        for process in found:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        return bool(found)

    def _let_end(self, run: subprocess.Popen[bytes]) -> None:
        if not _has_ended(run, _RUN_SECONDS):
            self.problems.append(f"the run does not end within {_RUN_SECONDS} s")
        elif run.returncode:
            text = self._output(self.starts).read_text(errors="replace")
            self.problems.append(f"the run failed: {text[-2000:]}")

    def _check_end(self) -> None:
        """Check the state after a run has ended by itself."""
        wanted = {step.label for step in make_graph(self.texts, self.longs).steps}
        self._complain(sorted(wanted - set(newest(self.place))), "has no result")
        self._complain(defects(self.place), "in the store")
        self.problems += begun_after_end(self.place)
        store = self.folder / "state" / "store"
        seconds_until(lambda: not self.slurm.live() and not leftovers(store), GONE_SECONDS)
        self._complain([f"job {uid}" for uid in self.slurm.live()], "is left at the end")
        self._complain(leftovers(store), "is left at the end")
        self.lost = sum(made.attempt - 1 for made in newest(self.place).values())
        if set(self.kinds) <= {*HARMLESS, ACCOUNTING}:
            again = [label for label, made in newest(self.place).items() if made.attempt > 1]
            self._complain(again, "was made again without need")
        for start in range(1, self.starts + 1):
            self._read(self._output(start).read_text(errors="replace"))

    def _read(self, text: str) -> None:
        told = re.findall(r"the worker has a bug.*|Traceback.*", text)
        self._complain(told, "stands in a run's output")
        for reason in re.findall(r"^\S+ \S+ (?:retry|failed): (.*)$", text, re.MULTILINE):
            self.reasons[re.sub(r"\d+", "N", reason)[:90]] += 1

    def _complain(self, things: list[str], what: str) -> None:
        self.problems += [f"{thing} {what}" for thing in things]


def make_on_one_machine(folder: Path, texts: int = TEXTS, longs: int = LONGS) -> Place:
    """A place in which a run's steps were made on this machine, undisturbed."""
    write_settings(folder, None, texts, longs)
    subprocess.run(command(folder), stdout=subprocess.DEVNULL, check=True)
    return Place(folder)


def processes_of(uid: str, program: str) -> list[psutil.Process]:
    """The processes of a job on its nodes that have a name: its `slurmstepd`, or the worker's `python`."""
    found = []
    for process in psutil.process_iter(["name", "cmdline"]):
        line = " ".join(process.info["cmdline"] or ())
        if process.info["name"] == "slurmstepd" and f"[{uid}." in line:
            with suppress(psutil.NoSuchProcess):
                family = process.children(recursive=True) if program != "slurmstepd" else [process]
                found += [each for each in family if each.name().startswith(program)][:1]
    return found


def _has_ended(run: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        run.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True
