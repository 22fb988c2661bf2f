"""A production run of full size, simulated, and what it took."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from unittest import mock

from kubernetes.utils.quantity import parse_quantity

from benchmarks.scale.cluster import NEVER, Conditions, Pod, SimulatedCluster
from benchmarks.scale.needs import Machine, Need, class_of, needs
from benchmarks.scale.pair import Pair
from benchmarks.scale.rates import Rates
from tests.memory_store import MemoryObjects
from tests.virtual_clock import VirtualClock
from translations_assets.common.errors import StepFailed
from translations_assets.common.settings import repository_root
from translations_assets.config.deployment import Costs, Deployment, Kubernetes, WorkerClassName
from translations_assets.config.load import parse_config
from translations_assets.configs.generate import parts_of
from translations_assets.graph.stage import build_graph
from translations_assets.graph.step import Step
from translations_assets.keys.key import KeyMaker
from translations_assets.running import engine, record_writer
from translations_assets.running.session import Session
from translations_assets.stages import STAGES
from translations_assets.store.bucket.store import BucketStore

PARTITION, SPACE = "en-ru.production", "benchmark"
MOST_RUNS = 20  # of a pair whose steps have failed


class _Store(BucketStore):
    rewrite_seconds = 0.0  # nothing is written by others


@dataclass(frozen=True)
class Misfit:
    """A step that does not fit its pod: how much it needs of what the pod has less of."""

    label: str
    stage: str
    worker_class: str
    what: str
    needed: float
    given: float

    def __str__(self) -> str:
        return f"{self.label} ({self.worker_class}): {self.what} {self.needed:,.0f} of {self.given:,.0f}"


@dataclass(frozen=True)
class Paid:
    """Bill for the pods of a worker class.

    at_once       the most that there were
    disk, memory  the most that a step needs, bytes
    """

    pods: int
    at_once: int
    hours: float
    money: float
    kwh: float
    disk: float
    memory: float


@dataclass(frozen=True)
class Production:
    """Cost of a simulated run.

    hours       from its beginning to its end
    runs        how often it was begun, as steps failed whose machines were taken away too often
    gpu_hours   that were paid; gpu_busy: in which GPUs computed
    stored      bytes of all results
    """

    steps: int
    hours: float
    runs: int
    pods: tuple[Pod, ...]
    by_class: Mapping[WorkerClassName, Paid]
    gpu_hours: float
    gpu_busy: float
    stored: float
    misfits: tuple[Misfit, ...]
    began: float

    @property
    def money(self) -> float:
        """Of all pods."""
        return sum(paid.money for paid in self.by_class.values())

    @property
    def kwh(self) -> float:
        """Of all pods."""
        return sum(paid.kwh for paid in self.by_class.values())

    @property
    def idle(self) -> float:
        """The share of the paid GPU hours in which GPUs did not compute."""
        return 1 - self.gpu_busy / self.gpu_hours if self.gpu_hours else 0.0

    def begun(self, stage: str) -> float:
        """Hours from the beginning to a stage's first pod."""
        return (min(pod.begun for pod in self.pods if pod.stage == stage) - self.began) / 3600

    def ended(self, stage: str) -> float:
        """Hours from the beginning to the end of a stage's last pod."""
        return (max(pod.ended for pod in self.pods if pod.stage == stage) - self.began) / 3600

    @property
    def preemptions(self) -> int:
        """Machines that were taken away."""
        return sum(pod.preempted for pod in self.pods)


def with_gpus(deployment: Deployment, gpus: int) -> Deployment:
    """The deployment whose trainings take so many GPUs, with the cores, memory and price of each as now."""
    changed = deployment.model_dump()
    large = changed["kubernetes"]["worker_classes"]["large-gpu"]
    times, large["gpus"] = gpus / large["gpus"], gpus
    for given in large["pod"]["container_config"]["resources"].values():
        given.update({name: str(int(float(parse_quantity(value)) * times)) for name, value in given.items()})
    price = changed["costs"]["worker_classes"]["large-gpu"]
    price.update({name: value * times for name, value in price.items() if value is not None})
    return Deployment.model_validate(changed, by_name=True)


