"""The manifests: valid for current clusters, and no more rights than what is called."""

from __future__ import annotations

import inspect
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from tests.deploy.files import DEPLOY, MANIFESTS, manifests, objects, values
from tests.kube.fields import check_fields
from translations_assets.runners.kubernetes import cluster
from translations_assets.runners.kubernetes.state import Label

VERSION = kubernetes_validate.latest_version()
OVERLAYS = ("gke", "on-premises")
CALL = re.compile(r"(create|read|list|delete|patch|replace)_namespaced_(job|pod|event|pod_log|job_status)\b")
VERBS = {"create": {"create"}, "read": {"get"}, "list": {"list"}, "delete": {"delete"}}
RESOURCES = {
    "job": "jobs",
    "job_status": "jobs/status",
    "pod": "pods",
    "pod_log": "pods/log",
    "event": "events",
}


def names(found: list[tuple[Path, dict[str, Any]]]) -> list[str]:
    return [f"{path.parent.name}-{value['kind']}-{value['metadata']['name']}" for path, value in found]


@pytest.mark.parametrize("value", [value for _, value in manifests()], ids=names(list(manifests())))
def test_every_object_is_valid(value: dict[str, Any]) -> None:
    kubernetes_validate.validate(value, VERSION, strict=True)
    check_fields(value, f"V1{value['kind']}")


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_kustomize_puts_each_overlay_together(overlay: str) -> None:
    if not shutil.which("kubectl"):
        pytest.skip("kubectl is missing")
    command = ["kubectl", "kustomize", str(DEPLOY / "kubernetes" / overlay)]
    text = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    found = list(yaml.safe_load_all(text))
    assert {value["kind"] for value in found} >= {"Namespace", "Role", "NetworkPolicy", "ResourceQuota"}
    annotated = [value for value in found if "iam.gke.io/gcp-service-account" in str(value)]
    assert len(annotated) == (3 if overlay == "gke" else 0)


def test_every_file_is_part_of_its_folder() -> None:
    for path in MANIFESTS:
        text = (path.parent / "kustomization.yaml").read_text(encoding="utf-8")
        assert path.name == "kustomization.yaml" or path.name in text, path


def rights(role: str, namespace: str) -> set[tuple[str, str]]:
    """The (resource, verb) pairs of a role."""
    rules = objects("Role", namespace)[role]["rules"]
    return {(kind, verb) for rule in rules for kind in rule["resources"] for verb in rule["verbs"]}


def calls(source: str) -> set[tuple[str, str]]:
    """The (resource, verb) pairs that calls of the Kubernetes client need."""
    return {(RESOURCES[kind], verb) for action, kind in CALL.findall(source) for verb in VERBS[action]}


def test_the_runner_may_do_what_it_does_and_no_more() -> None:
    folder = Path(cluster.__file__).parent
    source = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    watched = {("jobs", "watch"), ("pods", "watch")} if "watch=True" in source else set()
    asked = {("workloads", "list")} if "}/workloads" in source else set()  # by its path
    assert rights("step-runner", "translations") == calls(source) | watched | asked


def test_dagsters_launcher_may_do_what_it_does_and_no_more() -> None:
    import dagster_k8s.client
    from dagster_k8s.launcher import K8sRunLauncher

    used = set(re.findall(r"_api_client\.(\w+)", inspect.getsource(K8sRunLauncher)))
    assert used == {  # when it calls something else, look again at what it needs
        "create_namespaced_job_with_retries",
        "delete_job",
        "get_job_debug_info",
        "get_job_status",
        "get_pod_debug_info",
        "get_pod_names_in_job",
    }
    needed = calls(inspect.getsource(dagster_k8s.client))
    assert rights("run-launcher", "dagster") == needed


def test_workers_have_no_rights_in_the_cluster() -> None:
    subjects = [subject for role in objects("RoleBinding").values() for subject in role["subjects"]]
    assert {subject["name"] for subject in subjects} == {"dagster", "translations-orchestrator"}
    worker = objects("ServiceAccount", "translations")["translations-worker"]
    assert worker["automountServiceAccountToken"] is False


def test_accounts_of_the_chart_are_those_of_the_manifests() -> None:
    found = values()
    accounts = objects("ServiceAccount", "dagster")
    assert found["serviceAccount"] == {"create": False, "name": "dagster"}
    assert found["dagster-user-deployments"]["serviceAccount"]["name"] in accounts
    assert not found["global"].get("serviceAccountName")  # it would be everybody's
    assert found["rbacEnabled"] is False


def test_nobody_reaches_a_worker() -> None:
    spec = objects("NetworkPolicy", "translations")["workers"]["spec"]
    assert spec["podSelector"] == {}
    assert "ingress" not in spec
    assert set(spec["policyTypes"]) == {"Ingress", "Egress"}
    ports = {rule["port"] for egress in spec["egress"] for rule in egress["ports"]}
    assert ports == {53, 80, 443, 988}


def test_workers_reach_what_gives_them_their_accounts_tokens() -> None:
    spec = objects("NetworkPolicy", "translations")["workers"]["spec"]
    reached = {to["ipBlock"]["cidr"] for egress in spec["egress"] for to in egress["to"] if "ipBlock" in to}
    google, pod_identity = "169.254.169.254/32", "169.254.170.23/32"
    assert {google, pod_identity} <= reached


def test_the_proxy_reaches_both_web_servers() -> None:
    policy = objects("NetworkPolicy", "dagster")["web-servers"]["spec"]
    server = values()["dagsterWebserver"]
    assert policy["podSelector"]["matchLabels"].items() <= server["labels"].items()
    assert policy["ingress"][0]["ports"] == [{"protocol": "TCP", "port": server["service"]["port"]}]
    assert server["enableReadOnly"] is True


def test_the_pods_of_lasting_steps_are_never_evicted() -> None:
    (budget,) = objects("PodDisruptionBudget", "translations").values()
    assert budget["spec"]["selector"]["matchLabels"] == {Label.LASTING: "true"}
    quota = objects("ResourceQuota", "translations")["steps"]["spec"]["hard"]
    assert budget["spec"]["minAvailable"] > int(quota["pods"])


def test_the_number_of_jobs_has_a_hard_limit() -> None:
    assert int(objects("ResourceQuota", "translations")["steps"]["spec"]["hard"]["count/jobs.batch"]) > 0
