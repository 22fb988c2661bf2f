"""Tests of the names and descriptions of Jobs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest

from translations_assets.config.deployment import Kubernetes
from translations_assets.records.manifest import Blob, Provenance
from translations_assets.runners.batch.member import job_name, member
from translations_assets.runners.kubernetes.cluster import ClusterError
from translations_assets.runners.kubernetes.image import BUILD_FILE, LOCK, environment_tag
from translations_assets.runners.kubernetes.jobs import Descriptions
from translations_assets.runners.kubernetes.state import JobState
from translations_assets.running.job import Job

STEP = Job(
    key="ab" * 32,
    generation=1,
    attempt=1,
    label="train-teacher-en-ru-1",
    script="pipeline.train.train",
    command=(),
    inputs={},
    outputs=("model.npz",),
    bundle=Blob("cd" * 32, 1),
    worker="gpu",
    stage="train_teacher",
)
SPOT = {"pod_spec_config": {"nodeSelector": {"spot": "true"}}}


def limits(**sizes: str) -> Mapping[str, Any]:
    return {"container_config": {"resources": {"limits": sizes}}}


def describe(work: Job = STEP, preemptions: int = 0, **kubernetes: Any) -> dict[str, Any]:
    """The Job of a step; `gpu` and the like are worker classes."""
    found = descriptions(**kubernetes)
    group = found.group(work, preemptions)
    return found.job(group, [work], "gs://bucket", ["", "gs://bucket", "w" * 64, "r" * 64], preemptions)


def descriptions(**kubernetes: Any) -> Descriptions:
    classes = {name: kubernetes.pop(name) for name in ("cpu", "gpu") if name in kubernetes}
    values = {"image": "registry/worker", "tag": "1", "worker-classes": {"cpu": {}, "gpu": {}, **classes}}
    return Descriptions(Kubernetes.model_validate({**values, **kubernetes}), Path())


def spec(body: Mapping[str, Any]) -> str:
    return JobState.of({**body, "metadata": {**body["metadata"], "uid": "1"}}).spec


def pod(body: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = body["spec"]["template"]["spec"]
    return found


def container(body: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = pod(body)["containers"][0]
    return found


def test_a_job_is_valid_for_a_current_cluster() -> None:
    body = describe(gpu={"gpus": 2, "spot": SPOT, "machine": "spot"}, cache="/cache")
    kubernetes_validate.validate(body, kubernetes_validate.latest_version(), strict=True)


def test_name_and_spec_know_nothing_of_the_run_that_asks() -> None:
    first = describe()
    other = describe(replace(STEP, label="other", provenance=Provenance(run="2")))
    assert other["metadata"]["name"] == first["metadata"]["name"]
    assert spec(other) == spec(first)


@pytest.mark.parametrize("change", [{"key": "cd" * 32}, {"generation": 2}, {"attempt": 2}])
def test_each_attempt_of_each_generation_has_its_own_name(change: Mapping[str, Any]) -> None:
    assert describe(replace(STEP, **change))["metadata"]["name"] != describe()["metadata"]["name"]


def test_the_name_depends_on_the_store_and_on_all_members() -> None:
    one, two = member(STEP), member(replace(STEP, key="cd" * 32))
    names = {job_name("gs://a", [one]), job_name("gs://b", [one]), job_name("gs://a", [one, two])}
    assert len(names) == 3


def test_the_spec_depends_on_the_deployment() -> None:
    specs = {spec(describe(**values)) for values in ({}, {"tag": "2"}, {"gpu": {"gpus": 1}}, {"cache": "/c"})}
    assert len(specs) == 4


def test_members_and_preemptions_can_be_read_back() -> None:
    body = describe(preemptions=2)
    state = JobState.of({**body, "metadata": {**body["metadata"], "uid": "1"}})
    assert state.members == (member(STEP),)
    assert (state.preemptions, state.live, state.labels["translations/stage"]) == (2, True, "train_teacher")


def test_the_engine_alone_decides_about_attempts() -> None:
    body = describe(STEP, 0, **{"keep-finished-minutes": 10})
    assert body["spec"]["backoffLimit"] == 0
    assert pod(body)["restartPolicy"] == "Never"
    assert body["spec"]["ttlSecondsAfterFinished"] == 600


def test_the_deadline_is_the_attempt_s_own_time_and_its_wait_for_a_machine() -> None:
    values: dict[str, Any] = {"gpu": {"max-hours": 2}, "pending-minutes": 30}
    assert describe(**values)["spec"]["activeDeadlineSeconds"] == 2.5 * 3600
    stages = {"train_teacher": {"max-hours": 10}}
    assert describe(**values, stages=stages)["spec"]["activeDeadlineSeconds"] == 10.5 * 3600
    found, steps = descriptions(**values), [replace(STEP, key=f"{number:064}") for number in range(3)]
    several = found.job(found.group(STEP, 0), steps, "gs://bucket", [""], 0)
    assert several["spec"]["activeDeadlineSeconds"] == 6.5 * 3600  # each step of a pod has its own time


def test_pods_run_without_rights() -> None:
    body = describe()
    assert pod(body)["automountServiceAccountToken"] is False
    assert pod(body)["securityContext"]["runAsNonRoot"] is True
    assert container(body)["securityContext"]["readOnlyRootFilesystem"] is True
    assert container(body)["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert {mount["mountPath"] for mount in container(body)["volumeMounts"]} == {"/scratch", "/tmp"}


def test_the_special_wins_over_the_general_and_the_rest_is_kept() -> None:
    body = describe(
        pod={
            **limits(memory="1Gi", cpu="1"),
            "pod_spec_config": {"nodeSelector": {"zone": "a", "pool": "x"}},
        },
        gpu={"gpus": 2, "pod": limits(memory="2Gi"), "standard": limits(memory="3Gi"), "spot": SPOT},
        stages={"train_teacher": {"pod": {"pod_spec_config": {"nodeSelector": {"pool": "y"}}}}},
    )
    assert container(body)["resources"]["limits"] == {"nvidia.com/gpu": "2", "memory": "3Gi", "cpu": "1"}
    assert pod(body)["nodeSelector"] == {"zone": "a", "pool": "y"}


@pytest.mark.parametrize(
    ("asked", "preemptions", "worker_class", "machine"),
    [
        ("", 0, {"spot": SPOT}, "standard"),
        ("", 0, {"spot": SPOT, "machine": "spot"}, "spot"),
        ("spot", 0, {"spot": SPOT}, "spot"),
        ("spot", 2, {"spot": SPOT}, "spot"),
        ("spot", 3, {"spot": SPOT}, "standard"),
        ("spot", 3, {"spot": SPOT, "standard": None}, "spot"),
        ("spot", 0, {}, "standard"),
        ("standard", 0, {"spot": SPOT, "machine": "spot"}, "standard"),
        ("standard", 0, {"spot": SPOT, "standard": None}, "spot"),
    ],
)
def test_the_machine_is_what_is_asked_for_as_far_as_there_is_one(
    asked: str, preemptions: int, worker_class: Mapping[str, Any], machine: str
) -> None:
    body = describe(replace(STEP, machine=asked), preemptions, gpu=worker_class)
    assert body["metadata"]["labels"]["translations/machine"] == machine
    assert ("nodeSelector" in pod(body)) == (machine == "spot")
    assert pod(body)["terminationGracePeriodSeconds"] == (15 if machine == "spot" else 60)


def test_a_deployment_says_how_long_its_machines_let_a_pod_end() -> None:
    longer = {"pod_spec_config": {"terminationGracePeriodSeconds": 105}}
    found = descriptions(gpu={"spot": longer, "machine": "spot"})
    assert [
        found.grace(found.group(replace(STEP, machine=machine), 0)) for machine in ("spot", "standard")
    ] == [
        105,
        60,
    ]


def test_a_stage_may_take_another_worker_class() -> None:
    body = describe(stages={"train_teacher": {"worker-class": "cpu"}}, cpu={"pod": limits(memory="5Gi")})
    assert body["metadata"]["labels"]["translations/worker-class"] == "cpu"
    assert container(body)["resources"]["limits"] == {"memory": "5Gi"}


def test_a_worker_class_names_its_queue_and_its_priority() -> None:
    body = describe(gpu={"queue": "team-a", "priority-class": "urgent"})
    assert body["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "team-a"
    assert body["spec"]["suspend"] is True
    assert pod(body)["priorityClassName"] == "urgent"
    kubernetes_validate.validate(body, kubernetes_validate.latest_version(), strict=True)
    assert "suspend" not in describe()["spec"]


def test_what_a_pod_or_a_stage_says_of_priorities_wins_over_the_worker_class() -> None:
    def priority(name: str) -> dict[str, Any]:
        return {"pod": {"pod_spec_config": {"priority_class_name": name}}}

    general, own = priority("general"), {"priority-class": "own"}
    assert pod(describe(**general, gpu=own))["priorityClassName"] == "own"
    stages = {"train_teacher": priority("special")}
    assert pod(describe(gpu=own, stages=stages))["priorityClassName"] == "special"


@pytest.mark.parametrize(
    ("resumable", "worker", "lasting"),
    [(False, "cpu", False), (True, "cpu", True), (False, "gpu", True), (True, "gpu", True)],
)
def test_pods_whose_work_would_be_lost_are_not_evicted(resumable: bool, worker: Any, lasting: bool) -> None:
    template = describe(replace(STEP, resumable=resumable, worker=worker))["spec"]["template"]["metadata"]
    annotation = template["annotations"]["cluster-autoscaler.kubernetes.io/safe-to-evict"]
    assert annotation == ("false" if lasting else "true")
    assert template["labels"].get("translations/lasting") == ("true" if lasting else None)


def test_devices_are_claimed_in_place_of_being_counted() -> None:
    """As docs/deployment.md says of dynamic resource allocation."""
    claims = {"claims": [{"name": "gpus"}], "limits": {"nvidia.com/gpu": "0"}}
    template = [{"name": "gpus", "resourceClaimTemplateName": "two-gpus"}]
    special = {"container_config": {"resources": claims}, "pod_spec_config": {"resource_claims": template}}
    body = describe(gpu={"gpus": 2, "pod": special})
    assert container(body)["resources"] == claims
    assert pod(body)["resourceClaims"] == template
    kubernetes_validate.validate(body, kubernetes_validate.latest_version(), strict=True)


def test_secrets_come_by_reference_to_the_steps_that_name_them() -> None:
    values: dict[str, Any] = {"secrets": {"WANDB_API_KEY": "wandb/key", "HF_TOKEN": "hf/token"}}
    body = describe(replace(STEP, secrets=("WANDB_API_KEY", "UNKNOWN")), **values)
    names = {variable["name"]: variable for variable in container(body)["env"]}
    assert names["WANDB_API_KEY"]["valueFrom"]["secretKeyRef"] == {"name": "wandb", "key": "key"}
    assert not {"HF_TOKEN", "UNKNOWN"} & names.keys()
    assert "WANDB_API_KEY" not in json.dumps(describe(**values))


def test_a_volume_of_the_deployment_takes_the_place_of_the_scratch_disk() -> None:
    disk = {"name": "scratch", "persistentVolumeClaim": {"claimName": "fast"}}
    body = describe(pod={"pod_spec_config": {"volumes": [disk]}})
    assert [volume for volume in pod(body)["volumes"] if volume["name"] == "scratch"] == [disk]


def test_several_gpus_have_shared_memory_for_what_passes_between_them() -> None:
    several, one = describe(gpu={"gpus": 2}), describe(gpu={"gpus": 1})
    source = {"name": "shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": "4Gi"}}
    assert source in pod(several)["volumes"]
    assert {"name": "shared-memory", "mountPath": "/dev/shm"} in container(several)["volumeMounts"]
    assert "shared-memory" not in json.dumps(one)


def test_the_emulator_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STORAGE_EMULATOR_HOST", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
        assert {"name": name, "value": "http://127.0.0.1:1"} in container(describe())["env"]


def test_bigger_classes_have_more_memory_and_no_fewer_gpus() -> None:
    classes = {
        "cpu": {"pod": limits(memory="64Gi")},
        "gpu": {"gpus": 1, "pod": limits(memory="8Gi")},
        "large-gpu": {"gpus": 4, "pod": limits(memory="16G")},
        "large-cpu": {"pod": limits(memory="128Gi")},
    }
    found = descriptions(**{"worker-classes": classes})
    assert found.bigger_classes("gpu") == ["large-gpu (16G)"]
    assert found.bigger_classes("cpu") == ["large-cpu (128Gi)"]
    larger = {**classes, "large-gpu": {"gpus": 4, "pod": limits(memory="256Gi")}}
    assert descriptions(**{"worker-classes": larger}).bigger_classes("cpu") == ["large-cpu (128Gi)"]
    assert found.bigger_classes("large-cpu") == []


def test_what_is_wrong_with_a_pod_is_told_with_its_place() -> None:
    wrong: dict[str, Any] = {"pod_spec_config": {"node_selectr": {}}}
    with pytest.raises(ClusterError, match=r"kubernetes\.worker-classes\.gpu\.spot: .*node_selectr"):
        descriptions(gpu={"spot": wrong}).check()
    with pytest.raises(ClusterError, match=r"kubernetes\.stages\.score\.pod"):
        descriptions(stages={"score": {"pod": wrong}}).check()


def test_a_worker_class_that_the_deployment_lacks_is_named() -> None:
    with pytest.raises(ClusterError, match=r"no worker class large-cpu\. Add kubernetes\.worker-classes"):
        describe(replace(STEP, worker="large-cpu"))


def test_the_image_s_tag_is_a_digest_of_what_it_is_built_from(tmp_path: Path) -> None:
    lock, build = tmp_path / LOCK, tmp_path / BUILD_FILE
    found = Descriptions(
        Kubernetes.model_validate({"image": "r/worker", "worker-classes": {"cpu": {}}}), tmp_path
    )
    with pytest.raises(ClusterError, match=r"requirements/worker\.lock cannot be read"):
        found.check()
    for path in (lock, build):
        path.parent.mkdir()
        path.write_text(path.name)
    first = environment_tag(lock, build)
    assert found.images.worker == f"r/worker:{first}"
    lock.write_text("other")
    second = environment_tag(lock, build)
    build.write_text("other")
    assert len({first, second, environment_tag(lock, build)}) == 3