def as_before(deployment: Deployment) -> Deployment:
    """The example as it was: less disk and time, and a pod of its own for every test set.

    Of quantised models, too, each with a GPU.
    """
    changed = deployment.model_dump()
    stages, classes = changed["kubernetes"]["stages"], changed["kubernetes"]["worker_classes"]
    changed["kubernetes"]["max_preemptions"], classes["gpu"]["max_hours"] = 3, 24.0
    for worker_class in classes.values():
        for volume in worker_class["pod"]["pod_spec_config"]["volumes"]:
            claim = volume["ephemeral"]["volumeClaimTemplate"]["spec"]
            claim["resources"] = {"requests": {"storage": "200Gi"}}
    for name, stage in stages.items():
        if "evaluat" in name:
            stage["steps_per_pod"] = 1
    stages["evaluate_quantized"] = {"worker_class": "gpu", "steps_per_pod": 1}
    return Deployment.model_validate(changed, by_name=True)


def chunks(pair: Pair, rates: Rates) -> int:
    """The parts that texts are divided into."""
    return rates.parts or parts_of((pair.parallel, pair.mono))


@cache
def _keys() -> KeyMaker:
    return KeyMaker(repository_root())


def simulate(pair: Pair, deployment: Deployment, rates: Rates, conditions: Conditions) -> Production:
    """Run a pair's whole graph in virtual time. Raises StepFailed when steps fail, however often begun."""
    if rates.old_example:
        deployment = as_before(deployment)
    kubernetes, costs = deployment.kubernetes, deployment.costs
    assert kubernetes
    assert costs
    config = parse_config(pair.config(chunks(pair, rates)), "production.yml")
    graph = build_graph(config, STAGES)
    needed = needs(graph, kubernetes, rates)
    clock = VirtualClock()
    cluster = SimulatedCluster(kubernetes, graph, needed, conditions, clock)
    began, runs = clock.monotonic(), 0
    store, keys = _Store(MemoryObjects()), _keys()
    while True:
        runs += 1
        try:
            # Nobody cancels it, so nobody looks; nobody else sees whether it lives.
            with (
                mock.patch.object(engine, "LOOK_SECONDS", NEVER),
                mock.patch.object(record_writer, "HEARTBEAT_SECONDS", NEVER),
            ):
                going = Session(
                    f"run-{runs}", PARTITION, SPACE, lambda: config, graph, store, keys, clock=clock
                )
                work = engine.Engine(store, cluster, clock=clock)
                work.run(going, graph.steps, threading.Event(), lambda event: None)
            break
        except StepFailed:
            if runs == MOST_RUNS:
                raise
    return Production(
        steps=len(graph.steps),
        hours=(clock.monotonic() - began) / 3600,
        runs=runs,
        pods=tuple(cluster.pods),
        by_class={
            name: _paid(name, cluster.pods, needed, kubernetes, costs) for name in kubernetes.worker_classes
        },
        gpu_hours=sum(pod.hours * pod.gpus for pod in cluster.pods),
        gpu_busy=sum(pod.computing * pod.gpus for pod in cluster.pods) / 3600,
        stored=sum(need.stored for need in needed.values()),
        misfits=tuple(misfits(needed, kubernetes)),
        began=began,
    )


def _paid(
    name: WorkerClassName, pods: list[Pod], needed: Mapping[Step, Need], kubernetes: Kubernetes, costs: Costs
) -> Paid:
    own = [pod for pod in pods if pod.worker_class == name]
    price = costs.worker_classes[name]
    spot = price.price if price.spot_price is None else price.spot_price
    hours = sum(pod.hours for pod in own)
    mine = [need for step, need in needed.items() if class_of(kubernetes, step) == name]
    return Paid(
        len(own),
        max((sum(other.begun <= pod.begun < other.ended for other in own) for pod in own), default=0),
        hours,
        sum(pod.hours * (spot if pod.machine == "spot" else price.price) for pod in own),
        hours * price.watts / 1000,
        max((need.disk for need in mine), default=0.0),
        max((need.memory for need in mine), default=0.0),
    )


def misfits(needed: Mapping[Step, Need], kubernetes: Kubernetes) -> Iterator[Misfit]:
    """Yield the steps that do not fit their pods."""
    for step, need in needed.items():
        machine = Machine.of(kubernetes, class_of(kubernetes, step))
        limit = kubernetes.hours_of(step.stage, step.worker)
        for what, wanted, given in (
            ("GB of memory", need.memory / 1e9, machine.memory / 1e9),
            ("GB of disk", need.disk / 1e9, machine.disk / 1e9),
            ("hours", need.seconds / 3600, limit),
        ):
            if wanted > given:
                yield Misfit(step.label, step.stage, machine.name, what, wanted, given)
