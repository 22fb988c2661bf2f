"""Steps as jobs of a cluster: what they give, how they fail, who waits for them, what is left of them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.on_cluster import ROOT, Site
from tests.kube.cluster import best_kind
from tests.kube.made import wait_for
from tests.runners.scripts import COPY, job, output, written
from tests.store.faults import Fault
from translations_assets.runners.kubernetes import starting
from translations_assets.running.job import Job
from translations_assets.store.open import open_store

# Here the product meets a real API server. The other tests of steps on a cluster use the fake one, which
# tests/kube/ compares with it: with a real one they take twice the time of a processor.
pytestmark = [
    pytest.mark.cluster,
    pytest.mark.slow,
    pytest.mark.parametrize("cluster", [best_kind()], indirect=True, scope="module"),
]

HOLD = written("print('begun', flush=True); time.sleep(600)")


def begun(site: Site, work: Job) -> str:
    """The pod of an attempt whose script has begun."""
    wait_for(lambda: "begun" in site.log(work), 60)
    return site.pod()


def test_a_step_runs_in_a_pod(site: Site) -> None:
    orchestrator, work = site.orchestrator(), job(site.store, COPY)
    run = orchestrator.start(work)
    outcome = run.outcome()
    assert output(site.store, outcome) == "no input"
    assert outcome.manifest is not None
    (pod,) = site.cluster.pods(site.namespace)
    assert outcome.manifest.host == pod["spec"]["nodeName"]
    assert [event.kind for event in run.events][:1] == ["started"]
    assert any("pipeline.script" in line for line in orchestrator.lines)
    assert len(site.job_names()) == 1
    with site.census() as census:
        assert orchestrator.run(work).kind == "done"
        assert census.names == []


def test_a_pod_reads_the_base_of_its_store_and_writes_the_store(site: Site) -> None:
    """The pod is told of both by one URL; it may read the base, and no more."""
    production = f"{site.url}-production"
    text = open_store(production).add_bytes(b"of production")
    site.bucket.faults.append(Fault("status", 1 << 30, "^(PATCH|DELETE) .*-production", 403))
    store, before = open_store(site.url, production), site.bucket.names()
    work = job(
        store, COPY, inputs={"text/corpus": text}, command=("--text", "in/text/corpus", "--output", "out")
    )
    assert output(store, site.orchestrator().run(work, store)) == "of production"
    made = {name.split("/")[0] for name in set(site.bucket.names()) - set(before)}
    assert made == {site.namespace}


def test_a_script_that_fails_is_told_with_its_log(site: Site) -> None:
    outcome = site.orchestrator().run(job(site.store, "raise SystemExit('no such language: xx')"))
    assert outcome.kind == "failed"
    assert "no such language: xx" in outcome.log_tail


def test_a_step_that_asks_for_another_attempt_gets_it(site: Site, tmp_path: Path) -> None:
    script = written(f"""
mark = pathlib.Path({str(tmp_path / "mark")!r})
if not mark.exists():
    mark.touch()
    sys.exit(75)
