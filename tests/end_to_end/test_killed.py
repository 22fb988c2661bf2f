"""A run that is killed goes on, when it is started again, after the last finished step."""

import json
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from tests.end_to_end.tiny import BIN, PARTITION, Place, make_place

pytestmark = pytest.mark.slow

TARGET = "train_vocab"


def start(place: Place) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [str(BIN / "translations"), "train", PARTITION, "--yes", "--target", TARGET],
        env=place.environment,
        cwd=place.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def kill_after(run: subprocess.Popen[str], steps: int) -> None:
    """Kill the orchestrator, and it alone, when so many steps have ended."""
    assert run.stdout is not None
    ended = 0
    for line in run.stdout:
        ended += " done after " in line
        if ended == steps:
            break
    run.send_signal(signal.SIGKILL)
    run.communicate(timeout=30)


def finished(place: Place) -> set[str]:
    """Labels of the steps whose result is in the store."""
    done = place.run("translations", "plan", PARTITION, "--target", TARGET, "--json")
    return {step["label"] for step in json.loads(done.stdout)["steps"] if step["status"] == "cached"}


def workers_of(place: Place) -> list[int]:
    """Processes that work in the place's store."""
    found = []
    for process in psutil.process_iter(["pid", "cwd"]):
        if str(process.info["cwd"] or "").startswith(str(place.root / "state")):
            found.append(process.info["pid"])
    return found


def manifests(place: Place) -> dict[str, float]:
    """Manifest file → when it was written."""
    folder = place.root / "state" / "store" / "steps"
    return {str(path.relative_to(folder)): path.stat().st_mtime for path in Path(folder).rglob("*.json")}


def test_killed_and_started_again(tmp_path: Path) -> None:
    place = make_place(tmp_path)
    for steps in (1, 3):
        kill_after(start(place), steps)
        deadline = time.monotonic() + 15
        while workers_of(place) and time.monotonic() < deadline:
            time.sleep(0.2)
        assert workers_of(place) == []
    before, kept = finished(place), manifests(place)
    assert before

    again = start(place)
    output, _ = again.communicate(timeout=240)
    assert again.returncode == 0, output
    for label in before:
        assert f"{label} done" not in output
    now = manifests(place)
    assert {path: now[path] for path in kept} == kept
    assert finished(place) > before
