"""The deployment file: where steps run and where artifacts live, for everybody who uses this installation.

None of it is part of a step's key: moving to other machines runs nothing again. `TRANSLATIONS_DEPLOYMENT`
names the file; without it everything runs on this machine.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from translations_assets.config.load import validated
from translations_assets.config.section import FROM_LIST, Section, Texts, default, formed
from translations_assets.config.stage_names import meant_stage, stage_names
from translations_assets.config.text import read_text
from translations_assets.config.yaml_reader import Found, mapping_at, read_yaml

WorkerClassName: TypeAlias = Literal["cpu", "large-cpu", "gpu", "large-gpu"]
Machine: TypeAlias = Literal["spot", "standard"]
# The parts of Dagster's `dagster-k8s/config` that say something of a pod
PodKey: TypeAlias = Literal[
    "container_config",
    "pod_spec_config",
    "pod_template_spec_metadata",
    "job_config",
    "job_metadata",
    "job_spec_config",
    "merge_behavior",
]
PodConfig: TypeAlias = Mapping[PodKey, Any]
SecretReference: TypeAlias = Annotated[
    str, formed("[^/]+/[^/]+", "must be `secret/key`, the name of a secret and of a key in it, not {!r}")
]
Owner: TypeAlias = Annotated[
    str,
    formed(
        r"team:[\w-]+|[^@\s]+@[^@\s]+\.[^@\s]+", "must be an address of mail, or `team:` and a name, not {!r}"
    ),
]
Owners: TypeAlias = Annotated[tuple[Owner, ...], FROM_LIST]
Positive: TypeAlias = Annotated[int, Field(ge=1)]
Folder: TypeAlias = Annotated[str, formed("/.*", "must be an absolute path, not {!r}")]
LevelName: TypeAlias = Annotated[
    str, formed("[a-z][a-z0-9-]*", "must be lower-case letters, digits and `-`, not {!r}")
]
ObjectName: TypeAlias = Annotated[
    str, formed(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?", "must be the name of an object of the cluster, not {!r}")
]
Options: TypeAlias = Annotated[
    tuple[Annotated[str, formed(r"-\S.*", "must begin with `-`, as an option of sbatch, not {!r}")], ...],
    FROM_LIST,
]

UNSAVED_MINUTES = 60.0
_CLUSTERS = {"kubernetes": "pods", "slurm": "jobs"}  # runner → what needs the store
_POD = "what pods get, as the values of Dagster's tag `dagster-k8s/config`"


class ClusterClass(Section):
    """The machines of one worker class, on whatever cluster."""

    gpus: int = default(0, "GPUs of a pod, or of a job", ge=0)
    max_jobs: Positive | None = default(None, "pods or jobs of this class at once")
    max_hours: float = default(168.0, "time an attempt may take; with it the pod or job ends", gt=0)

    def machine_for(self, asked: str) -> Machine:
        """The kind of machines for `spot` or `standard`, or "" for the class's own choice."""
        return "standard"


class WorkerClass(ClusterClass):
    """The machines of one worker class on Kubernetes."""

    pod: PodConfig = default({}, _POD)
    spot: PodConfig | None = default(None, "added on machines that may be taken away; null if there are none")
    standard: PodConfig | None = default({}, "added on machines that stay; null where there are none")
    machine: Machine = default("standard", "where the training config names none")
    steps_per_pod: Positive = default(1, "steps of one stage, ready at the same time, that share a pod")
    queue: ObjectName | None = default(None, "local queue of Kueue, which begins the jobs when it has room")
    priority_class: ObjectName | None = default(None, "priority class of the pods")

    def machine_for(self, asked: str) -> Machine:
        """The machines for `spot` or `standard`, or "" for the class's own choice; none that it has not."""
        if self.spot is None:
            return "standard"
        return "spot" if (asked or self.machine) == "spot" or self.standard is None else "standard"


class MachinePrice(Section):
    """The price of the pods of a worker class, with all that is in them."""

    price: float = default(0.0, "of an hour, in the currency", ge=0)
    spot_price: float | None = default(None, "of an hour on machines that may be taken away", ge=0)
    watts: float = default(0.0, "drawn at work, with the pod's share of the machine and of cooling", ge=0)


class ServicePrice(Section):
    """The price of a service's model, by tokens, or by characters of the text."""

    read: float = default(0.0, "of a million tokens that it reads, in the currency", ge=0)
    written: float = default(0.0, "of a million tokens that it writes", ge=0)
    characters: float = default(0.0, "of a million characters, in place of tokens", ge=0)


