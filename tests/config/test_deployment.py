"""Reading deployment files: defaults, and every error with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from translations_assets.config.deployment import load_deployment, parse_deployment
from translations_assets.config.errors import ConfigError

TEXT = """\
store: gs://bucket/store
space: production
runner: kubernetes
kubernetes:
  image: registry/worker
  image-pull-secrets: [registry]
  secrets: {HF_TOKEN: hugging-face/token}
  worker-classes:
    cpu:
      steps-per-pod: 10
      spot:
        pod_spec_config: {nodeSelector: {spot: "true"}}
    gpu: {gpus: 2, max-jobs: 4}
  stages:
    train_teacher: {worker-class: gpu, max-hours: 500}
"""


def test_a_deployment_file_is_read_with_its_defaults() -> None:
    deployment = parse_deployment(TEXT, "deployment.yml")
    assert (deployment.store, deployment.space, deployment.runner) == (
        "gs://bucket/store",
        "production",
        "kubernetes",
    )
    kubernetes = deployment.kubernetes
    assert kubernetes
    assert (kubernetes.namespace, kubernetes.max_jobs, kubernetes.max_preemptions) == ("translations", 100, 3)
    assert kubernetes.image_pull_secrets == ("registry",)
    cpu, gpu = kubernetes.worker_classes["cpu"], kubernetes.worker_classes["gpu"]
    assert (cpu.steps_per_pod, cpu.gpus, cpu.machine, cpu.standard) == (10, 0, "standard", {})
    assert (gpu.gpus, gpu.spot, gpu.max_jobs) == (2, None, 4)
    assert kubernetes.stages["train_teacher"].max_hours == 500


def test_a_local_deployment_needs_no_cluster() -> None:
    deployment = parse_deployment("runner: local\n", "deployment.yml")
    assert (deployment.store, deployment.kubernetes) == (None, None)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("max-jobs: 4", "max-job: 4", "13: kubernetes.worker-classes.gpu.max-job: unknown key. Did you mean"),
        ("gpus: 2", "gpus: -2", "13: kubernetes.worker-classes.gpu.gpus: must be 0 or more, not -2"),
        ("gpus: 2", "gpus: two", "13: kubernetes.worker-classes.gpu.gpus: must be a whole number"),
        ("    gpu: {", "    tpu: {", "13: kubernetes.worker-classes.tpu: must be one of cpu, large-cpu, gpu"),
        ("class: gpu", "class: gpo", "15: kubernetes.stages.train_teacher.worker-class: must be one of cpu"),
        ("train_teacher", "train_techer", "15: kubernetes.stages.train_techer: is not a stage. Did you mean"),
        (
            "pod_spec_config",
            "pod_spec",
            "12: kubernetes.worker-classes.cpu.spot.pod_spec: must be one of",
        ),
        ("hugging-face/token", "token", "7: kubernetes.secrets.HF_TOKEN: must be `secret/key`"),
        ("runner: kubernetes", "runner: docker", "3: runner: must be one of local, kubernetes"),
        ("store: gs://bucket/store\n", "", "2: runner: pods need a store"),
        ("{gpus: 2, max-jobs: 4}", "{standard: null}", "13: kubernetes.worker-classes.gpu: has neither spot"),
        ("  image: registry/worker\n", "", "4: kubernetes.image: is missing"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(old: str, new: str, problem: str) -> None:
    assert old in TEXT
    with pytest.raises(ConfigError) as error:
        parse_deployment(TEXT.replace(old, new, 1), "deployment.yml")
    assert f"deployment.yml:{problem}" in str(error.value)


def test_a_cluster_that_is_not_described_is_told() -> None:
    with pytest.raises(ConfigError, match="the section kubernetes says where steps run, and it is missing"):
        parse_deployment("store: gs://bucket\nrunner: kubernetes\n", "deployment.yml")


def test_a_file_that_cannot_be_read_is_told_as_what_it_should_be(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such file"):
        load_deployment(tmp_path / "missing.yml")
    with pytest.raises(ConfigError, match="is a folder; give the YAML file of a deployment"):
        load_deployment(tmp_path)
    (tmp_path / "empty.yml").touch()
    with pytest.raises(ConfigError, match="is empty; a deployment has at least runner"):
        load_deployment(tmp_path / "empty.yml")


SLURM = """\
store: /shared/store
runner: slurm
slurm:
  folder: /shared/jobs
  command: [ssh, login1]
  account: lab
  worker-classes:
    cpu: {partition: short, memory: 8G, steps-per-job: 10}
    gpu: {gpus: 2, constraint: a100, options: ["--exclude=node7"]}
  stages:
    train_teacher: {worker-class: gpu, max-hours: 48}
