"""Dagster's web server, asked over GraphQL for what its pages ask."""

import json
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import psutil
import pytest

from pipeline.common.lines import write_lines
from tests.end_to_end.tiny import BIN, PARTITION, Place, make_place, remember_keys
from tests.patience import PATIENCE
from translations_assets.instance.home import prepare

pytestmark = pytest.mark.slow

T = TypeVar("T")
WORKSPACE = Path(__file__).parents[2] / "workspace.yaml"
SLOW = "en-eo.slow"
STATUSES = {"SUCCESS", "FAILURE", "CANCELED"}
LAUNCH = """
mutation($params: ExecutionParams!) {
  launchPipelineExecution(executionParams: $params) {
    __typename
    ... on LaunchRunSuccess { run { runId } }
    ... on PythonError { message }
  }
}"""
RUN = """
query($id: ID!) {
  runOrError(runId: $id) {
    ... on Run {
      status
      eventConnection { events {
        ... on MessageEvent { message stepKey }
        ... on MaterializationEvent {
          assetKey { path }
          partition
          metadataEntries { label ... on IntMetadataEntry { intValue } }
        }
      } }
    }
  }
}"""
TERMINATE = """
mutation($id: String!) {
  terminateRun(runId: $id) { __typename ... on TerminateRunFailure { message } }
}"""