class Costs(Section):
    """Prices of machines and of services, from which plans and reports compute money and energy."""

    currency: str = default("USD", "of all prices")
    models: Mapping[str, ServicePrice] = default(
        {}, "prices of services, by the model that an endpoint names; `google`, `microsoft`"
    )
    worker_classes: Mapping[WorkerClassName, MachinePrice] = Field(description="prices by worker class")


class ClusterStage(Section):
    """Settings that differ for the steps of one stage, on whatever cluster."""

    worker_class: WorkerClassName | None = default(None, "another worker class")
    max_hours: float | None = default(None, "as in the worker class", gt=0)


class StagePod(ClusterStage):
    """Settings that differ for the steps of one stage on Kubernetes."""

    pod: PodConfig = default({}, _POD)
    steps_per_pod: Positive | None = default(None, "as in the worker class")


class ClusterSection(Section):
    """The cluster that steps run on, of whatever kind."""

    files: Texts = default((), "folders there that may hold files of file:// URLs, besides the mirror")
    max_jobs: Positive = default(100, "pods or jobs at once")
    orphan_minutes: float = default(15.0, "a job that no run has waited for so long is deleted", gt=0)
    worker_classes: Mapping[WorkerClassName, ClusterClass] = Field(description="machines by worker class")
    stages: Mapping[str, ClusterStage] = default({}, "what differs by stage")

    def class_of(self, stage: str, worker: WorkerClassName) -> WorkerClassName:
        """The worker class of the steps of a stage that ask for `worker`."""
        own = self.stages.get(stage)
        return own.worker_class if own and own.worker_class else worker

    def hours_of(self, stage: str, worker: WorkerClassName) -> float:
        """Hours that an attempt of such a step may take; infinite for a class that is not in the file."""
        own, worker_class = self.stages.get(stage), self.worker_classes.get(self.class_of(stage, worker))
        return (own.max_hours if own else None) or (worker_class.max_hours if worker_class else math.inf)


class Kubernetes(ClusterSection):
    """A cluster of Kubernetes."""

    context: str | None = default(None, "context of the kubeconfig; in a pod of the cluster: none")
    namespace: str = default("translations", "namespace of the jobs")
    image: str = Field(description="the worker's image without its tag, the digest of what it is built from")
    tag: str | None = default(None, "another tag, for all steps; you vouch for its contents")
    image_pull_secrets: Texts = default((), "names of secrets")
    service_account: str = default("translations-worker", "account of the pods")
    secrets: Mapping[str, SecretReference] = default(
        {}, "variable → `secret/key` that holds it; only steps that ask for it get it"
    )
    cache: str | None = default(None, "folder in the pods for downloads; mount a disk of the node there")
    cache_gb: float = default(100.0, "size that the folder is kept below", gt=0)
    max_preemptions: int = default(3, "after so many of a step's attempts, standard machines are taken", ge=0)
    keep_finished_minutes: float = default(60.0, "finished jobs are removed after that time", gt=0)
    pending_minutes: float = default(60.0, "a pod that no machine has taken by then ends the attempt", gt=0)
    pod: PodConfig = default({}, _POD)
    worker_classes: Mapping[WorkerClassName, WorkerClass] = Field(description="machines by worker class")
    stages: Mapping[str, StagePod] = default({}, "what differs by stage")

    def stage(self, name: str) -> StagePod:
        """Return the settings that differ for a stage; for most stages none do."""
        return self.stages.get(name, StagePod())


class SlurmOptions(Section):
    """Options of sbatch: those of a worker class come before those of all."""

    partition: str | None = default(None, "partition")
    account: str | None = default(None, "account")
    qos: str | None = default(None, "quality of service")
    constraint: str | None = default(None, "features of the nodes")
    options: Options = default((), "further options of sbatch, each as in a line `#SBATCH`")


class SlurmClass(ClusterClass, SlurmOptions):
    """The jobs of one worker class on Slurm."""

    cpus: Positive = default(1, "processors of a job")
    memory: str | None = default(None, "memory of a job, such as `16G`; the cluster's default")
    gres: str | None = default(None, "generic resources, such as `gpu:a100:2`; by default `gpu:` and `gpus`")
    steps_per_job: Positive = default(1, "steps of one stage, ready at the same time, that share a job")
    grace_seconds: Positive = default(60, "from SIGTERM, in which a step saves what it has, to the limit")