""")
    orchestrator = site.orchestrator()
    first = orchestrator.run(job(site.store, script))
    assert first.kind == "temporary"
    assert "75" in first.message
    assert output(site.store, orchestrator.run(job(site.store, script, attempt=2))) == "done"
    assert len(site.job_names()) == 2


def test_a_step_that_runs_out_of_memory_is_told_which_class_has_more(site: Site) -> None:
    work = job(site.store, HOLD, stage="train_student")
    run = site.orchestrator().start(work)
    site.cluster.kill_out_of_memory(begun(site, work))
    outcome = run.outcome()
    assert outcome.kind == "temporary"
    assert "out of memory" in outcome.message
    assert "1Gi" in outcome.message
    assert "large-cpu (8Gi)" in outcome.message
    assert "kubernetes.stages.train_student.worker-class" in outcome.message


@pytest.mark.parametrize(
    ("disturb", "told"),
    [("evict", "evicted on {node}: "), ("preempt", "was taken away"), ("kill", "exit code 137")],
)
def test_a_pod_that_is_ended_from_outside_is_worth_another_attempt(
    site: Site, disturb: str, told: str
) -> None:
    work = job(site.store, HOLD)
    run = site.orchestrator().start(work)
    pod = begun(site, work)
    node = site.cluster.node_of(pod)
    getattr(site.cluster, disturb)(pod)
    outcome = run.outcome()
    assert outcome.kind == "temporary"
    assert told.format(node=node) in outcome.message


def test_a_node_that_vanishes_is_worth_another_attempt(site: Site) -> None:
    work = job(site.store, HOLD)
    run = site.orchestrator().start(work)
    site.cluster.remove_node(site.cluster.node_of(begun(site, work)))
    assert run.outcome().kind == "temporary"
    wait_for(lambda: not site.cluster.live_pods(site.namespace))
    wait_for(lambda: not site.unfinished_jobs())


def test_a_missing_image_fails_early_with_the_clusters_words(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "PULL_SECONDS", 1.0)
    site.cluster.missing_images.add("registry/worker:test")
    outcome = site.orchestrator().run(job(site.store, COPY))
    assert outcome.kind == "failed"
    assert 'failed to pull and unpack image "registry/worker:test": not found' in outcome.message
    wait_for(lambda: not site.job_names())


def test_a_step_that_no_machine_can_take_says_what_is_missing(site: Site) -> None:
    large = {"container_config": {"resources": {"requests": {"cpu": "100"}}}}
    changes = {"pod": large, "worker-classes": {"cpu": {}}, "pending-minutes": 0.05}
    outcome = site.orchestrator(**changes).run(job(site.store, COPY))
    assert outcome.kind == "temporary"
    assert "0/5 nodes are available: 2 Insufficient cpu" in outcome.message
    wait_for(lambda: not site.job_names())


def test_an_attempt_that_takes_too_long_is_ended(site: Site) -> None:
    short = {**site.deployment()["kubernetes"]["worker-classes"]["cpu"], "max-hours": 5 / 3600}
    changes = {"worker-classes": {"cpu": short}, "pending-minutes": 0.25}
    outcome = site.orchestrator(**changes).run(job(site.store, HOLD))
    assert outcome.kind == "failed"
    assert "max-hours" in outcome.message
    wait_for(lambda: not site.cluster.live_pods(site.namespace))


def test_a_cancelled_step_leaves_no_job_and_no_pod(site: Site) -> None:
    work = job(site.store, HOLD)
    run = site.orchestrator().start(work)
    begun(site, work)
    run.cancel.set()
    assert run.outcome(15).kind == "cancelled"
    wait_for(lambda: not site.job_names() and not site.cluster.pods(site.namespace))
    assert site.cluster.live_pods(site.namespace) == []


def test_a_step_goes_on_as_long_as_one_run_waits_for_it(site: Site, tmp_path: Path) -> None:
    go = tmp_path / "go"
    script = written(f"print('begun', flush=True)\nwhile not os.path.exists({str(go)!r}): time.sleep(0.1)")
    work = job(site.store, script)
    with site.census() as census:
        one, other = site.orchestrator().start(work), site.orchestrator().start(work)
        begun(site, work)
        one.cancel.set()
        assert one.outcome(15).kind == "cancelled"
        go.touch()
        assert output(site.store, other.outcome()) == "done"
        assert len(census.names) == 1
    assert site.log(work).count("begun") == 1


def test_many_who_ask_for_a_step_at_once_get_one_job(site: Site) -> None:
    work = job(site.store, written("print('begun', flush=True)"))
    with site.census() as census:
        runs = [site.orchestrator().start(work) for _ in range(4)]
        assert [output(site.store, run.outcome()) for run in runs] == ["done"] * 4
        assert len(census.names) == 1
    assert site.log(work).count("begun") == 1


ORCHESTRATOR = """
import pathlib, sys, threading
from tests.runners.scripts import attempt, job
from translations_assets.config.deployment import load_deployment
from translations_assets.runners.kubernetes.runner import KubernetesRunner
from translations_assets.store.open import open_store
deployment = load_deployment(pathlib.Path(sys.argv[1]))
store = open_store(deployment.store)
runner = KubernetesRunner(deployment.kubernetes, pathlib.Path(sys.argv[2]))
print(attempt(runner, job(store, sys.argv[3]), store, threading.Event(), lambda event: None))
"""


def start_orchestrator(site: Site, folder: Path, script: str, **changes: Any) -> subprocess.Popen[bytes]:
    """Another process that waits for a step."""
    environment = {**os.environ, **site.write_deployment(folder / "deployment.yml", **changes)}
    arguments = [str(folder / "deployment.yml"), str(ROOT), script]
    return subprocess.Popen(
        [sys.executable, "-c", ORCHESTRATOR, *arguments], cwd=ROOT, env=environment, stdout=subprocess.PIPE
    )


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process."""
    process.kill()
    process.communicate()