@dataclass(frozen=True)
class Server:
    """A web server of a place."""

    place: Place
    port: int
    process: psutil.Process

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def ask(self, query: str, **variables: Any) -> Any:
        """The data of a GraphQL query."""
        request = urllib.request.Request(
            f"{self.url}/graphql",
            data=json.dumps({"query": query, "variables": variables}).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=180) as response:
            answer = json.load(response)
        assert "errors" not in answer, answer["errors"]
        return answer["data"]

    def launch(
        self,
        partition: str,
        assets: list[str],
        job: str = "__ASSET_JOB",
        config: Mapping[str, Any] | None = None,
    ) -> str:
        """Materialize assets as the button does, or launch a job that has none; the run's id."""
        params = {
            "selector": {
                "repositoryName": "__repository__",
                "repositoryLocationName": "translations-assets",
                "pipelineName": job,
                **({"assetSelection": [{"path": [name]} for name in assets]} if assets else {}),
                **({"assetCheckSelection": []} if assets else {}),
            },
            "mode": "default",
            "runConfigData": json.dumps(config or {}),
            "executionMetadata": {
                "tags": [{"key": "dagster/partition", "value": partition}] if partition else []
            },
        }
        answer = self.ask(LAUNCH, params=params)["launchPipelineExecution"]
        assert answer["__typename"] == "LaunchRunSuccess", answer
        return str(answer["run"]["runId"])

    def run(self, run: str) -> dict[str, Any]:
        """Status and materializations of a run."""
        found: dict[str, Any] = self.ask(RUN, id=run)["runOrError"]
        return found

    def scripts(self) -> list[psutil.Process]:
        """The processes below the server that run a step, or a step's script."""
        return [child for child in self.process.children(recursive=True) if "runners" in _command(child)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A web server with a fresh home, for the tiny pair and a pair whose cleaning takes long."""
    place = remember_keys(make_place(tmp_path_factory.mktemp("webserver")))
    make_slow(place)
    with serve(place) as server:
        yield server


@contextmanager
def serve(place: Place) -> Iterator[Server]:
    """A web server of a place with a fresh home."""
    prepare(place.root / "dagster")
    port = free_port()
    environment = {name: value for name, value in place.environment.items() if name != "DAGSTER_MODULE_NAME"}
    environment["TRANSLATIONS_SERVER"] = f"http://127.0.0.1:{port}"
    server = [str(BIN / "python"), "-m", "translations_assets.ui.web_server"]  # that of `make ui`
    command = [*server, "-w", str(WORKSPACE), "-h", "127.0.0.1", "-p", str(port)]
    with (place.root / "server.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, cwd=place.root, stdout=log, stderr=log)
    try:
        wait_for(lambda: answers(port, process), PATIENCE, (place.root / "server.log").read_text)
        yield Server(place, port, psutil.Process(process.pid))
    finally:
        end(process)


def make_slow(place: Place) -> None:
    """A partition whose training text takes a minute to clean."""
    for lang in ("en", "eo"):
        lines = (f"The big dog number {number} sees the old cat." for number in range(300_000))
        write_lines(place.root / "data" / f"slow.{lang}.gz", lines)
    config = (place.root / "configs" / f"{PARTITION}.yml").read_text()
    config = config.replace("data/train.[LANG].gz", "data/slow.[LANG].gz")
    (place.root / "configs" / f"{SLOW}.yml").write_text(config)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, "the web server ended"
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/server_info", timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def wait_for(found: Callable[[], T], seconds: float, explain: Callable[[], object]) -> T:
    """Wait for the first true value of `found`."""
    end_time = time.monotonic() + seconds
    while time.monotonic() < end_time:
        if value := found():
            return value
        time.sleep(0.3)
    raise AssertionError(f"not within {seconds} s: {explain()}")


def end(process: subprocess.Popen[bytes]) -> None:
    """End the server and all its children, by force after a while."""
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGTERM)
    _, alive = psutil.wait_procs([psutil.Process(process.pid), *children], timeout=20)
    for left in alive:
        left.kill()
    process.wait(timeout=10)


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:  # it has just ended
        return ""


@pytest.mark.parametrize("job", ["__ASSET_JOB", "all"])
def test_a_selection_is_materialized(server: Server, job: str) -> None:
    """By the button of the asset graph, which uses the hidden job of all assets, and by a job's own."""
    run = server.launch(PARTITION, ["dataset_train", "dataset_devtest", "dataset_test", "clean_corpus"], job)
    wait_for(lambda: server.run(run)["status"] in STATUSES, PATIENCE, lambda: server.run(run))
    found = server.run(run)
    assert found["status"] == "SUCCESS", found
    events = {
        event["assetKey"]["path"][0]: event
        for event in found["eventConnection"]["events"]
        if "assetKey" in event
    }
    assert set(events) == {"dataset_train", "dataset_devtest", "dataset_test", "clean_corpus"}
    assert {event["partition"] for event in events.values()} == {PARTITION}
    entries = {entry["label"]: entry for entry in events["clean_corpus"]["metadataEntries"]}
    assert entries["lines_in"]["intValue"] == 400
    assert entries["steps_run"]["intValue"] + entries["steps_cached"]["intValue"] == 1


def test_terminate_ends_the_run_and_its_children(server: Server) -> None:
    run = server.launch(SLOW, ["dataset_train", "clean_corpus"])
    wait_for(lambda: is_cleaning(server, run), PATIENCE, lambda: server.run(run))
    scripts = server.scripts()
    answer = server.ask(TERMINATE, id=run)["terminateRun"]
    assert answer["__typename"] == "TerminateRunSuccess", answer
    wait_for(lambda: server.run(run)["status"] in STATUSES, PATIENCE, lambda: server.run(run))
    assert server.run(run)["status"] == "CANCELED"
    _, alive = psutil.wait_procs(scripts, timeout=PATIENCE)
    assert not alive


def is_cleaning(server: Server, run: str) -> bool:
    """True if the script that cleans the slow text runs."""
    events = server.run(run)["eventConnection"]["events"]
    begun = any(": started" in event["message"] for event in events if event["stepKey"] == "clean_corpus")
    return begun and bool(server.scripts())


def test_every_asset_has_its_group_and_description(server: Server) -> None:
    query = "{ assetNodes { assetKey { path } groupName description isPartitioned } }"
    nodes = server.ask(query)["assetNodes"]
    stages = [node for node in nodes if node["assetKey"]["path"][0] != "recipe"]
    assert len(stages) == 49  # and two that people look at
    assert all(node["description"] and node["isPartitioned"] for node in nodes)
    assert {node["groupName"] for node in stages} == {
        "data",
        "corpus",
        "vocabulary",
        "reports",
        "back_translation",
        "teacher",
        "distillation",
        "student",
        "finetuning",
        "release",
        "evaluation",
    }
