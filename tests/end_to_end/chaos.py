"""Disturbs a run of the tiny pair on a cluster at random moments, and looks at what comes of it."""

from __future__ import annotations

import random
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from tests.end_to_end.evidence import defects, graph_of, repeated, results, seconds_until
from tests.end_to_end.on_cluster import ClusterPlace
from tests.end_to_end.tiny import BIN, PARTITION
from tests.kube.cluster import NODES
from tests.store.faults import Fault
from tests.store.gcs_server import BUCKET

EVENTS = (
    "pod killed",
    "store away",
    "pod evicted",
    "orchestrator killed",
    "pod preempted",
    "API server restarted",
    "node removed",
)
GONE_SECONDS = 120.0  # in which the pods of Jobs that are no longer wanted have gone
_RUN_SECONDS = 1800.0
_LOOK_SECONDS = 0.05


@dataclass
class Chaos:
    """Runs of a place that are disturbed, and started again when they end before all is made.

    events        kinds of what happens, in turn
    longest_wait  seconds until the next event, once a pod runs
    gave_up       runs that ended because a step had used up its attempts
    """

    place: ClusterPlace
    target: str
    chance: random.Random
    events: Iterator[str]
    longest_wait: float = 6.0
    happened: Counter[str] = field(default_factory=Counter)
    starts: int = 0
    gave_up: int = 0
    problems: list[str] = field(default_factory=list)
    _before: int = 0

    def run(self, times: int) -> int:
        """Have so many events happen at most, then let the run end; how many it were."""
        done, run = 0, self._start()
        kept = set(self._finished())
        try:
            while done < times:
                if not self._pod_at_random_moment(run):
                    if run.returncode == 0 or self._is_hopeless():
                        break
                    self.gave_up += 1
                    run = self._start()
                    continue
                kind = next(self.events)
                if kind == "orchestrator killed":
                    run.kill()
                    run.wait()
                    run = self._start()
                elif not self._disturb(kind):
                    continue
                done += 1
                self.happened[kind] += 1
                kept = self._check_kept(kept)
            self._let_end(run)
        finally:
            run.kill()
            run.wait()
        self._check_end()
        return done

    def _start(self) -> subprocess.Popen[bytes]:
        self.starts += 1
        command = [str(BIN / "translations"), "train", PARTITION, "--yes", "--target", self.target]
        with (self.place.root / f"output-{self.starts}.txt").open("wb") as output:
            return subprocess.Popen(
                command,
                env=self.place.environment,
                cwd=self.place.root,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _is_hopeless(self) -> bool:
        """True if a run failed although nothing has happened since it began."""
        before, self._before = self._before, self.happened.total()
        return self.gave_up > 0 and before == self._before

    def _output(self) -> str:
        path = self.place.root / f"output-{self.starts}.txt"
        return path.read_text(encoding="utf-8", errors="replace")

    def _pods(self) -> list[str]:
        return self.place.site.cluster.live_pods(self.place.site.namespace)

    def _pod_at_random_moment(self, run: subprocess.Popen[bytes]) -> bool:
        """Wait until a pod runs, and some time; False when the run has ended by itself meanwhile."""
        while not self._pods() and run.poll() is None:
            time.sleep(_LOOK_SECONDS)
        return not _has_ended(run, self.chance.uniform(0.0, self.longest_wait))

    def _disturb(self, kind: str) -> bool:
        """Have something happen; False when there is nothing it could happen to."""
        site, pods = self.place.site, self._pods()
        if kind == "store away":
            site.bucket.faults.append(Fault("status", times=self.chance.randrange(5, 60)))
        elif kind == "API server restarted":
            with site.cluster.api_away(self.chance.uniform(0.1, 4.0)):
                pass
        elif not pods:
            return False
        else:
            with suppress(KeyError):  # it has just ended by itself
                self._end_pod(kind, self.chance.choice(pods))
        return True

    def _end_pod(self, kind: str, pod: str) -> None:
        cluster = self.place.site.cluster
        if kind == "node removed":
            name = cluster.node_of(pod)
            cluster.remove_node(name, notice=self.chance.choice([0.0, 5.0]))
            cluster.add_node(next(node for node in NODES if node.name == name))
        elif kind == "pod preempted":
            cluster.preempt(pod)
        elif kind == "pod evicted":
            cluster.evict(pod)
        else:
            cluster.kill(pod)

    def _let_end(self, run: subprocess.Popen[bytes]) -> None:
        """Let a run end undisturbed, once more when a step has used up its attempts."""
        self.place.site.bucket.faults.clear()
        for last in (False, True):
            if not _has_ended(run, _RUN_SECONDS):
                self.problems.append(f"the run does not end within {_RUN_SECONDS} s")
            elif run.returncode and last:
                self.problems.append(f"the last run failed: {self._output()[-2000:]}")
            elif run.returncode:
                self.gave_up += 1
                run = self._start()
                continue
            return

    def _finished(self) -> list[str]:
        """The manifests in the bucket, each with its object's generation: a finished step's never change."""
        storage, prefix = self.place.site.bucket.storage, f"{self.place.site.namespace}/steps/"
        objects = dict(storage.objects.get(BUCKET, {}))
        return [f"{name} {value['generation']}" for name, value in objects.items() if name.startswith(prefix)]

    def _check_kept(self, kept: set[str]) -> set[str]:
        now = set(self._finished())
        self._complain(sorted(kept - now), "was finished, and changed")
        return now

    def _check_end(self) -> None:
        """Check the state after a run has ended by itself."""
        graph, site = graph_of(self.place), self.place.site
        stages = graph.stage_closure([self.target] if self.target != "all" else graph.stages)
        wanted = {step.label for stage in stages for step in graph.stages[stage]}
        self._complain(sorted(wanted - set(results(self.place))), "has no result")
        self._complain(defects(self.place), "in the store")
        self._complain(repeated(self.place), "although finished")
        looks: dict[str, Callable[[], list[str]]] = {
            "job": site.unfinished_jobs,
            "pod": self._pods,
            "lease": lambda: self._objects("leases/"),
            "checkpoint": lambda: self._objects("checkpoints/"),
        }
        seconds_until(lambda: not any(look() for look in looks.values()), GONE_SECONDS)
        for what, look in looks.items():
            self._complain([f"the {what} {name}" for name in look()], "is left at the end")

    def _objects(self, folder: str) -> list[str]:
        prefix = f"{self.place.site.namespace}/{folder}"
        return [name for name in self.place.site.bucket.names() if name.startswith(prefix)]

    def _complain(self, things: list[str], what: str) -> None:
        self.problems += [f"{thing} {what}" for thing in things]


def _has_ended(run: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        run.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True
