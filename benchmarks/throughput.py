"""The speed and cost of many short steps on a cluster: engine and runner as in production.

    python -m benchmarks.throughput
    python -m benchmarks.throughput --steps 10000

The cluster's pods are simulated, in a process of their own. The orchestrator's store is a bucket in its
memory that takes its time to answer; a thread puts into it what pods make. It has results for an earlier
config, with which the steps are compared.
Prints the pods at once and in all and the time beside the least possible, and what the orchestrator used for
each step: CPU, requests to the cluster's API and to the store; and its memory.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import resource
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partialmethod
from pathlib import Path
from queue import Queue
from typing import Any

from benchmarks.simulated_cluster import NAMESPACE, OUTPUT, Made, SimulatedCluster, keep
from benchmarks.thousand_steps import MadeUpRunner
from benchmarks.timing import processor_seconds
from tests.memory_store import MemoryObjects
from tests.runners.scripts import COPY, job
from translations_assets.common.settings import repository_root
from translations_assets.config.deployment import Kubernetes
from translations_assets.config.load import parse_config
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import Stage, build_graph, stage, step
from translations_assets.keys.key import KeyMaker
from translations_assets.runners.control import Control
from translations_assets.runners.kubernetes.runner import KubernetesRunner
from translations_assets.runners.wire import Request
from translations_assets.runners.worker import make_attempt
from translations_assets.running.attempts import Explain
from translations_assets.running.engine import Engine
from translations_assets.running.events import Started, StepEvent
from translations_assets.running.job import Outcome
from translations_assets.running.session import Session
from translations_assets.stages import STAGES
from translations_assets.store.bucket.store import BucketStore
from translations_assets.why.explain import Explainer, candidates
from translations_assets.why.history import History

MEGABYTE = 1 << 20
ATTEMPTS = 10  # of the worker
STAGE, PARTITION, SPACE = "split", "en-ru.small", "benchmark"
CONFIG = """\
experiment:
  {{name: {name}, src: en, trg: ru, spm-vocab-size: {size}, teacher-ensemble: {teachers}, best-model: {best}}}