class SlurmStage(ClusterStage):
    """Settings that differ for the steps of one stage on Slurm."""

    steps_per_job: Positive | None = default(None, "as in the worker class")


class Slurm(ClusterSection, SlurmOptions):
    """A cluster of Slurm."""

    folder: Folder = Field(description="a folder that this machine and the nodes share, for jobs' output")
    command: Texts = default((), "a command that runs a command line where sbatch is: `[ssh, login1]`")
    python: Texts = default((), "the command of Python with the locked libraries on the nodes; this one")
    setup: Texts = default((), "lines of shell before the worker starts, such as `module load cuda`")
    worker_classes: Mapping[WorkerClassName, SlurmClass] = Field(description="jobs by worker class")
    stages: Mapping[str, SlurmStage] = default({}, "what differs by stage")


class Level(Section):
    """A level of trust: whoever may write its store vouches for what is there."""

    name: LevelName = Field(description="the level's name")
    store: str = Field(description="its store, `gs://bucket/path`, `s3://bucket/path` or a folder")


class Deployment(Section):
    """A deployment file."""

    store: str | None = default(None, "the store, `gs://bucket/path`, `s3://bucket/path` or a folder")
    store_base: str | None = default(None, "a store to read as well and never to write, in the same forms")
    levels: Annotated[tuple[Level, ...], FROM_LIST] = default(
        (), "levels of trust, the highest first, in place of `store`: higher ones are read, lower ones never"
    )
    level: str | None = default(None, "the name of the level that is one's own, whose store is written")
    space: str | None = default(None, "the space that refs are written to")
    unsaved_minutes: float = default(
        UNSAVED_MINUTES, "an attempt that cannot store checkpoint sets for so long saves, and ends", gt=0
    )
    runner: Literal["local", "kubernetes", "slurm"] = default("local", "where steps run")
    kubernetes: Kubernetes | None = default(None, "the cluster of Kubernetes")
    slurm: Slurm | None = default(None, "the cluster of Slurm")
    costs: Costs | None = default(None, "what machines cost")
    owners: Owners = default((), "who answers for the assets in the UI: mail, or `team:` and a name")

    @property
    def cluster(self) -> Kubernetes | Slurm | None:
        """The cluster that steps run on, None when they run on this machine."""
        return {"kubernetes": self.kubernetes, "slurm": self.slurm}.get(self.runner)


def load_deployment(path: Path) -> Deployment:
    """Read a deployment file. Raises ConfigError with everything that is wrong, as `load_config` does."""
    return parse_deployment(read_text(path, "deployment"), str(path))


def parse_deployment(text: str, source_name: str) -> Deployment:
    """Read a deployment file's text; errors call it `source_name`. Raises ConfigError."""
    return validated(read_yaml(text, source_name, "deployment", "runner"), Deployment, _check_together)


def _check_together(value: Mapping[str, Any]) -> Found:
    """The key path and message of every problem between keys."""
    runner = value.get("runner")
    if runner in _CLUSTERS:
        if not value.get(runner):
            yield ("runner",), f"the section {runner} says where steps run, and it is missing"
        if not value.get("store") and not value.get("levels"):
            needed = "a store that they can reach: give `store`, such as gs://bucket/path"
            yield ("runner",), f"{_CLUSTERS[runner]} need {needed}"
    yield from _check_levels(value)
    for cluster in _CLUSTERS:
        for stage in mapping_at(value, (cluster, "stages")):
            if stage not in stage_names():
                yield (cluster, "stages", stage), f"is not a stage.{meant_stage(stage, stage_names())}"
    for name in mapping_at(value, ("kubernetes", "worker-classes")):
        place = ("kubernetes", "worker-classes", name)
        machines = mapping_at(value, place)
        if machines.get("standard", {}) is None and not machines.get("spot"):
            yield place, "has neither spot nor standard machines"


def _check_levels(value: Mapping[str, Any]) -> Found:
    levels = value.get("levels")
    names = [level.get("name") for level in levels or () if isinstance(level, Mapping)]
    for key in ("store", "store-base") if levels else ():
        if value.get(key):
            yield (key,), "levels name the stores themselves: leave this key out"
    for number, name in enumerate(names):
        if name in names[:number]:
            yield ("levels", number, "name"), f"there is another level {name}"
    own = value.get("level")
    if own is not None and own not in names:
        yield ("level",), f"is none of the levels ({', '.join(map(str, names)) or 'there are none'})"
