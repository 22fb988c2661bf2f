"""Tests of the image of a step."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from tests.runners.kubernetes.test_jobs import STEP, container
from translations_assets.common.settings import repository_root
from translations_assets.config.deployment import Kubernetes
from translations_assets.records.manifest import Blob
from translations_assets.runners.kubernetes.cluster import ClusterError
from translations_assets.runners.kubernetes.image import (
    BUILD_FILE,
    ENVIRONMENT_BUILD_FILE,
    ENVIRONMENT_MAKER,
    LOCK,
    worker_images,
)
from translations_assets.runners.kubernetes.jobs import Descriptions
from translations_assets.running.job import Job

CLEANER = Path("requirements/cleaner.lock")
SCORER = Path("requirements/scorer.lock")
FILES = (LOCK, BUILD_FILE, ENVIRONMENT_BUILD_FILE, ENVIRONMENT_MAKER, CLEANER, SCORER)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A state of the code with two environments of their own."""
    for path in (*FILES, Path("requirements/main.lock"), Path("requirements/dev.lock")):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(path.name)
    return tmp_path


def reading(*names: str) -> Job:
    """A step that has files with these contents among its inputs, beside another."""
    digests = [hashlib.sha256(name.encode()).hexdigest() for name in ("corpus", *names)]
    inputs = {f"option/{number}": Blob(digest, 1) for number, digest in enumerate(digests)}
    return replace(STEP, inputs=inputs)


def image(root: Path, job: Job, **kubernetes: str) -> str:
    """The image that a step's Job names."""
    values = {"image": "r/worker", "worker-classes": {"gpu": {}}, **kubernetes}
    found = Descriptions(Kubernetes.model_validate(values), root)
    group = found.group(job, 0)
    body = found.job(group, [job], "gs://bucket", [], 0)
    named: str = container(body)["image"]
    return named


def test_a_step_that_reads_a_lock_gets_the_image_with_its_environment(root: Path) -> None:
    plain = image(root, reading())
    cleaner, scorer = image(root, reading("cleaner.lock")), image(root, reading("scorer.lock"))
    names = [name.partition(":")[0] for name in (plain, cleaner, scorer)]
    assert names == ["r/worker", "r/worker-cleaner", "r/worker-scorer"]


def test_the_workers_own_image_serves_two_locks_at_once_and_locks_of_no_environment(root: Path) -> None:
    plain = image(root, reading())
    assert image(root, reading("cleaner.lock", "scorer.lock")) == plain
    assert image(root, reading("main.lock")) == plain
    assert image(root, reading("another state of a lock")) == plain


def test_with_a_tag_of_its_own_one_image_serves_all(root: Path) -> None:
    assert image(root, reading("cleaner.lock"), tag="mine") == "r/worker:mine"


def test_steps_with_different_images_share_no_pod(root: Path) -> None:
    found = Descriptions(Kubernetes.model_validate({"image": "r/w", "worker-classes": {"gpu": {}}}), root)
    assert found.group(reading(), 0) != found.group(reading("cleaner.lock"), 0)


@pytest.mark.parametrize("path", FILES)
def test_the_tag_changes_with_all_that_the_image_is_built_from(root: Path, path: Path) -> None:
    before = worker_images("r/worker", None, root)
    (root / path).write_text("other")
    after = worker_images("r/worker", None, root)
    assert (before.worker != after.worker) == (path in (LOCK, BUILD_FILE))
    assert (before.environments[CLEANER] != after.environments[CLEANER]) == (path != SCORER)


def test_what_to_build_is_told(root: Path) -> None:
    images = worker_images("r.example/a/worker", None, root)
    told = images.remedy(images.environments[CLEANER])
    assert f"from {CLEANER} by {ENVIRONMENT_BUILD_FILE}" in told
    assert told.endswith("make images REGISTRY=r.example/a")
    assert f"from {LOCK} by {BUILD_FILE}" in images.remedy(images.worker)
    assert "another version of the code" in images.remedy("r.example/a/worker-cleaner:old")


def test_a_build_file_that_is_missing_is_named(root: Path) -> None:
    (root / ENVIRONMENT_BUILD_FILE).unlink()
    with pytest.raises(ClusterError, match=r"environment\.Dockerfile cannot be read"):
        worker_images("r/worker", None, root)


def test_the_checkout_s_locks_have_images() -> None:
    images = worker_images("r/worker", None, repository_root())
    assert Path("requirements/opuscleaner.lock") in images.environments
    others = {Path(f"requirements/{name}.lock") for name in ("main", "laptop", "dev")}
    assert not {LOCK, *others} & set(images.environments)
