"""Names and descriptions of Jobs: from the deployment file, and the steps that they make."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from translations_assets.config.deployment import Kubernetes, Machine, PodConfig, WorkerClass, WorkerClassName
from translations_assets.runners.batch.member import digest, job_name, member, store_label
from translations_assets.runners.kubernetes.cluster import COMPONENT, ClusterError
from translations_assets.runners.kubernetes.image import Images, worker_images
from translations_assets.runners.kubernetes.kueue import QUEUE
from translations_assets.runners.kubernetes.state import CONTAINER, Annotation, Label
from translations_assets.runners.pod import bootstrap
from translations_assets.runners.wire import LAST_WORDS, NODE, POD, SCRATCH
from translations_assets.running.job import Job

if TYPE_CHECKING:
    from dagster_k8s.job import UserDefinedDagsterK8sConfig

GRACE_SECONDS = 60  # between SIGTERM and SIGKILL: the script saves what it has, and that is stored
SPOT_GRACE_SECONDS = 15  # on machines that are taken away; Google's give a pod no more, whatever it asks for
_GPU = "nvidia.com/gpu"
_SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
_DEFAULTS: PodConfig = {  # a deployment may say otherwise
    "container_config": {
        "security_context": {
            "allow_privilege_escalation": False,
            "read_only_root_filesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
    },
    "pod_spec_config": {
        "automount_service_account_token": False,
        "termination_grace_period_seconds": GRACE_SECONDS,
        "security_context": {"run_as_non_root": True, "seccomp_profile": {"type": "RuntimeDefault"}},
    },
}
_SPOT_DEFAULTS: PodConfig = {"pod_spec_config": {"termination_grace_period_seconds": SPOT_GRACE_SECONDS}}
# From this process's environment to pods: where the store's service is
_PASSED = (
    *("STORAGE_EMULATOR_HOST", "TRANSLATIONS_S3_ADDRESSING"),
    *("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION"),
)
_LAST_WORDS = "/dev/termination-log"  # where the kubelet reads why a container ended
_VOLUMES = {"scratch": SCRATCH, "tmp": "/tmp"}  # where they are mounted
# NCCL passes gradients between GPUs there, some 10 MB a segment; container runtimes give 64 MB in all
_SHARED_MEMORY = {"shared-memory": "/dev/shm"}
_SHARED_MEMORY_SOURCE = {"medium": "Memory", "sizeLimit": "4Gi"}


@dataclass(frozen=True)
class Group:
    """Properties that the steps of one pod share.

    lasting  whether an eviction costs much: the steps save checkpoint sets, or need a large machine
    """

    stage: str
    worker_class: WorkerClassName
    machine: Machine
    secrets: tuple[str, ...]
    image: str
    lasting: bool = False


class Descriptions:
    """Describes jobs for a deployment. What is wrong with the deployment is found when it is first used.

    root  folder of the code, whose locks name the images
    """

    def __init__(self, kubernetes: Kubernetes, root: Path) -> None:
        self._kubernetes, self._root = kubernetes, root

    def check(self) -> None:
        """Raise ClusterError for what is wrong with the deployment, whichever step comes first."""
        image = self.images.worker
        for name in self._kubernetes.worker_classes:
            for machine in get_args(Machine):
                self._config(Group("", name, machine, (), image))
        for stage in self._kubernetes.stages:
            self._config(Group(stage, next(iter(self._kubernetes.worker_classes)), "standard", (), image))

    def group(self, job: Job, preemptions: int) -> Group:
        """The steps that a step may share a pod with, after so many attempts that lost their machine."""
        name = self._kubernetes.class_of(job.stage, job.worker)
        machine = self._machine(job, self._worker_class(name), preemptions)
        image = self.images.image(blob.digest for blob in job.inputs.values())
        secrets = tuple(sorted(self._kubernetes.secrets.keys() & job.secrets))
        return Group(job.stage, name, machine, secrets, image, job.resumable or job.worker != "cpu")

    def steps_per_pod(self, group: Group) -> int:
        """The most steps of a group that share a pod."""
        own = self._kubernetes.stage(group.stage).steps_per_pod
        return own or self._worker_class(group.worker_class).steps_per_pod

    def gpus(self, group: Group) -> int:
        """GPUs of a group's pods."""
        return self._worker_class(group.worker_class).gpus

    def grace(self, group: Group) -> float:
        """Seconds that a group's pods have from SIGTERM to SIGKILL."""
        return float(self._config(group).pod_spec_config["termination_grace_period_seconds"])

    def job(
        self, group: Group, jobs: Sequence[Job], store: str, arguments: Sequence[str], preemptions: int
    ) -> dict[str, Any]:
        """The description of a Job as JSON: jobs of a group, made one after the other.

        arguments  of the pod's first code, `pod.bootstrap`
        """
        members = tuple(map(member, jobs))
        command = ["python", "-I", "-c", Path(bootstrap.__file__).read_text(encoding="utf-8"), *arguments]
        body = self._construct(group, len(jobs), command, job_name(store, members))
        labels = {
            Label.STORE: store_label(store),
            Label.STAGE: group.stage,
            Label.WORKER_CLASS: group.worker_class,
            Label.MACHINE: group.machine,
        }
        if len(jobs) == 1:
            labels[Label.STEP] = step_label(store, *members[0].step)
        if group.lasting:
            labels[Label.LASTING] = "true"
        annotations = {
            Annotation.MEMBERS: json.dumps(members),
            Annotation.SPEC: _spec_digest(body),
            Annotation.PREEMPTIONS: str(preemptions),
        }
        del body["spec"]["template"]["metadata"]["name"]  # the cluster names pods
        for metadata in (body["metadata"], body["spec"]["template"]["metadata"]):
            metadata["labels"] = {**metadata.get("labels", {}), **labels}
        if queue := self._worker_class(group.worker_class).queue:
            body["metadata"]["labels"][QUEUE] = queue
        body["metadata"]["annotations"] = {**body["metadata"].get("annotations", {}), **annotations}
        return body

    @cached_property
    def images(self) -> Images:
        """The images of the worker. Raises ClusterError when a tag cannot be known."""
        return worker_images(self._kubernetes.image, self._kubernetes.tag, self._root)

    def memory(self, worker_class: WorkerClassName) -> str:
        """The memory limit of a worker class's pods, such as `16Gi`; empty without one."""
        config = self._config(Group("", worker_class, "standard", (), self.images.worker))
        limits = (config.container_config.get("resources") or {}).get("limits") or {}
        return str(limits.get("memory", ""))

    def bigger_classes(self, worker_class: WorkerClassName) -> list[str]:
        """Worker classes with more memory, the smallest first, as `large-cpu (64Gi)`.

        With as many GPUs or more; without any where this one has none.
        """
        from kubernetes.utils.quantity import parse_quantity

        classes, own = self._kubernetes.worker_classes, self.memory(worker_class)
        gpus = self._worker_class(worker_class).gpus
        fitting = [name for name, other in classes.items() if other.gpus >= gpus and (gpus or not other.gpus)]
        sizes = {name: self.memory(name) for name in fitting}
        limits = {name: parse_quantity(size) for name, size in sizes.items() if own and size}
        bigger = [name for name, limit in limits.items() if limit > parse_quantity(own)]
        return [f"{name} ({sizes[name]})" for name in sorted(bigger, key=limits.__getitem__)]

    def _worker_class(self, name: WorkerClassName) -> WorkerClass:
        try:
            return self._kubernetes.worker_classes[name]
        except KeyError:
            raise ClusterError(
                f"The deployment file has no worker class {name}. Add kubernetes.worker-classes.{name}."
            ) from None

    def _machine(self, job: Job, worker_class: WorkerClass, preemptions: int) -> Machine:
        """Return the machine of the training config, or the class, without what the class does not have."""
        is_tired = preemptions >= self._kubernetes.max_preemptions
        return worker_class.machine_for("standard" if is_tired else job.machine)

    def _config(self, group: Group) -> UserDefinedDagsterK8sConfig:
        """Merge the deployment's settings for a group's pods, as Dagster merges them: later ones win."""
        from dagster_k8s.container_context import K8sContainerContext
        from dagster_k8s.job import UserDefinedDagsterK8sConfig

        context = K8sContainerContext()
        for place, config in self._configs(group):
            try:
                part = UserDefinedDagsterK8sConfig.from_dict(config)  # type: ignore[no-untyped-call]
            except Exception as error:  # Dagster raises plain exceptions
                raise ClusterError(f"In the deployment file, {place}: {error}") from error
            context = context.merge(K8sContainerContext(run_k8s_config=part))
        return context.run_k8s_config

    def _configs(self, group: Group) -> Iterator[tuple[str, PodConfig]]:
        worker_class = self._worker_class(group.worker_class)
        place = f"kubernetes.worker-classes.{group.worker_class}"
        yield "the defaults", _DEFAULTS
        if group.machine == "spot":
            yield "the defaults", _SPOT_DEFAULTS
        yield "the defaults", _eviction(group.lasting)
        yield "kubernetes.pod", self._kubernetes.pod
        if worker_class.priority_class:
            yield place, {"pod_spec_config": {"priority_class_name": worker_class.priority_class}}
        if worker_class.queue:
            yield place, {"job_spec_config": {"suspend": True}}  # Kueue lets it begin
        yield f"{place}.pod", worker_class.pod
        special = worker_class.spot if group.machine == "spot" else worker_class.standard
        yield f"{place}.{group.machine}", special or {}
        yield f"kubernetes.stages.{group.stage}.pod", self._kubernetes.stage(group.stage).pod

    def _construct(self, group: Group, steps: int, command: list[str], name: str) -> dict[str, Any]:
        """The Job as Dagster's Kubernetes library makes it, with what no deployment decides."""
        from dagster_k8s.job import DagsterK8sJobConfig, construct_dagster_k8s_job
        from kubernetes.client import ApiClient, Configuration

        kubernetes, config = self._kubernetes, self._config(group)
        given = {volume["name"] for volume in config.pod_spec_config.get("volumes") or ()}
        mounts = {**_VOLUMES, **(_SHARED_MEMORY if self.gpus(group) > 1 else {})}
        hours = kubernetes.hours_of(group.stage, group.worker_class)
        config = config._replace(
            container_config=self._container(config.container_config, group, command),
            pod_spec_config={**config.pod_spec_config, "restart_policy": "Never"},
            job_spec_config={
                "ttl_seconds_after_finished": round(kubernetes.keep_finished_minutes * 60),
                **config.job_spec_config,
                "backoff_limit": 0,  # attempts are the engine's
                "active_deadline_seconds": round(hours * steps * 3600 + kubernetes.pending_minutes * 60),
            },
        )
        job = construct_dagster_k8s_job(
            DagsterK8sJobConfig(
                job_image=group.image,
                image_pull_policy="IfNotPresent",
                image_pull_secrets=[{"name": secret} for secret in kubernetes.image_pull_secrets],
                service_account_name=kubernetes.service_account,
                volume_mounts=[{"name": name, "mountPath": path} for name, path in mounts.items()],
                volumes=[
                    {"name": name, "emptyDir": _SHARED_MEMORY_SOURCE if name in _SHARED_MEMORY else {}}
                    for name in mounts
                    if name not in given
                ],
            ),
            args=None,
            job_name=name,
            component=COMPONENT,
            user_defined_k8s_config=config,
            env_vars=self._environment(group),
        )
        body: dict[str, Any] = ApiClient(Configuration()).sanitize_for_serialization(job)
        return body

    def _container(self, config: Mapping[str, Any], group: Group, command: list[str]) -> dict[str, Any]:
        limits: dict[str, Any] = {_GPU: str(self.gpus(group))} if self.gpus(group) else {}
        resources = config.get("resources") or {}
        return {
            **config,
            "name": CONTAINER,
            "resources": {**resources, "limits": {**limits, **(resources.get("limits") or {})}},
            "termination_message_path": _LAST_WORDS,
            "termination_message_policy": "FallbackToLogsOnError",
            "command": command,
            "args": None,
        }

    def _environment(self, group: Group) -> list[dict[str, Any]]:
        """The worker's variables; secrets by reference, and only those that the steps name."""
        kubernetes = self._kubernetes
        plain = {"HOME": SCRATCH, "TMPDIR": SCRATCH, LAST_WORDS: _LAST_WORDS}
        plain |= {name: os.environ[name] for name in _PASSED if os.environ.get(name)}
        if kubernetes.cache:
            plain |= {
                "TRANSLATIONS_CACHE": kubernetes.cache,
                "TRANSLATIONS_CACHE_GB": f"{kubernetes.cache_gb:g}",
            }
        variables: list[dict[str, Any]] = [{"name": name, "value": value} for name, value in plain.items()]
        for name, field in ((NODE, "spec.nodeName"), (POD, "metadata.name")):
            variables.append({"name": name, "value_from": {"field_ref": {"field_path": field}}})
        for name in group.secrets:
            secret, _, key = kubernetes.secrets[name].partition("/")
            variables.append({"name": name, "value_from": {"secret_key_ref": {"name": secret, "key": key}}})
        return variables


def _eviction(lasting: bool) -> PodConfig:
    """Tell the cluster's autoscaler whether it may end such pods to give a machine back."""
    annotations = {_SAFE_TO_EVICT: "false" if lasting else "true"}
    return {"pod_template_spec_metadata": {"annotations": annotations}}


def step_label(store: str, key: str, generation: int) -> str:
    """A step as a label: the same for all attempts."""
    return digest([store, key, generation])


def _spec_digest(body: Mapping[str, Any]) -> str:
    """A digest of how a Job is described, without names, labels and what its worker is asked to do."""
    spec = json.loads(json.dumps(body["spec"]))
    spec["template"].pop("metadata", None)
    spec["template"]["spec"]["containers"][0].pop("command")
    return digest(spec)
