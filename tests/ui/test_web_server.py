"""`make ui` as started by its command: pages of others can do nothing, its own and programs can do all."""

from __future__ import annotations

import base64
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest
from dagster._cli import dev

from translations_assets.instance.home import prepare
from translations_assets.ui.__main__ import main as start_ui

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
GUARDED = [sys.executable, "-m", "translations_assets.ui"]
PLAIN = [str(Path(sys.executable).parent / "dagster"), "dev"]
# Changes nothing where telemetry is off, and its answer shows whether it was let through
MUTATION = (
    'mutation { logTelemetry(action: "a", clientTime: "1", clientId: "c", metadata: "{}") { __typename } }'
)
QUERY = "{ version }"
EVIL = "evil.example"


@dataclass(frozen=True)
class Answer:
    status: int
    text: str


@dataclass(frozen=True)
class Ui:
    """A UI under its address."""

    port: int

    @property
    def own(self) -> str:
        return f"127.0.0.1:{self.port}"

    def ask(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: str | None = None
    ) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, {"Host": self.own, **(headers or {})})
            response = connection.getresponse()
            return Answer(response.status, response.read().decode())
        finally:
            connection.close()

    def post(self, query: str, headers: Mapping[str, str], kind: str = "application/json") -> Answer:
        return self.ask("POST", "/graphql", {"Content-Type": kind, **headers}, json.dumps({"query": query}))

    def open_web_socket(self, headers: Mapping[str, str]) -> int:
        """The status of a web socket's handshake: 101 when it is accepted."""
        handshake = {
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": base64.b64encode(b"sixteen bytes ok").decode(),
            "Sec-WebSocket-Protocol": "graphql-ws",
        }
        return self.ask("GET", "/graphql", {**handshake, **headers}).status


@contextmanager
def serving(command: list[str], folder: Path) -> Iterator[Ui]:
    """The command's UI on a free port, with the training configs and results of a folder, at first none."""
    (folder / "configs").mkdir(exist_ok=True)
    prepare(folder / "dagster")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    environment = {name: value for name, value in os.environ.items() if name != "DAGSTER_MODULE_NAME"}
    environment |= {
        "DAGSTER_HOME": str(folder / "dagster"),
        "TRANSLATIONS_STATE": str(folder / "state"),
        "TRANSLATIONS_CONFIGS": str(folder / "configs"),
    }
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "-w", "workspace.yaml", "--port", str(port)],
            cwd=ROOT,
            env=environment,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        wait_until_ready(Ui(port), process, log)
        yield Ui(port)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(60)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def wait_until_ready(ui: Ui, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + 240
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()
        try:
            if ui.ask("GET", "/server_info").status == 200:
                return
        except OSError:
            time.sleep(0.5)
    raise AssertionError(log.read_text())


@pytest.fixture(scope="module")
def ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ui]:
    with serving(GUARDED, tmp_path_factory.mktemp("ui")) as ui:
        yield ui


def test_make_ui_starts_the_guarded_one() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "-m translations_assets.ui -w workspace.yaml" in makefile


def test_it_shows_the_runs_of_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSLATIONS_STATE", str(tmp_path))
    monkeypatch.setenv("DAGSTER_HOME", "")
    monkeypatch.setattr(dev, "open_ipc_subprocess", None)  # undoes what is set there
    homes: list[str] = []
    monkeypatch.setattr(dev.dev_command, "main", lambda *_, **__: homes.append(os.environ["DAGSTER_HOME"]))
    start_ui()
    assert homes == [str(tmp_path / "dagster")]
    assert (tmp_path / "dagster" / "dagster.yaml").is_file()


def test_its_own_pages_and_programs_are_answered(ui: Ui) -> None:
    assert "<html" in ui.ask("GET", "/").text
    own = {"Origin": f"http://{ui.own}", "Sec-Fetch-Site": "same-origin"}
    for headers in ({}, own, {"Host": f"localhost:{ui.port}", "Origin": f"http://localhost:{ui.port}"}):
        answer = ui.post(MUTATION, headers)
        assert (answer.status, "LogTelemetrySuccess" in answer.text) == (200, True), answer
        assert ui.open_web_socket(headers) == 101
    assert ui.ask("GET", f"/graphql?query={quote(QUERY)}").status == 200


def test_below_our_pages_there_is_none_of_dagsters(ui: Ui) -> None:
    for path in ("/reports/x", "/step-logs/x"):
        answer = ui.ask("GET", path)
        assert (answer.status, "There is no such page." in answer.text) == (404, True), path


def test_a_link_on_another_page_can_be_followed(ui: Ui) -> None:
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert ui.ask("GET", "/assets", link).status == 200
    assert ui.ask("GET", "/assets", {**link, "Sec-Fetch-Dest": "iframe"}).status == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": f"http://{EVIL}"},
        {"Origin": "null"},  # of a page in a sandbox
        {"Origin": "http://127.0.0.1:1"},  # another server of this machine
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {
            "Sec-Fetch-Site": "cross-site",
            "Sec-Fetch-Mode": "navigate",
            "Sec-Fetch-Dest": "document",
        },  # a form
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", ["application/json", "text/plain"])
def test_another_page_cannot_ask(ui: Ui, headers: dict[str, str], kind: str) -> None:
    answer = ui.post(MUTATION, headers, kind)
    assert answer.status == 403
    assert "another page" in answer.text
    if headers.get("Sec-Fetch-Mode") != "navigate":
        assert ui.open_web_socket(headers) == 403


def test_a_name_that_is_made_to_mean_this_machine_is_refused(ui: Ui) -> None:
    evil = {"Host": f"{EVIL}:{ui.port}"}
    assert ui.ask("GET", "/", evil).status == 400
    assert ui.post(MUTATION, {**evil, "Origin": f"http://{EVIL}:{ui.port}"}).status == 400
    assert ui.open_web_socket(evil) in (400, 403)


@pytest.mark.parametrize(
    "query", [MUTATION, f"query a {QUERY} {MUTATION.replace('mutation', 'mutation b')}"], ids=["one", "two"]
)
def test_nothing_is_changed_by_get(ui: Ui, query: str) -> None:
    answer = ui.ask("GET", f"/graphql?query={quote(query)}&operationName=b")
    assert (answer.status, "LogTelemetry" in answer.text) == (405, False)


def test_a_query_that_is_none_is_dagsters_to_refuse(ui: Ui) -> None:
    answer = ui.ask("GET", f"/graphql?query={quote('mutation {')}")
    assert (answer.status, "Syntax Error" in answer.text) == (400, True)


def test_plain_dagster_dev_goes_on_working(tmp_path: Path) -> None:
    with serving(PLAIN, tmp_path) as ui:
        assert ui.post(QUERY, {}).status == 200
