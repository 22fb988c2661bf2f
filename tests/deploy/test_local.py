"""The deployment on one machine: PostgreSQL, a bucket, local processes; all of it gone at the end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from deploy.local.postgres import free_port, postgres, programs
from deploy.local.processes import LocalError
from tests.deploy.files import ROOT
from tests.end_to_end.tiny import PARTITION, Place, make_place
from tests.patience import PATIENCE
from translations_assets.instance.server import ENDED, Server, ServerUnreachable
from translations_assets.records.run import RunOptions

pytestmark = pytest.mark.slow

LOOK = """
import json, os
from dagster import DagsterInstance
from google.cloud import storage
objects = [blob.name for blob in storage.Client().list_blobs("translations")]
with DagsterInstance.get() as instance:
    print("FOUND", json.dumps({
        "statuses": [run.status.value for run in instance.get_runs()],
        "storage": type(instance.event_log_storage).__name__,
        "launcher": type(instance.run_launcher).__name__,
        "folders": sorted({"/".join(name.split("/")[:2]) for name in objects}),
    }))
"""


@pytest.fixture(autouse=True)
def _installed() -> None:
    try:
        programs()
    except LocalError as error:
        pytest.skip(str(error))


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder open to others, as `tmp_path` is not: where we are root, PostgreSQL runs as nobody."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o711)
        yield Path(name)


@pytest.fixture
def place(folder: Path) -> Place:
    return make_place(folder)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "deploy.local", *arguments]


def environment(place: Place) -> dict[str, str]:
    kept = {name: place.environment[name] for name in ("TRANSLATIONS_CONFIGS", "TRANSLATIONS_FILES")}
    cleared = {name: value for name, value in os.environ.items() if not name.startswith("TRANSLATIONS_")}
    return {**cleared, **kept, "TMPDIR": str(place.root)}


def test_an_asset_is_made_with_postgresql_and_a_bucket(place: Place) -> None:
    make = "dagster asset materialize -m translations_assets.definitions --select dataset_train"
    script = f"{make} --partition {PARTITION} && python -c '{LOOK}'"
    done = subprocess.run(
        command("--", "sh", "-c", script),
        cwd=ROOT,
        env=environment(place),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.partition("FOUND ")[2])
    assert found["statuses"] == ["SUCCESS"]
    assert found["storage"] == "PostgresEventLogStorage"
    assert found["launcher"] == "DefaultRunLauncher"
    assert {"store/blobs", "store/steps", "store/refs", "dagster/storage"} <= set(found["folders"])
    assert not list(place.root.glob("translations-*"))


def test_a_run_that_the_web_server_is_given_ends_well_and_ctrl_c_ends_all(place: Place) -> None:
    start = command("--port", str(free_port()))
    with subprocess.Popen(
        start, cwd=ROOT, env=environment(place), stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            url = next(line for line in process.stdout or () if "The UI is at" in line).split()[4].rstrip(".")
            assert _launch(url) == "SUCCESS"  # by the queue, the daemon and the code server
            children = psutil.Process(process.pid).children(recursive=True)
            addresses = {one.laddr.ip.removeprefix("::ffff:") for one in _listening(children)}
            assert addresses == {"127.0.0.1"}
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=120) == 0
    _, alive = psutil.wait_procs(children, timeout=PATIENCE)
    assert not alive
    assert not list(place.root.glob("translations-*"))


def _launch(url: str) -> str:
    """Launch a run of the first stage once the code location has been loaded; its final status."""
    server, end = Server(url), time.monotonic() + 600
    run = status = ""
    while status not in ENDED and time.monotonic() < end:
        time.sleep(1)
        try:
            server.check()
        except ServerUnreachable:
            continue
        run = run or server.launch(PARTITION, ["dataset_train"], RunOptions())
        status = server.run_state(run).status
    return status


def _listening(processes: list[psutil.Process]) -> Iterator[Any]:
    for process in processes:
        with suppress(psutil.NoSuchProcess):  # it has ended meanwhile
            for connection in process.net_connections("tcp"):
                if connection.status == psutil.CONN_LISTEN:
                    yield connection


def test_postgresql_ends_with_its_block(folder: Path) -> None:
    with postgres(folder / "data") as server:
        found = [one for one in psutil.process_iter(["cmdline"]) if str(folder) in str(one.info["cmdline"])]
        assert found
        assert server.password not in str([one.info["cmdline"] for one in found])
    _, alive = psutil.wait_procs(found, timeout=PATIENCE)
    assert not alive


def test_without_postgresql_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("deploy.local.postgres._FOLDERS", tmp_path)
    with pytest.raises(LocalError, match="apt-get install postgresql"):
        programs()
