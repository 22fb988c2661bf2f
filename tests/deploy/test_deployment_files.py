"""The example deployment files: they load, and a cluster would take every pod that they describe."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest

from tests.deploy.files import DEPLOY, ROOT, objects
from tests.kube.fields import check_fields
from translations_assets.config.deployment import Kubernetes, load_deployment
from translations_assets.config.load import load_config
from translations_assets.graph.stage import build_graph
from translations_assets.records.manifest import Blob
from translations_assets.runners.kubernetes.jobs import Descriptions
from translations_assets.running.job import Job
from translations_assets.stages import STAGES

EXAMPLES = sorted(DEPLOY.glob("deployment*.yml"))
SECRETS = ("HF_TOKEN",)
WORKER_CLASSES = {"cpu", "large-cpu", "gpu", "large-gpu"}


def load(path: Path) -> Kubernetes:
    found = load_deployment(path)
    assert found.runner == "kubernetes"
    assert found.kubernetes
    return found.kubernetes


def job(worker: Any, machine: str) -> Job:
    blob = Blob("0" * 64, 1)
    return Job(
        key="1" * 64,
        generation=1,
        attempt=1,
        label="a-step",
        script="pipeline.translate.split",
        command=(),
        inputs={},
        outputs=("out",),
        bundle=blob,
        worker=worker,
        stage="merge_mono_src",
        machine=machine,
        secrets=SECRETS,
    )


def described() -> Iterator[tuple[str, Kubernetes, dict[str, Any]]]:
    """Every kind of pod of every example: name, its deployment, the Job."""
    for path in EXAMPLES:
        kubernetes = load(path)
        descriptions = Descriptions(kubernetes, ROOT)
        for worker in sorted(kubernetes.worker_classes):
            for machine in ("spot", "standard"):
                one = job(worker, machine)
                group = descriptions.group(one, 0)
                body = descriptions.job(group, [one], "gs://b", arguments=[], preemptions=0)
                yield f"{path.stem}-{worker}-{machine}", kubernetes, body


DESCRIBED = list(described())
bodies = pytest.mark.parametrize(
    ("kubernetes", "body"), [found[1:] for found in DESCRIBED], ids=[found[0] for found in DESCRIBED]
)


@bodies
def test_every_pod_is_valid(kubernetes: Kubernetes, body: dict[str, Any]) -> None:
    kubernetes_validate.validate(body, kubernetes_validate.latest_version(), strict=True)
    check_fields(body, "V1Job")


@bodies
def test_every_pod_is_one_that_the_namespace_takes(kubernetes: Kubernetes, body: dict[str, Any]) -> None:
    pod = body["spec"]["template"]["spec"]
    container = pod["containers"][0]
    # Pod Security Standards, "restricted"
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    volumes = [volume["name"] for volume in pod["volumes"]]
    assert len(volumes) == len(set(volumes))
    assert {mount["name"] for mount in container["volumeMounts"]} <= set(volumes)
    assert not [volume for volume in pod["volumes"] if "hostPath" in volume]
    # and what the manifests make
    assert kubernetes.namespace in objects("Namespace")
    assert pod["serviceAccountName"] in objects("ServiceAccount", kubernetes.namespace)
    assert pod["priorityClassName"] in objects("PriorityClass")


@bodies
def test_every_container_says_what_it_needs(kubernetes: Kubernetes, body: dict[str, Any]) -> None:
    resources = body["spec"]["template"]["spec"]["containers"][0]["resources"]
    assert resources["requests"].keys() >= {"cpu", "memory"}
    assert resources["limits"]["memory"] == resources["requests"]["memory"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_worker_class_has_machines(path: Path) -> None:
    kubernetes = load(path)
    assert kubernetes.worker_classes.keys() == WORKER_CLASSES
    for name, worker_class in kubernetes.worker_classes.items():
        assert (worker_class.gpus > 0) == name.endswith("gpu")
        assert worker_class.machine != "spot" or worker_class.spot is not None


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_stages_exist(path: Path) -> None:
    assert load(path).stages.keys() <= set(STAGES)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_test_sets_of_a_model_share_a_gpu(path: Path) -> None:
    kubernetes = load(path)
    graph = build_graph(load_config(ROOT / "configs" / "en-eo.demo.yml"), STAGES)
    stages = [name for name in graph.stages if name.startswith("evaluate_")]
    wanting = {name for name in stages if any(step.worker == "gpu" for step in graph.stages[name])}
    assert wanting == {
        f"evaluate_{model}" for model in ("backwards", "teacher", "student", "finetuned_student")
    }
    for name in wanting:
        steps_per_pod = kubernetes.stage(name).steps_per_pod
        assert steps_per_pod
        assert steps_per_pod >= len(graph.stages[name]) > 1


def test_secrets_come_by_reference() -> None:
    for name, kubernetes, body in DESCRIBED:
        variables = {item["name"]: item for item in body["spec"]["template"]["spec"]["containers"][0]["env"]}
        secret, _, key = kubernetes.secrets["HF_TOKEN"].partition("/")
        assert variables["HF_TOKEN"]["valueFrom"]["secretKeyRef"] == {"name": secret, "key": key}, name
        assert "WANDB_API_KEY" not in variables
