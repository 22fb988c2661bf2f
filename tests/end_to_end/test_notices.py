"""Notices in their place of use: Dagster's daemon, a code server of its own, runs of the command line."""

from __future__ import annotations

import json
import logging
import shlex
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import ClassVar

import pytest
import yaml
from dagster import DagsterInstance
from dagster._core.scheduler.instigation import InstigatorTick, TickStatus
from dagster._core.test_utils import freeze_time
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import WorkspaceFileTarget
from dagster._daemon.sensor import execute_sensor_iteration
from dagster._grpc.client import DagsterGrpcClient
from dagster._grpc.server import wait_for_grpc_server
from dagster._time import get_current_datetime

from tests.cli.conftest import make
from tests.end_to_end.test_webserver import free_port
from tests.end_to_end.tiny import BIN, PARTITION, Place, make_place
from tests.http_server import http_server
from translations_assets.instance.home import prepare
from translations_assets.project import Project

pytestmark = pytest.mark.slow

SECRET = "a-secret-address"
RUN = "12345678-0000-4000-8000-000000000000"
BACKWARDS = "train-backwards-en-eo"
SENSOR = "notice_of_runs_failed"


LAUNCHED = f"""
from dagster import AssetKey, DagsterInstance
from translations_assets.defs.runs import run_here
with DagsterInstance.get() as instance:
    tags = {{"dagster/partition": "{PARTITION}"}}
    run_here(instance, "all", [AssetKey("dataset_test")], run_id="{RUN}", config={{}}, tags=tags)
"""


