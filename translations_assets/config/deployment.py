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

UNSAVED_MINUTES = 60.0
_POD = "what pods get, as the values of Dagster's tag `dagster-k8s/config`"


class WorkerClass(Section):
    """The machines of one worker class."""

    gpus: int = default(0, "GPUs of a pod", ge=0)
    pod: PodConfig = default({}, _POD)
    spot: PodConfig | None = default(None, "added on machines that may be taken away; null if there are none")
    standard: PodConfig | None = default({}, "added on machines that stay; null where there are none")
    machine: Machine = default("standard", "where the training config names none")
    max_jobs: Positive | None = default(None, "pods of this class at once")
    steps_per_pod: Positive = default(1, "steps of one stage, ready at the same time, that share a pod")
    max_hours: float = default(168.0, "time an attempt may take; with it the pod ends", gt=0)

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


class StagePod(Section):
    """Settings that differ for the steps of one stage."""

    worker_class: WorkerClassName | None = default(None, "another worker class")
    pod: PodConfig = default({}, _POD)
    steps_per_pod: Positive | None = default(None, "as in the worker class")
    max_hours: float | None = default(None, "as in the worker class", gt=0)


class Kubernetes(Section):
    """The cluster that steps run on."""

    context: str | None = default(None, "context of the kubeconfig; in a pod of the cluster: none")
    namespace: str = default("translations", "namespace of the jobs")
    image: str = Field(description="the worker's image without its tag, the digest of what it is built from")
    tag: str | None = default(None, "another tag, for all steps; you vouch for its contents")
    image_pull_secrets: Texts = default((), "names of secrets")
    service_account: str = default("translations-worker", "account of the pods")
    secrets: Mapping[str, SecretReference] = default(
        {}, "variable → `secret/key` that holds it; only steps that ask for it get it"
    )
    files: Texts = default((), "folders in the pods that may hold files of file:// URLs, besides the mirror")
    cache: str | None = default(None, "folder in the pods for downloads; mount a disk of the node there")
    cache_gb: float = default(100.0, "size that the folder is kept below", gt=0)
    max_jobs: Positive = default(100, "pods at once")
    max_preemptions: int = default(3, "after so many of a step's attempts, standard machines are taken", ge=0)
    keep_finished_minutes: float = default(60.0, "finished jobs are removed after that time", gt=0)
    pending_minutes: float = default(60.0, "a pod that no machine has taken by then ends the attempt", gt=0)
    orphan_minutes: float = default(15.0, "a job that no run has waited for so long is deleted", gt=0)
    pod: PodConfig = default({}, _POD)
    worker_classes: Mapping[WorkerClassName, WorkerClass] = Field(description="machines by worker class")
    stages: Mapping[str, StagePod] = default({}, "what differs by stage")

    def stage(self, name: str) -> StagePod:
        """Return the settings that differ for a stage; for most stages none do."""
        return self.stages.get(name, StagePod())

    def class_of(self, stage: str, worker: WorkerClassName) -> WorkerClassName:
        """The worker class of the steps of a stage that ask for `worker`."""
        return self.stage(stage).worker_class or worker

    def hours_of(self, stage: str, worker: WorkerClassName) -> float:
        """Hours that an attempt of such a step may take; infinite for a class that is not in the file."""
        worker_class = self.worker_classes.get(self.class_of(stage, worker))
        return self.stage(stage).max_hours or (worker_class.max_hours if worker_class else math.inf)


class Deployment(Section):
    """A deployment file."""

    store: str | None = default(None, "the store, `gs://bucket/path` or a folder")
    store_base: str | None = default(None, "a store to read as well and never to write, in the same forms")
    space: str | None = default(None, "the space that refs are written to")
    unsaved_minutes: float = default(
        UNSAVED_MINUTES, "an attempt that cannot store checkpoint sets for so long saves, and ends", gt=0
    )
    runner: Literal["local", "kubernetes"] = default("local", "where steps run")
    kubernetes: Kubernetes | None = default(None, "the cluster")
    costs: Costs | None = default(None, "what machines cost")
    owners: Owners = default((), "who answers for the assets in the UI: mail, or `team:` and a name")


def load_deployment(path: Path) -> Deployment:
    """Read a deployment file. Raises ConfigError with everything that is wrong, as `load_config` does."""
    return parse_deployment(read_text(path, "deployment"), str(path))


def parse_deployment(text: str, source_name: str) -> Deployment:
    """Read a deployment file's text; errors call it `source_name`. Raises ConfigError."""
    return validated(read_yaml(text, source_name, "deployment", "runner"), Deployment, _check_together)


def _check_together(value: Mapping[str, Any]) -> Found:
    """The key path and message of every problem between keys."""
    if value.get("runner") == "kubernetes":
        if not value.get("kubernetes"):
            yield ("runner",), "the section kubernetes says where steps run, and it is missing"
        if not value.get("store"):
            yield ("runner",), "pods need a store that they can reach: give `store`, such as gs://bucket/path"
    for stage in mapping_at(value, ("kubernetes", "stages")):
        if stage not in stage_names():
            yield ("kubernetes", "stages", stage), f"is not a stage.{meant_stage(stage, stage_names())}"
    for name in mapping_at(value, ("kubernetes", "worker-classes")):
        place = ("kubernetes", "worker-classes", name)
        machines = mapping_at(value, place)
        if machines.get("standard", {}) is None and not machines.get("spot"):
            yield place, "has neither spot nor standard machines"