datasets: {{train: [opus_ParaCrawl/{corpus}], devtest: [flores_dev], test: [flores_devtest]}}
"""
EARLIER = {"name": "first", "size": 16000, "teachers": 1, "best": "chrf", "corpus": "v8"}
NOW = {"name": "second", "size": 32000, "teachers": 2, "best": "bleu-detok", "corpus": "v9"}


@dataclass(frozen=True)
class Load:
    """Work to do: so many steps, each so long, so many a pod, and so many pods at once."""

    steps: int
    seconds: float
    steps_per_pod: int
    max_jobs: int

    @property
    def pods(self) -> int:
        """The fewest pods that do it without waiting for each other where they need not."""
        return max(math.ceil(self.steps / self.steps_per_pod), min(self.max_jobs, self.steps))

    @property
    def ideal(self) -> float:
        """The least time in which they do it."""
        return math.ceil(self.steps / self.max_jobs) * self.seconds


@dataclass(frozen=True)
class Cost:
    """Resources of the orchestrator: seconds, CPU seconds, bytes of memory before and at peak, requests."""

    seconds: float
    first: float
    cpu: float
    before: int
    memory: int
    requests: Counter[str]


class CountedObjects(MemoryObjects):
    """A bucket in this process that counts what it is asked, and takes a bucket's time to answer.

    latency  seconds that each request takes
    """

    def __init__(self) -> None:
        super().__init__()
        self.latency = 0.0
        self.requests: Counter[str] = Counter()
        self._inner = threading.local()

    @property
    def url(self) -> str:
        """As if it was a bucket that pods can open."""
        return "gs://simulated/store"

    def do_not_count(self) -> None:
        """Count nothing that the calling thread asks for, and answer it at once."""
        self._inner.busy = True

    def ask(self, name: str, *given: Any, **options: Any) -> Any:
        """Make a request; what the memory asks of itself for it is none."""
        if getattr(self._inner, "busy", False):
            return getattr(MemoryObjects, name)(self, *given, **options)
        self._inner.busy = True
        try:
            self.requests[name] += 1
            time.sleep(self.latency)
            return getattr(MemoryObjects, name)(self, *given, **options)
        finally:
            self._inner.busy = False


for _name in ("read", "replace", "write", "delete", "touch", "stat", "walk", "folder"):
    setattr(CountedObjects, _name, partialmethod(CountedObjects.ask, _name))


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=2000, help="how many steps")
    parser.add_argument("--seconds", type=float, default=3.0, help="what each takes")
    parser.add_argument("--steps-per-pod", type=int, default=10, help="as in the deployment file")
    parser.add_argument("--max-jobs", type=int, default=200, help="pods at once")
    parser.add_argument("--start", type=float, default=0.0, help="seconds until a pod runs")
    parser.add_argument("--latency", type=float, default=0.03, help="seconds a request to the store")
    options = parser.parse_args()
    load = Load(options.steps, options.seconds, options.steps_per_pod, options.max_jobs)
    spawn = multiprocessing.get_context("spawn")
    with (
        tempfile.TemporaryDirectory() as folder,
        spawn.Manager() as manager,
        ProcessPoolExecutor(1, mp_context=spawn) as pool,
    ):
        made: Queue[Made] = manager.Queue()
        cluster = SimulatedCluster(made.put, load.seconds, options.start)
        (Path(folder) / "kubeconfig").write_text(cluster.kubeconfig)
        cost = pool.submit(orchestrate, load, Path(folder), options.latency, made).result()
        worker = pool.submit(work, Path(folder)).result()
    cluster.close()
    show(load, cluster, cost)
    n, cpu = worker.requests.total() / ATTEMPTS, worker.cpu / ATTEMPTS * 1000
    print(f"worker: {cpu:.0f} ms of CPU a step, Python's start for its script among it;")
    print(f"    {n:.1f} requests to the store ({_kinds(worker.requests)} for {ATTEMPTS} steps)")


def show(load: Load, cluster: SimulatedCluster, cost: Cost) -> None:
    """Print it."""
    api, store = cluster.requests, cost.requests
    n = load.steps
    print(
        f"{n:,} steps of {load.seconds:g} s, {load.steps_per_pod} a pod, at most {load.max_jobs} pods at once"
    )
    print(f"pods at once: {cluster.most} (bar: {min(load.max_jobs, n)})")
    print(f"pods in all: {cluster.pods}, {cluster.pods / load.pods:.2f} x the fewest (bar: 1.2 x)")
    times = cost.seconds / load.ideal
    print(f"time: {cost.seconds:.0f} s, {times:.1f} x the ideal {load.ideal:.0f} s (bar: 2 x)")
    print(f"until the first step has started: {cost.first:.1f} s")
    print(f"orchestrator: {cost.cpu / n * 1000:.1f} ms of CPU a step")
    before, memory = cost.before / MEGABYTE, cost.memory / MEGABYTE
    print(f"    {memory:.0f} MB at most, {before:.0f} MB before it began (bar: 500 MB at 10,000 steps)")
    print(f"requests to the API a step: {api.total() / n:.2f} ({_kinds(api)})")
    print(f"requests to the store a step: {store.total() / n:.2f} ({_kinds(store)})")


def _kinds(requests: Counter[str]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in requests.most_common())


def stages(steps: int) -> dict[str, Stage]:
    """A stage of steps that need nothing of each other."""

    @stage(group="benchmark")
    def split(config: TrainingConfig) -> None:
        """Steps that depend on the config and on nothing else."""
        for number in range(steps):
            step(
                "pipeline.data.parallel_url",
                label=f"step-{number}",
                args={"dataset": f"{number}.zst", "src": str(config.experiment.spm_vocab_size)},
                outputs=[OUTPUT],
            )

    return {STAGE: split}


def remember_earlier_run(store: BucketStore, steps: int) -> None:
    """A run of another training config, whose artifacts the steps are compared with."""
    session = new_session("run-0", store, CONFIG.format(**EARLIER), steps)
    Engine(store, MadeUpRunner()).run(session, session.graph.steps, threading.Event(), lambda event: None)
    session.results.publish(STAGE)
    session.end()


def new_session(run: str, store: BucketStore, text: str, steps: int) -> Session:
    """A run of all steps."""
    assert STAGES  # imported: a config names stages
    config = parse_config(text, "small.yml")
    graph = build_graph(config, stages(steps))
    return Session(run, PARTITION, SPACE, lambda: config, graph, store, KeyMaker(repository_root()))


def explaining(session: Session) -> Explain:
    """Says why steps run, as a project does."""
    history = History(session.store, SPACE, PARTITION)
    steps = len(session.graph.steps)
    explainer = Explainer(
        session.config, session.keys, history, lambda config: build_graph(config, stages(steps))
    )
    return lambda _, step, parts: explainer.explain(step, parts, candidates(steps)).reasons


def keep_all(objects: CountedObjects, made: Queue[Made]) -> None:
    """Put what pods make into the bucket, as it comes."""
    objects.do_not_count()
    store = BucketStore(objects)
    while True:
        keep(store, made.get())


def orchestrate(load: Load, folder: Path, latency: float, made: Queue[Made]) -> Cost:
    """Run the steps, in a process of its own."""
    objects, kubeconfig = CountedObjects(), folder / "kubeconfig"
    threading.Thread(target=keep_all, args=(objects, made), daemon=True).start()
    store = BucketStore(objects)
    remember_earlier_run(store, load.steps)
    session = new_session("run-1", store, CONFIG.format(**NOW), load.steps)
    kubernetes = Kubernetes.model_validate(
        {
            "image": "registry.example/worker",
            "tag": "1",
            "namespace": NAMESPACE,
            "max-jobs": load.max_jobs,
            "worker-classes": {"cpu": {"steps-per-pod": load.steps_per_pod}},
        }
    )
    runner = KubernetesRunner(kubernetes, repository_root(), kubeconfig, lambda label, line: None)
    engine = Engine(store, runner, explain=explaining(session))
    objects.requests.clear()
    objects.latency = latency
    before, cpu, began = _memory(), time.process_time(), time.monotonic()
    first: list[float] = []

    def listen(event: StepEvent) -> None:
        if not first and isinstance(event.what, Started):
            first.append(time.monotonic() - began)

    engine.run(session, session.graph.steps, threading.Event(), listen)
    seconds = time.monotonic() - began
    runner.close()
    return Cost(seconds, first[0], time.process_time() - cpu, before, _memory(), objects.requests)


def work(folder: Path) -> Cost:
    """Make attempts of a small step as a pod's worker does."""
    objects = CountedObjects()
    store = BucketStore(objects)
    steps = [job(store, COPY, key=f"{number:064x}") for number in range(ATTEMPTS)]
    objects.requests.clear()
    began, cpu = time.monotonic(), processor_seconds()
    control = Control()
    for one in steps:
        request = Request(one, store.url, str(folder / "work"), threads=1, gpus=(), workspace=512, memory=500)
        outcome = make_attempt(request, lambda: store, control, None)
        assert isinstance(outcome, Outcome), outcome
        assert outcome.kind == "done", outcome
        control.next_job()
    seconds = time.monotonic() - began
    return Cost(seconds, seconds, processor_seconds() - cpu, _memory(), _memory(), objects.requests)


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main()
