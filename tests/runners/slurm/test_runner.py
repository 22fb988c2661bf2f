"""Steps as jobs of a real Slurm: what they give, how they fail, who waits for them, what is left of them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.runners.scripts import COPY, eventually, leftovers, output, written
from tests.runners.slurm.places import HOLD, SAVES, Place
from translations_assets.common.errors import TranslationsError
from translations_assets.common.settings import repository_root
from translations_assets.runners.slurm import job as job_module
from translations_assets.store.shared_locks import Mount

pytestmark = pytest.mark.slow


def test_a_step_runs_in_a_job(place: Place) -> None:
    run = place.run()
    outcome = run.make(place.job(COPY))
    assert output(place.store, outcome) == "no input"
    assert outcome.manifest is not None
    assert outcome.manifest.provenance.worker
    assert outcome.manifest.provenance.worker.threads == 1  # of the allocation, not of the machine
    assert [event.kind for event in run.events][:1] == ["started"]
    assert any("pipeline.script" in line for line in run.lines["step-0"])
    assert eventually(lambda: not place.slurm.live())
    assert not list((place.root / "jobs").glob("*.out"))  # nothing went wrong
    assert leftovers(place.root / "store") == []


def test_a_finished_step_makes_no_job(place: Place) -> None:
    run, work = place.run(), place.job(COPY)
    assert run.make(work).kind == "done"
    submitted = run.runner.commands.counts["sbatch"]
    assert run.make(work).kind == "done"
    assert run.runner.commands.counts["sbatch"] == submitted == 1


def test_a_script_that_fails_is_told_with_its_log(place: Place) -> None:
    outcome = place.run().make(place.job("raise SystemExit('no such language: xx')"))
    assert outcome.kind == "failed"
    assert "no such language: xx" in outcome.log_tail


def test_a_step_that_asks_for_another_attempt_gets_it(place: Place, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    script = written(f"""
mark = pathlib.Path({str(mark)!r})
if not mark.exists():
    mark.touch()
    sys.exit(75)
""")
    run = place.run()
    first = run.make(place.job(script))
    assert (first.kind, "75" in first.message) == ("temporary", True)
    assert output(place.store, run.make(place.job(script, attempt=2))) == "done"


def test_a_job_gets_its_threads_memory_scratch_and_gpus(place: Place, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "nvidia-smi").write_text("#!/bin/sh\nprintf '0, GPU-a, 8000\\n1, GPU-b, 8000\\n'\n")
    (programs / "nvidia-smi").chmod(0o755)
    script = written("""
