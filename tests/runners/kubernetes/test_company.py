"""Pods with other containers beside the worker: proxies, mounts and agents that a cluster adds."""

from __future__ import annotations

from typing import Any

import pytest

from tests.runners.kubernetes.places import Place
from tests.runners.scripts import eventually
from translations_assets.runners.kubernetes import following, starting

pytestmark = pytest.mark.cluster

STAYS = "import time; print('proxy', flush=True); time.sleep(600)"
LINES = """
    import pathlib
    print("line 0\\nline 1\\nline 2", flush=True)
    pathlib.Path("out").mkdir()
    pathlib.Path("out/copy.txt").write_text("done")
"""
FAILS = "print('agent', flush=True); raise SystemExit(3)"


def beside(script: str, kind: str = "containers", **more: Any) -> dict[str, Any]:
    """A worker class whose pods have one more container, by name before the worker's."""
    container = {"name": "a-proxy", "image": "proxy", "command": ["python", "-I", "-c", script], **more}
    return {"pod": {"pod_spec_config": {kind: [container]}}}


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make attempts that would end only for want of patience not end in these tests."""
    monkeypatch.setattr(following, "_LAST_SECONDS", 3600.0)


@pytest.mark.parametrize(
    "worker_class",
    [
        pytest.param(beside(STAYS), id="that stays"),
        pytest.param(beside(FAILS), id="that fails"),
        pytest.param(beside(STAYS, "initContainers", restartPolicy="Always"), id="of the cluster"),
    ],
)
def test_the_workers_end_is_the_attempts_end(place: Place, worker_class: dict[str, Any]) -> None:
    run = place.run(worker_class)
    outcome = run.make(place.job(LINES))
    assert outcome.kind == "done", outcome.message
    assert run.lines["step-0"][1:4] == ["line 0", "line 1", "line 2"]
    assert eventually(lambda: not place.live())  # the proxy does not keep the machine


def test_a_worker_that_fails_beside_a_proxy_is_told_at_once(place: Place) -> None:
    run = place.run(beside(STAYS))
    outcome = run.make(place.job("raise SystemExit('no such corpus')"))
    assert outcome.kind == "failed"
    assert "no such corpus" in outcome.log_tail


def test_an_image_that_a_native_sidecar_lacks_is_told(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting, "PULL_SECONDS", 1.0)
    place.cluster.missing_images.add("proxy")
    outcome = place.run(beside(STAYS, "initContainers", restartPolicy="Always")).make(place.job(LINES))
    assert outcome.kind == "failed"
    assert 'the image cannot be pulled: ImagePullBackOff: Back-off pulling image "proxy"' in outcome.message