"""


def test_a_deployment_on_slurm_is_read_with_its_defaults() -> None:
    deployment = parse_deployment(SLURM, "deployment.yml")
    slurm = deployment.slurm
    assert slurm is not None
    assert deployment.cluster is slurm
    assert (slurm.command, slurm.account, slurm.partition) == (("ssh", "login1"), "lab", None)
    cpu, gpu = slurm.worker_classes["cpu"], slurm.worker_classes["gpu"]
    assert (cpu.cpus, cpu.memory, cpu.steps_per_job, cpu.gpus, cpu.grace_seconds) == (1, "8G", 10, 0, 60)
    assert (gpu.gpus, gpu.options, gpu.machine_for("spot")) == (2, ("--exclude=node7",), "standard")
    assert slurm.class_of("train_teacher", "cpu") == "gpu"
    assert slurm.hours_of("train_teacher", "cpu") == 48


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("  folder: /shared/jobs", "  folder: jobs", "4: slurm.folder: must be an absolute path, not 'jobs'"),
        ('"--exclude=node7"', "exclude", "must begin with `-`, as an option of sbatch, not 'exclude'"),
        ("store: /shared/store\n", "", "jobs need a store that they can reach"),
        ("slurm:", "slrum:", "slrum: unknown key. Did you mean"),
        ("train_teacher", "train_techer", "slurm.stages.train_techer: is not a stage"),
        ("partition: short", "partitions: short", "slurm.worker-classes.cpu.partitions: unknown key"),
    ],
)
def test_a_mistake_in_a_deployment_on_slurm_is_told(old: str, new: str, problem: str) -> None:
    assert old in SLURM
    with pytest.raises(ConfigError) as caught:
        parse_deployment(SLURM.replace(old, new), "deployment.yml")
    assert problem in str(caught.value)


LEVELS = """\
level: branch
levels:
  - {name: release, store: s3://release/store}
  - {name: branch, store: s3://branch/store}
  - {name: anyone, store: /srv/anyone}
"""


def test_levels_of_trust_are_read_in_their_order() -> None:
    deployment = parse_deployment(LEVELS, "deployment.yml")
    assert [(level.name, level.store) for level in deployment.levels] == [
        ("release", "s3://release/store"),
        ("branch", "s3://branch/store"),
        ("anyone", "/srv/anyone"),
    ]
    assert deployment.level == "branch"
    on_slurm = SLURM.replace("store: /shared/store\n", LEVELS)
    assert parse_deployment(on_slurm, "deployment.yml").store is None, "the levels name the stores"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("level: branch", "level: pr", "1: level: is none of the levels (release, branch, anyone)"),
        ("level: branch", "store: s3://mine", "1: store: levels name the stores themselves"),
        ("level: branch", "store-base: s3://mine", "1: store-base: levels name the stores themselves"),
        ("name: anyone", "name: branch", "5: levels[2].name: there is another level branch"),
        ("name: anyone", "name: Any one", "5: levels[2].name: must be lower-case letters, digits and `-`"),
        (", store: /srv/anyone", "", "5: levels[2].store: is missing"),
        (LEVELS[LEVELS.index("levels") :], "", "1: level: is none of the levels (there are none)"),
    ],
)
def test_a_mistake_in_levels_is_told(old: str, new: str, problem: str) -> None:
    assert old in LEVELS
    with pytest.raises(ConfigError) as caught:
        parse_deployment(LEVELS.replace(old, new), "deployment.yml")
    assert f"deployment.yml:{problem}" in str(caught.value)
