"""Needs of each step of a graph, by the rates: time, memory, disk."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from kubernetes.utils.quantity import parse_quantity

from benchmarks.scale.flow import TRAINING, Flow, flows
from benchmarks.scale.pair import WORDS
from benchmarks.scale.rates import (
    BACKWARDS_FASTER,
    BEST,
    GB,
    MB,
    MODELS,
    OTHERS,
    SAVE,
    START_SECONDS,
    GpuRate,
    Rate,
    Rates,
    Training,
)
from translations_assets.config.deployment import Kubernetes, WorkerClass, WorkerClassName
from translations_assets.graph.graph import Graph
from translations_assets.graph.step import Step

SCRIPT_SHARE = 0.9  # of a pod's memory, as the worker grants it
MODEL_PAIRS = 160e6  # that `Training.passes` is of
SAVING = 300.0  # seconds of work that a step loses which goes on: docs/decisions/0009-step-sizes.md


@dataclass(frozen=True)
class Machine:
    """A pod of a worker class: cores, bytes of memory and of disk, GPUs."""

    name: WorkerClassName
    cores: float
    memory: float
    disk: float
    gpus: int

    @classmethod
    def of(cls, kubernetes: Kubernetes, name: WorkerClassName) -> Machine:
        """The pods of a class, as the deployment file describes them; infinite where it says nothing."""
        worker_class = kubernetes.worker_classes[name]
        resources = _pod(worker_class, "container_config").get("resources", {})
        memory = resources.get("limits", {}).get("memory")
        return cls(
            name,
            float(parse_quantity(resources.get("requests", {}).get("cpu", 1))),
            float(parse_quantity(memory)) if memory else math.inf,
            _disk(kubernetes, worker_class),
            worker_class.gpus,
        )


def _pod(worker_class: WorkerClass, key: str) -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    return worker_class.pod.get(key, {})  # type: ignore[call-overload, no-any-return]


def _disk(kubernetes: Kubernetes, worker_class: WorkerClass) -> float:
    """Bytes of the disk that pods have of their own, the class's or everybody's; infinite without one."""
    for pod in (worker_class.pod, kubernetes.pod):
        for volume in pod.get("pod_spec_config", {}).get("volumes", ()):
            claim = volume.get("ephemeral", {}).get("volumeClaimTemplate", {}).get("spec", {})
            if size := claim.get("resources", {}).get("requests", {}).get("storage"):
                return float(parse_quantity(size))
    return math.inf


@dataclass(frozen=True)
class Need:
    """Cost of an attempt of a step on its machine.

    preparing  seconds before its work, in every attempt: start, download, what is made anew each time
    working    seconds of its work, which may go on where it was
    storing    seconds in which its outputs are stored
    busy       the share of its work in which its GPUs compute
    keeps      seconds of work that an interruption loses at most; None: all of it
    memory, disk  bytes at the peak
    """

    preparing: float
    working: float
    storing: float
    busy: float
    keeps: float | None
    memory: float
    disk: float
    stored: float

    @property
    def seconds(self) -> float:
        """Of a whole attempt."""
        return self.preparing + self.working + self.storing


def needs(graph: Graph, kubernetes: Kubernetes, rates: Rates) -> dict[Step, Need]:
    """The need of every step on the machine that the deployment gives it."""
    return {
        step: _need(step, flow, Machine.of(kubernetes, class_of(kubernetes, step)), rates)
        for step, flow in flows(graph).items()
    }


def class_of(kubernetes: Kubernetes, step: Step) -> WorkerClassName:
    """The worker class of a step in this deployment."""
    return kubernetes.class_of(step.stage, step.worker)


def _need(step: Step, flow: Flow, machine: Machine, rates: Rates) -> Need:
    rate = rates.scripts.get(step.script, OTHERS)
    resumes = step.resumable if rates.resumes is None else step.script in rates.resumes
    keeps = SAVING if resumes else None
    preparing, scratch, busy = START_SECONDS + flow.read / rates.network, 0.0, 0.0
    if step.script == TRAINING:
        training = rates.trainings[_kind(step)]
        keeps = training.saved
        working, busy = _train(training, flow.lines, machine, rates)
        preparing += flow.lines * rates.feed.preparing / 1e6
        scratch = flow.lines * rates.feed.scratch + _saves(step, working / training.saved, rates)
        memory = 16 * GB
    elif isinstance(rate, GpuRate) and machine.gpus:
        words = rate.words * (BACKWARDS_FASTER if step.stage == "translate_mono_trg" else 1.0)
        working, busy = flow.lines * WORDS / words, 1.0
        memory, scratch = rate.memory * MB, flow.lines * rate.scratch
    elif isinstance(rate, GpuRate):  # evaluations of quantised models, on a CPU
        working, memory = flow.lines * WORDS / (rate.words * machine.cores), rate.memory * MB
    else:
        working, memory = _compute(rate, flow.lines, machine, rates.node_cores)
        scratch = flow.lines * rate.scratch
    storing, disk = flow.written / rates.network, flow.read + flow.written + scratch
    return Need(preparing, working, storing, busy, keeps, memory, disk, flow.written)


def _kind(step: Step) -> str:
    """`train-teacher-en-ru-1` is a teacher."""
    verb, model = step.label.split("-")[:2]
    return verb if verb == "finetune" else model


def _train(training: Training, lines: float, machine: Machine, rates: Rates) -> tuple[float, float]:
    """Seconds, and the share in which the GPUs compute: they wait where the feed is slower."""
    doublings = math.log2(max(1, machine.gpus))
    able = training.words * machine.gpus * rates.more_gpus**doublings
    words = min(able, rates.feed.words * machine.cores, rates.feed.most)
    passes = training.passes * math.sqrt(MODEL_PAIRS / lines)
    return lines * WORDS * passes / words, words / able


def _saves(step: Step, number: float, rates: Rates) -> float:
    """Bytes of the saves that stand on a training's disk, of so many in all."""
    weights = MODELS[step.label.split("-")[1], "model.npz"]
    at_once = number if rates.saves is None else min(number, rates.saves)
    return (SAVE * at_once + BEST) * weights


def _compute(rate: Rate, lines: float, machine: Machine, node_cores: int | None) -> tuple[float, float]:
    """Seconds, and bytes of memory."""
    worked = min(lines, rate.most)
    cores, memory = min(rate.cores, machine.cores), rate.memory * MB + rate.grows * worked
    if rate.each:
        fitting = machine.memory * SCRIPT_SHARE // (rate.each * MB)
        processes = max(1, min(machine.cores // 2, fitting) if node_cores is None else node_cores // 2)
        cores, memory = min(cores, 2 * processes), memory + processes * rate.each * MB
    return (worked * rate.cpu / cores + (lines - worked) * rate.drawing) / 1e6, memory
