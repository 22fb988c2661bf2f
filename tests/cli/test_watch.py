"""`status --watch` and `--web`."""

import os
import re
import time
from types import SimpleNamespace

import pytest
from dagster import DagsterRunStatus

from tests.cli.conftest import Command
from tests.cli.test_runs import FIRST, SECOND, dagster_run
from tests.end_to_end.tiny import BIN, PARTITION, Place
from tests.terminal import ROWS, Terminal
from translations_assets.cli import exits, watch
from translations_assets.instance.process_id import PROCESS_TAG, this_process
from translations_assets.project import Project
from translations_assets.records.run import RunRecord

SECONDS = 60  # more than any of it takes


def note(run: str, ended: float | None = None) -> None:
    """Write down a run that goes on, or has ended."""
    Project().store.write_run(run, RunRecord(run, PARTITION, started=1.0, heartbeat=time.time(), ended=ended))


def watching(place: Place, name: str) -> Terminal:
    command = [str(BIN / "translations"), "status", name, "--watch"]
    return Terminal(command, {**os.environ, **place.environment}, place.root)


def test_a_terminal_shows_a_run_until_it_ends(place: Place) -> None:
    note(FIRST)
    with watching(place, FIRST) as terminal:
        terminal.read_until(f"run {FIRST} of {PARTITION}: running", SECONDS)
        note(FIRST, ended=time.time())
        terminal.read_until(f"run {FIRST} of {PARTITION}: ended", SECONDS)
        assert terminal.exit_code(SECONDS) == exits.DONE


def test_an_interrupt_ends_the_showing_alone(place: Place) -> None:
    note(FIRST)
    with watching(place, FIRST) as terminal:
        terminal.read_until("running", SECONDS)
        terminal.type("\x03")
        assert terminal.exit_code(SECONDS) == exits.CANCELLED
    assert "Traceback" not in terminal.said
    record = Project().store.read_run(FIRST)
    assert record
    assert record.ended is None


def test_a_pipe_gets_what_has_changed(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    note(FIRST)
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            note(FIRST, ended=time.time())

    monkeypatch.setattr(watch, "time", SimpleNamespace(sleep=wait))
    said = command("status", FIRST, "--watch")
    assert (said.code, waits) == (0, [watch.SECONDS] * 3)
    assert [line.split(": ")[1] for line in said.out.splitlines()] == ["running, no steps", "ended, no steps"]


def test_programs_ask_again(command: Command) -> None:
    assert command("status", "--watch", "--json").code == exits.USAGE


def test_the_page_of_a_run(command: Command, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSLATIONS_SERVER", "http://there:3000/")
    assert command("status", "--web").out == "http://there:3000/runs\n"
    assert f"There is no run of {PARTITION}." in command("status", PARTITION, "--web").err
    note(SECOND)
    assert f"does not know the run {SECOND[:8]}: it has no page" in command("status", SECOND[:8], "--web").err
    dagster_run(place, FIRST, DagsterRunStatus.STARTED, {PROCESS_TAG: this_process(FIRST)})
    note(FIRST)
    for name in (FIRST[:6], PARTITION):
        assert command("status", name, "--web").out == f"http://there:3000/runs/{FIRST}\n"


def blocks(*states: str) -> list[watch.Block]:
    return [watch.Block(state, [f"{state} {number}"]) for number, state in enumerate(states)]


def test_what_fails_and_runs_is_on_the_screen() -> None:
    """As on 40 lines: of 60 stages the last ones run."""
    shown = watch.Look(blocks(*["finished"] * 50, "running", "failed", *["waiting"] * 8), ["all of it"])
    lines = shown.fitted(39)
    assert len(lines) == 39
    assert lines[:2] == ["failed 51", "running 50"]
    assert lines[2:10] == [f"waiting {number}" for number in range(52, 60)]
    assert lines[-2:] == ["and 23 finished", "all of it"]
    assert shown.fitted(200) == [*lines[:10], *(f"finished {number}" for number in range(50)), "all of it"]
    assert shown.lines[0] == "finished 0"


def test_a_block_is_shown_as_a_whole_or_counted() -> None:
    failed = watch.Block("failed", ["train", "    why", "    why else"])
    shown = watch.Look([*blocks("running"), failed], ["all of it"])
    assert shown.fitted(5) == ["train", "    why", "    why else", "running 0", "all of it"]
    assert shown.fitted(4) == ["and 1 failed, 1 running", "all of it"]


def test_a_terminal_shows_what_runs_of_a_long_run(place: Place) -> None:
    store = Project().store
    steps = {f"stage_{number:02}": {f"step-{number:02}": "cpu"} for number in range(60)}
    begun = {"step-58": ("cd" * 32, 1)}
    record = RunRecord(
        FIRST, PARTITION, started=time.time() - 500, heartbeat=time.time(), steps=steps,
        begun=begun, since={"step-58": time.time() - 400},
    )  # fmt: skip
    store.write_run(FIRST, record)
    with store.owners.lock(*begun["step-58"]), watching(place, FIRST) as terminal:
        terminal.read_until(f"run {FIRST} of {PARTITION}: running", SECONDS)
        first = terminal.said.split(f"run {FIRST}")[0]
        assert re.search(r"stage_58 1 running +4\d\d\.\d s", first)
        assert len(first.splitlines()) < ROWS
