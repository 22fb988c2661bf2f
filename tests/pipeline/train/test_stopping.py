"""Tests of pipeline.train.train with Marian: stopping, going on, and what outlives whom."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import psutil
import pytest
import yaml

from pipeline.train.checkpoints import (
    FEED,
    MODEL,
    PROGRESS,
    Place,
    Progress,
    find_fault,
    make_up_for_validation,
    read_progress,
)
from tests.patience import PATIENCE
from tests.pipeline.train import tiny
from tests.pipeline.train.training import (
    QUICK,
    metrics,
    names,
    newest_update,
    patched,
    running,
    student_options,
    train,
    wait_for_sets,
)
from tests.runners.scripts import eventually

pytestmark = [pytest.mark.marian, pytest.mark.slow]


def wait_until_gone(processes: list[psutil.Process]) -> None:
    _, alive = psutil.wait_procs(processes, timeout=PATIENCE)
    assert not alive


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training that was asked to stop after its second save, and its sets."""
    folder = tmp_path_factory.mktemp("stopped")
    with running(folder, {}, {"TRANSLATIONS_GRACE": "60"}) as process:  # a loaded machine saves slowly
        wait_for_sets(folder, 2)
        children = psutil.Process(process.pid).children(recursive=True)
        assert len(children) >= 2  # Marian, and what feeds it
        process.send_signal(signal.SIGTERM)
        status = process.wait(timeout=PATIENCE)
        wait_until_gone(children)
    assert status == 75, (folder / "log").read_text()
    return folder


def test_sigterm_leaves_a_complete_set_of_that_update(stopped: Path) -> None:
    newest = sorted(stopped.glob("sets/*"))[-1]
    assert find_fault(newest) is None
    facts = json.loads((newest / "set.json").read_text())
    assert f"Stopped at update {facts['update']}, as asked" in (stopped / "log").read_text()
    assert facts["update"] > 20
    assert json.loads((newest / "feed.json").read_text())["feed"]["batch"] > 0


def test_a_stopped_training_is_no_finished_step(stopped: Path) -> None:
    assert names(stopped / "out") == []


def resume(stopped: Path, folder: Path, updates: int) -> "subprocess.CompletedProcess[str]":
    env = {"TRANSLATIONS_CHECKPOINTS": stopped / "sets"}
    return train(folder, {**QUICK, "after": f"{updates}u"}, env=env)


def test_training_goes_on_from_a_set_and_from_the_one_before_a_damaged_one(
    stopped: Path, tmp_path: Path
) -> None:
    target, newest = newest_update(stopped) + 15, max(path.name for path in stopped.glob("sets/0*"))
    done = resume(stopped, tmp_path, target)
    assert done.returncode == 0, done.stderr
    assert f"Going on from checkpoint {newest}" in done.stderr
    updates = [point["update"] for point in metrics(tmp_path)["curve"] if point["kind"] == "train"]
    assert metrics(tmp_path)["updates"] == target
    assert updates == list(range(5, target + 1, 5))  # of both attempts, each once
    damaged = max(stopped.glob("sets/0*"))
    os.truncate(damaged / "model.npz.optimizer.npz", 1000)
    again = tmp_path / "again"
    again.mkdir()
    done = resume(stopped, again, target + 5)
    assert f"Checkpoint {damaged.name} is damaged" in done.stderr
    assert metrics(again)["updates"] == target + 5


@pytest.mark.parametrize(
    ("mode", "grace", "update"), [("polite", 60, 20), ("validating", 60, 20), ("deaf", 6, 10)]
)
def test_a_stop_is_exit_75_whatever_marian_does(tmp_path: Path, mode: str, grace: int, update: int) -> None:
    fake = f"{sys.executable} -m tests.pipeline.train.fake_marian"
    given = {"TRANSLATIONS_MARIAN": fake, "FAKE_MARIAN": mode, "TRANSLATIONS_GRACE": str(grace)}
    with running(tmp_path, {}, given) as process:
        wait_for_sets(tmp_path, 1)
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=PATIENCE) == 75, (tmp_path / "log").read_text()
        wait_until_gone(children)
    assert newest_update(tmp_path) == update
    assert names(tmp_path / "out") == []
    if mode == "validating":
        check_undone(max(tmp_path.glob("sets/0*")))