names = ("THREADS", "MEMORY", "GPUS", "WORKSPACE")
print(*(os.environ["TRANSLATIONS_" + name] for name in names), os.environ["CUDA_VISIBLE_DEVICES"])
print(os.getcwd())
""")
    scratch = tmp_path / "scratch"
    setup = [f'export PATH="{programs}:$PATH"', f"export SLURM_TMPDIR={scratch}"]
    run = place.run({"cpus": 2, "memory": "500M", "gpus": 1}, setup=setup)
    assert run.make(place.job(script)).kind == "done"
    told = run.lines["step-0"]
    assert "2 450 0 6000 0" in told
    assert any(line.startswith(str(scratch)) for line in told)


def test_options_of_the_deployment_file_reach_sbatch(place: Place) -> None:
    run = place.run({"options": ["--nice=7"]}, partition="spare")
    waiting = run.start(place.talking())
    run.begun()
    said = place.slurm.ask("scontrol", "show", "job", place.live())
    assert "Partition=spare" in said
    assert "Nice=7" in said
    assert "Requeue=0" in said
    place.go()
    assert waiting.result(60).kind == "done"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"partition": "nowhere"}, "Invalid partition name"),
        ({"constraint": "purple"}, "Invalid feature specification"),
        ({"gres": "tpu:1"}, "Invalid generic resource"),
        ({"memory": "99G"}, "node configuration is not available"),
    ],
)
def test_an_option_that_slurm_refuses_fails_at_once(
    place: Place, settings: dict[str, str], told: str
) -> None:
    with pytest.raises(TranslationsError, match=told):
        place.run(settings).make(place.job(COPY))


def test_a_job_that_can_never_start_fails_soon(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_module, "_NEVER_SECONDS", 0.5)
    outcome = place.run({"partition": "brief", "max-hours": 1.0}).make(place.job(COPY))
    assert outcome.kind == "failed"
    assert "max-hours is more than the partition allows" in outcome.message
    assert eventually(lambda: not place.slurm.live())


def test_a_job_that_is_cancelled_from_outside_is_worth_another_attempt(place: Place) -> None:
    run = place.run()
    waiting = run.start(place.job(SAVES))
    run.begun()
    place.slurm.ask("scancel", place.live())
    outcome = waiting.result(60)
    assert outcome.kind == "temporary"
    assert "was cancelled, not by this run" in outcome.message
    assert "told to end" in outcome.log_tail


def test_a_worker_that_is_killed_is_worth_another_attempt(place: Place) -> None:
    run = place.run()
    waiting = run.start(place.job(HOLD))
    run.begun()
    place.slurm.ask("scancel", "--signal=KILL", "--full", place.live())
    outcome = waiting.result(60)
    assert outcome.kind == "temporary", outcome


def test_a_cancelled_step_leaves_no_job(place: Place) -> None:
    run = place.run()
    waiting = run.start(place.job(SAVES))
    run.begun()
    began = time.monotonic()
    run.cancel.set()
    assert waiting.result(30).kind == "cancelled"
    assert time.monotonic() - began < 10
    assert eventually(lambda: not place.slurm.live())


def test_a_step_goes_on_as_long_as_one_run_waits_for_it(place: Place) -> None:
    one, other, work = place.run(), place.run(), place.talking()
    first, second = one.start(work), other.start(work)
    one.begun()
    one.cancel.set()
    assert first.result(30).kind == "cancelled"
    place.go()
    assert output(place.store, second.result(60)) == "done"


def test_steps_of_a_stage_share_jobs(place: Place) -> None:
    run = place.run({"steps-per-job": 5, "max-jobs": 2})
    jobs = [place.job(COPY, number) for number in range(12)]
    with ThreadPoolExecutor(12) as pool:
        outcomes = list(pool.map(run.make, jobs))
    assert {outcome.kind for outcome in outcomes} == {"done"}
    counts = run.runner.commands.counts
    assert counts["sbatch"] <= 4
    assert counts["sacct"] == counts["tail"] == 0


def test_commands_go_through_a_prefix(place: Place) -> None:
    run = place.run(command=["bash", "-c"])
    assert output(place.store, run.make(place.job(COPY))) == "no input"


ORCHESTRATOR = """
import pathlib, sys, threading
from tests.runners.scripts import attempt, job
from translations_assets.config.deployment import Slurm
from translations_assets.runners.slurm.runner import SlurmRunner
from translations_assets.store.open import open_store
store = open_store(sys.argv[2])
runner = SlurmRunner(Slurm.model_validate_json(sys.argv[1], by_name=True))
work = job(store, sys.argv[3], key="0" * 64, label="step-0", stage="train_teacher")
print(attempt(runner, work, store, threading.Event(), lambda event: None))
"""


def start_orchestrator(place: Place, work: str) -> subprocess.Popen[bytes]:
    """Another process that waits for a step."""
    settings = place.settings().model_dump_json()
    arguments = [settings, str(place.root / "store"), work]
    return subprocess.Popen(
        [sys.executable, "-c", ORCHESTRATOR, *arguments],
        cwd=repository_root(),
        env=dict(os.environ),
        stdout=subprocess.PIPE,
    )


def test_a_new_orchestrator_finds_the_job_of_one_that_was_killed(place: Place, tmp_path: Path) -> None:
    go = tmp_path / "go"
    script = written(f"print('begun', flush=True)\nwhile not os.path.exists({str(go)!r}): time.sleep(0.1)")
    lost = start_orchestrator(place, script)
    work = place.job(script, attempt=2)  # as a new run counts
    assert eventually(lambda: place.slurm.states() != {} and bool(place.slurm.live()), 60)
    assert eventually(lambda: place.store.owners.is_owned(*work.step), 60)
    lost.kill()
    lost.communicate()
    run = place.run()
    waiting = run.start(work)
    run.begun()
    go.touch()
    outcome = waiting.result(60)
    assert outcome.manifest is not None
    assert outcome.manifest.attempt == 1
    assert run.runner.commands.counts["sbatch"] == 0


def test_a_job_that_nobody_waits_for_is_swept(place: Place) -> None:
    lost = start_orchestrator(place, HOLD)
    assert eventually(lambda: bool(place.slurm.live()), 60)
    orphan = place.live()
    lost.kill()
    lost.communicate()
    run = place.run(orphan_minutes=0.05)
    assert run.make(place.job(COPY, 1)).kind == "done"
    assert eventually(lambda: orphan not in place.slurm.live(), 60)


def test_a_store_that_keeps_locks_to_one_machine_is_refused(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    from translations_assets.store import shared_locks

    lustre = Mount("lustre", frozenset({"rw", "localflock"}))
    monkeypatch.setattr(shared_locks, "mount_of", lambda folder, mounts: lustre)
    with pytest.raises(TranslationsError, match="Lustre is mounted with locks of its own on each machine"):
        place.run().make(place.job(COPY))


def test_a_worker_whose_lock_is_not_seen_here_is_told(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_module, "_UNLOCKED_SECONDS", 2.0)
    run = place.run()
    monkeypatch.setattr(type(place.store.owners), "is_owned", lambda *_: False)
    with pytest.raises(TranslationsError, match="shares no locks among machines"):
        run.make(place.talking())