class Answers(BaseHTTPRequestHandler):
    """Answers with one status after the other, then takes everything; keeps what it took."""

    statuses: ClassVar[list[tuple[int, dict[str, str]]]] = []
    took: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        """Take the message, or refuse it."""
        text = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"]
        status, headers = self.statuses.pop(0) if self.statuses else (200, {})
        if status == 200:
            self.took.append(text)
        self.send_response(status)
        for name, value in {"Content-Length": "0", **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Nothing."""


class Daemon:
    """Ticks the sensors as Dagster's daemon does, each time a minute later."""

    def __init__(self, workspace: WorkspaceProcessContext) -> None:
        self._workspace, self._now = workspace, get_current_datetime()

    def tick(self) -> InstigatorTick:
        """One iteration over all sensors; the newest tick of the one for failures."""
        self._now += timedelta(minutes=1)
        with freeze_time(self._now):
            list(execute_sensor_iteration(self._workspace, logging.getLogger("daemon"), None, None))
        return self.ticks()[0]

    def ticks(self) -> list[InstigatorTick]:
        """The ticks of the sensor for failures, newest first."""
        instance = self._workspace.instance
        (state,) = [each for each in instance.all_instigator_state() if each.instigator_name == SENSOR]
        return list(instance.get_ticks(state.instigator_origin_id, state.selector_id))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The tiny pair without its dev set, with a webhook; each test has its config as it is here."""
    place = make_place(tmp_path_factory.mktemp("notices") / "place")
    path = place.root / "configs" / f"{PARTITION}.yml"
    path.write_text(path.read_text().replace("data/dev.[LANG]", "data/nothing.[LANG]"))
    with http_server(Answers) as url, pytest.MonkeyPatch.context() as patch:
        for name, value in place.environment.items():
            patch.setenv(name, value)
        patch.setenv("TRANSLATIONS_WEBHOOK", f"{url}/{SECRET}\n")
        patch.setenv("TRANSLATIONS_PUBLIC_SERVER", "https://dagster.example.org/")
        yield place


@pytest.fixture(scope="module")
def workspace(place: Place) -> Iterator[Path]:
    """The file that names a code server, which runs as long as these tests; its log is `server.log`."""
    port, folder = free_port(), place.root.parent
    prepare(place.root / "dagster")
    with (folder / "server.log").open("w") as log:
        module = ("-m", "translations_assets.definitions", "--location-name", "translations-assets")
        server = subprocess.Popen(
            [BIN / "dagster", "api", "grpc", "--host", "127.0.0.1", "--port", str(port), *module],
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_for_grpc_server(server, DagsterGrpcClient(port=port, host="127.0.0.1"), [])
        named = {"host": "127.0.0.1", "port": port, "location_name": "translations-assets"}
        path = folder / "workspace.yaml"
        path.write_text(yaml.safe_dump({"load_from": [{"grpc_server": named}]}))
        yield path
    finally:
        server.terminate()
        server.wait(60)


@pytest.fixture(scope="module")
def running(place: Place, workspace: Path) -> Iterator[Daemon]:
    """The daemon; sensors are on, by the command of docs/runs.md."""
    with (
        DagsterInstance.from_config(str(place.root / "dagster")) as instance,
        WorkspaceProcessContext(instance, WorkspaceFileTarget([str(workspace)])) as context,
    ):
        switch_on = ("dagster", "sensor", "start", SENSOR, "-w", str(workspace))
        started = place.run(*switch_on, DAGSTER_MODULE_NAME="")
        assert started.returncode == 0, started.stderr
        yield Daemon(context)


@pytest.fixture
def daemon(place: Place, running: Daemon, monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemon]:
    """The daemon, once it has taken note of what there is."""
    config = place.root / "configs" / f"{PARTITION}.yml"
    before = config.read_text()
    monkeypatch.setattr(Answers, "statuses", [])
    monkeypatch.setattr(Answers, "took", [])
    running.tick()
    Answers.took.clear()
    yield running
    config.write_text(before)


def typed(place: Place, line: str, *more: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a line of a notice."""
    return place.run(*shlex.split(line.split("`")[1]), *more)


def failed_run(place: Place, target: str = "dataset_devtest") -> str:
    done = place.run("translations", "train", PARTITION, "--target", target, "--yes", "--json")
    assert done.returncode == 1, done.stderr
    return str(json.loads(done.stdout)["run"])


def test_a_notice_is_sent_once_though_the_webhook_was_away(place: Place, daemon: Daemon) -> None:
    first, second = failed_run(place), failed_run(place)
    Answers.statuses += [(429, {"Retry-After": "1"}), (500, {}), (404, {}), (404, {})]
    for _ in range(2):  # two tries of the first tick wait, the third gives up; so does the next tick
        tick = daemon.tick()
        assert tick.status == TickStatus.FAILURE
        assert tick.error
        assert "The next tick tries again" in tick.error.message
        assert f"run {first[:8]}: failed" in tick.error.message
        assert Answers.took == []
    assert daemon.tick().status == TickStatus.SUCCESS
    assert daemon.tick().status == TickStatus.SUCCESS
    assert daemon.tick().status == TickStatus.SKIPPED
    assert [text.split(":")[0] for text in Answers.took] == [
        f"{PARTITION}, run {run[:8]}" for run in (first, second)
    ]
    lines = Answers.took[0].splitlines()
    assert lines[1].startswith("dataset-devtest-")
    assert lines[-2:] == [
        f"https://dagster.example.org/runs/{first}",
        f"To go on: `translations rerun {first[:8]}`",
    ]


def test_what_the_webhook_does_not_take_is_told_as_lost(place: Place, daemon: Daemon) -> None:
    run = failed_run(place)
    Answers.statuses += [(400, {})]
    tick = daemon.tick()
    assert tick.status == TickStatus.FAILURE
    assert tick.error
    assert "which is lost" in tick.error.message
    assert f"translations rerun {run[:8]}" in tick.error.message
    assert daemon.tick().status == TickStatus.SKIPPED
    assert Answers.took == []


def test_the_address_stands_nowhere(
    place: Place, daemon: Daemon, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Neither in a tick nor in a log, nor in any file of Dagster's and of the store."""
    caplog.set_level(logging.DEBUG)
    failed_run(place)
    Answers.statuses += [(302, {"Location": "http://127.0.0.1:1/"}), (404, {}), (400, {})]
    for _ in range(4):
        daemon.tick()
    said = capfd.readouterr()
    errors = [str(tick.error) for tick in daemon.ticks()[:4]]
    assert sum("does not take a notice" in error for error in errors) == 3
    assert SECRET not in "".join([said.out, said.err, caplog.text, *errors])
    files = [path for path in place.root.parent.rglob("*") if path.is_file()]
    assert place.root.parent / "server.log" in files
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []


def test_the_commands_of_a_gate_do_what_they_say(place: Place, daemon: Daemon) -> None:
    path = place.root / "configs" / f"{PARTITION}.yml"
    path.write_text(path.read_text().replace("\nchecks:", "\nchecks:\n  language: {level: error}\n ", 1))
    make("merge_corpus")  # of text in no language
    failed_run(place, "merge_corpus")
    daemon.tick()
    _, why, _, look, command = Answers.took[0].splitlines()
    assert why.startswith("merge_corpus language: ")
    shown = typed(place, look)
    assert "1 failed" in shown.stdout
    assert typed(place, command, "--yes").returncode == 0


def test_the_command_for_what_is_lost_makes_it_again(place: Place, daemon: Daemon) -> None:
    make("train_backwards", "run-2")
    record = Project().store.read_run("run-2")
    assert record is not None
    key, generation = record.uses[BACKWARDS]
    (manifest,) = (place.root / "state" / "store" / "steps").rglob(f"*{key}/{generation}.json")
    lost = json.loads(manifest.read_text())["outputs"]["model.npz"]["digest"]
    (blob,) = (place.root / "state" / "store" / "blobs").rglob(lost)
    blob.unlink()
    run = failed_run(place, "train_backwards")
    daemon.tick()
    command = Answers.took[0].splitlines()[-1]
    assert command.startswith("To make again what is lost: ")
    again = place.run("translations", "rerun", run, "--yes")
    assert again.returncode == 1
    assert "is lost" in again.stderr
    words = shlex.split(command.split("`")[1])
    planned = place.run("translations", "plan", *words[2:], "--json")  # which takes what `train` takes
    assert planned.returncode == 0, planned.stderr
    states = {step["label"]: step["status"] for step in json.loads(planned.stdout)["steps"]}
    assert states[BACKWARDS] == "run"


def test_a_config_that_is_wrong_when_its_run_begins_is_told_as_such(place: Place, daemon: Daemon) -> None:
    path = place.root / "configs" / f"{PARTITION}.yml"
    path.write_text(path.read_text().replace("  trg: eo", "  trgt: eo"))
    done = place.run("python", "-c", LAUNCHED)
    assert done.returncode == 0, done.stderr
    daemon.tick()
    lines = Answers.took[0].splitlines()
    assert "experiment.trg" in "\n".join(lines[1:-2])
    shown = typed(place, lines[-1])
    assert shown.returncode == 1
    assert "experiment.trg" in shown.stdout + shown.stderr