def check_undone(kept: Path) -> None:
    """A set has nothing of a validation that was cut short, which is made up for."""
    assert find_fault(kept) is None
    assert np.load(kept / f"{MODEL}.best-chrf.npz")["weights"][0] == 9
    recorded = yaml.safe_load((kept / PROGRESS).read_text())["validators"]
    assert recorded["chrf"] == {"last-best": 41.5, "stalled": 0}
    assert list(recorded) == ["chrf", "ce-mean-words", "bleu-detok"]
    place = Place(**json.loads((kept / FEED).read_text()))
    assert place.unvalidated
    again = make_up_for_validation(kept, place)
    assert (again.update, again.unvalidated) == (19, False)
    assert read_progress(kept) == Progress(update=19, epochs=1, samples=640)


def test_marian_that_has_saved_and_does_not_end_has_finished(tmp_path: Path) -> None:
    fake = f"{sys.executable} -m tests.pipeline.train.fake_marian"
    given = {"TRANSLATIONS_MARIAN": fake, "FAKE_MARIAN": "spinning"}
    sooner = patched(tmp_path, "from pipeline.train import stage\nstage.END_SECONDS = 2.0\n")
    with running(tmp_path, {}, given | sooner) as process:
        assert process.wait(timeout=PATIENCE) == 0, (tmp_path / "log").read_text()
    assert "has finished and saved, and does not end" in (tmp_path / "log").read_text()
    assert metrics(tmp_path)["updates"] == 20


@pytest.mark.parametrize(("grace", "update"), [(6, 10), (60, 20)])
def test_a_worker_that_gives_more_time_lets_a_large_model_be_saved(
    tmp_path: Path, grace: int, update: int
) -> None:
    fake = f"{sys.executable} -m tests.pipeline.train.fake_marian"
    given = {"TRANSLATIONS_MARIAN": fake, "FAKE_MARIAN": "slow", "TRANSLATIONS_GRACE": str(grace)}
    with running(tmp_path, {}, given) as process:
        wait_for_sets(tmp_path, 1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=PATIENCE) == 75, (tmp_path / "log").read_text()
    assert newest_update(tmp_path) == update


def test_marian_that_is_told_to_stop_by_others_has_not_finished(tmp_path: Path) -> None:
    """It saves and ends well, as it would at the end of its training."""
    with running(tmp_path, {}) as process:
        wait_for_sets(tmp_path, 1)
        (marian,) = (
            child
            for child in psutil.Process(process.pid).children()
            if any("pymarian" in part for part in child.cmdline())
        )
        marian.terminate()
        assert process.wait(timeout=PATIENCE) == 75, (tmp_path / "log").read_text()
    assert names(tmp_path / "out") == []
    assert find_fault(max(tmp_path.glob("sets/0*"))) is None


def with_workers(folder: Path) -> dict[str, object]:
    """Options of a training whose text workers modify."""
    given = student_options(folder, link_pieces=False)
    curriculum = tiny.CONFIGS / "curriculum/teacher.one-stage.yml"
    return {**given, "curriculum": curriculum, "backtranslated": given["original"]}


def test_nothing_outlives_a_script_that_is_killed(tmp_path: Path) -> None:
    with running(tmp_path, with_workers(tmp_path)) as process:
        wait_for_sets(tmp_path, 1)
        children = psutil.Process(process.pid).children(recursive=True)
        assert len(children) >= 4  # Marian, what feeds it, and its two workers
        process.kill()
        wait_until_gone(children)


def test_a_killed_worker_of_the_feed_is_worth_another_attempt(tmp_path: Path) -> None:
    with running(tmp_path, with_workers(tmp_path)) as process:
        wait_for_sets(tmp_path, 1)
        (feeding,) = (child for child in psutil.Process(process.pid).children() if child.children())
        assert eventually(lambda: len(feeding.children()) == 2)
        feeding.children()[0].kill()
        assert process.wait(timeout=PATIENCE) == 75, (tmp_path / "log").read_text()
    assert "A worker of the feed died" in (tmp_path / "log").read_text()
    assert names(tmp_path / "out") == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_feed_that_is_killed_does_not_end_the_training(tmp_path: Path, number: signal.Signals) -> None:
    """Marian takes the end of its text for that of the training, saves and ends well."""
    with running(tmp_path, with_workers(tmp_path)) as process:
        wait_for_sets(tmp_path, 1)
        (feeding,) = (child for child in psutil.Process(process.pid).children() if child.children())
        feeding.send_signal(number)
        assert process.wait(timeout=PATIENCE) == 75, (tmp_path / "log").read_text()
    assert f"The feed was killed by {number.name}" in (tmp_path / "log").read_text()
    assert names(tmp_path / "out") == []
    newest = max(tmp_path.glob("sets/0*"))
    assert find_fault(newest) is None
    assert json.loads((newest / FEED).read_text())["stage"] == 0