def test_a_new_orchestrator_finds_the_job_of_one_that_was_killed(site: Site, tmp_path: Path) -> None:
    go = tmp_path / "go"
    script = written(f"print('begun', flush=True)\nwhile not os.path.exists({str(go)!r}): time.sleep(0.1)")
    work = job(site.store, script)
    with site.census() as census:
        first = start_orchestrator(site, tmp_path, script)
        begun(site, work)
        kill(first)
        second = site.orchestrator()
        run = second.start(work)
        wait_for(lambda: any("begun" in line for line in second.lines))
        go.touch()
        outcome = run.outcome()
        assert output(site.store, outcome) == "done"
        assert outcome.manifest is not None
        assert outcome.manifest.attempt == 1
        assert len(census.names) == 1
    assert site.log(work).count("begun") == 1


def test_a_job_that_nobody_waits_for_is_swept(site: Site, tmp_path: Path) -> None:
    work = job(site.store, HOLD)
    lost = start_orchestrator(site, tmp_path, HOLD)
    begun(site, work)
    kill(lost)
    orphans = site.job_names()
    other = site.orchestrator(**{"orphan-minutes": 0.05})
    assert other.run(job(site.store, COPY, key="cd" * 32)).kind == "done"
    wait_for(lambda: not set(orphans) & set(site.job_names()), 90)
    wait_for(lambda: not site.cluster.live_pods(site.namespace))


def test_a_finished_job_expires(site: Site) -> None:
    outcome = site.orchestrator(**{"keep-finished-minutes": 0.05}).run(job(site.store, COPY))
    assert outcome.kind == "done"
    wait_for(lambda: not site.job_names() and not site.cluster.pods(site.namespace))


def test_a_step_goes_on_while_the_api_server_is_away(site: Site) -> None:
    lines = written("for number in range(60):\n    print('line', number, flush=True); time.sleep(0.1)")
    work, orchestrator = job(site.store, lines), site.orchestrator()
    run = orchestrator.start(work)
    wait_for(lambda: any("line 5" in line for line in orchestrator.lines), 60)
    with site.cluster.api_away(3.0):
        pass
    assert output(site.store, run.outcome()) == "done"
    shown = [line for line in orchestrator.lines if line.startswith("line ")]
    assert shown == [f"line {number}" for number in range(60)]


def test_tiny_steps_of_a_stage_share_pods(site: Site) -> None:
    classes = site.deployment()["kubernetes"]["worker-classes"]
    classes["cpu"] |= {"steps-per-pod": 10, "max-jobs": 2}
    orchestrator = site.orchestrator(**{"worker-classes": classes})
    jobs = [
        job(site.store, COPY, key=f"{number:064x}", label=f"chunk-{number}", stage="split")
        for number in range(14)
    ]
    began = time.monotonic()
    with site.census() as census, ThreadPoolExecutor(14) as pool:
        outcomes = list(pool.map(orchestrator.run, jobs))
        took = time.monotonic() - began
        print(f"{len(jobs)} steps in {took:.1f} s, {len(census.names)} jobs, {census.most} at once")
        assert {outcome.kind for outcome in outcomes} == {"done"}
        assert len(census.names) < 10
        assert census.most <= 2
