"""Runs of the command line beside those that Dagster's web server launches: its pages treat them alike."""

import tomllib
from collections.abc import Iterator
from shutil import which
from typing import Any

import pytest
import yaml
from dagster import AssetKey, DagsterInstance, DagsterRun

from tests.browsers import chromium
from tests.end_to_end.test_server import DETAILS, REEXECUTE, ended, errors, messages, translations
from tests.end_to_end.test_webserver import STATUSES, WORKSPACE, Server, serve, wait_for
from tests.end_to_end.tiny import PARTITION, make_place, remember_keys
from translations_assets.defs.runs import LOCATION
from translations_assets.instance.server import PARTITION_TAG

pytestmark = pytest.mark.slow

ASSETS = ["dataset_devtest", "dataset_test"]
OWN_TAGS = {"user", "translations/why"}  # who launched it, and what it found to do
JOB_RUNS = """
query($job: String!) {
  pipelineOrError(params: {
    pipelineName: $job
    repositoryName: "__repository__"
    repositoryLocationName: "translations-assets"
  }) { ... on Pipeline { runs(limit: 20) { runId repositoryOrigin { repositoryLocationName } } } }
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(remember_keys(make_place(tmp_path_factory.mktemp("like_others")))) as server:
        yield server


def train(server: Server, *words: str, code: int = 0) -> str:
    """The id of a run of `translations train`, without the server but with its instance."""
    done = translations(server, "train", PARTITION, "--yes", *words)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout.partition("/runs/")[2].split()[0]


def stored(server: Server, run: str) -> DagsterRun:
    with DagsterInstance.from_config(str(server.place.root / "dagster")) as instance:
        found = instance.get_run_by_id(run)
    assert found
    return found


def listed(server: Server, job: str) -> list[dict[str, Any]]:
    """The runs on a job's page."""
    found: list[dict[str, Any]] = server.ask(JOB_RUNS, job=job)["pipelineOrError"]["runs"]
    return found


def re_executed(server: Server, run: str, strategy: str) -> dict[str, Any]:
    """The run that the page's button makes of another, at its end."""
    params = {"parentRunId": run, "strategy": strategy}
    answer = server.ask(REEXECUTE, params=params)["launchRunReexecution"]
    assert answer["__typename"] == "LaunchRunSuccess", answer
    found = ended(server, answer["run"]["runId"])
    assert found["status"] == "SUCCESS", messages(found)
    assert errors(found) == []
    assert found["parentRunId"] == run
    return {**found, **answer["run"]}


def test_it_is_stored_like_one_that_the_web_server_launches(server: Server) -> None:
    """All that Dagster keeps of it, but for the run's own names and the console, which the command prints."""
    own = stored(server, train(server, "--target", "dataset_devtest"))
    launched = server.launch(PARTITION, ["dataset_devtest"])
    wait_for(lambda: server.run(launched)["status"] in STATUSES, 300, lambda: server.run(launched))
    other = stored(server, launched)
    assert own.remote_job_origin == other.remote_job_origin is not None
    assert own.asset_selection == other.asset_selection == {AssetKey("dataset_devtest")}
    assert own.job_name == other.job_name == "__ASSET_JOB"
    assert own.tags[PARTITION_TAG] == other.tags[PARTITION_TAG] == PARTITION
    shown = {name for name in own.tags if not name.startswith(".")}
    assert shown - OWN_TAGS == {name for name in other.tags if not name.startswith(".")} - OWN_TAGS
    assert own.tags["dagster/code_location"] == other.tags["dagster/code_location"] == LOCATION
    assert own.partitions_subset == other.partitions_subset
    assert own.status == other.status


def test_the_code_location_is_named_as_in_the_workspace() -> None:
    (module,) = yaml.safe_load(WORKSPACE.read_text())["load_from"]
    assert module["python_module"]["location_name"] == LOCATION
    project = tomllib.loads((WORKSPACE.parent / "pyproject.toml").read_text())
    assert project["tool"]["dagster"]["code_location_name"] == LOCATION


def test_all_of_it_is_executed_again(server: Server) -> None:
    """With its own partition, assets and options."""
    run = train(server, "--target", "dataset", "--set", "experiment.spm-vocab-size=344")
    again = re_executed(server, run, "ALL_STEPS")
    own, first = stored(server, again["runId"]), stored(server, run)
    assert own.tags[PARTITION_TAG] == PARTITION
    assert own.run_config == first.run_config
    resources: dict[str, Any] = own.run_config["resources"]  # type: ignore[assignment]
    options = resources["run"]["config"]
    assert options["overrides"] == {"experiment.spm-vocab-size": 344}
    assert own.asset_selection == first.asset_selection
    assert {step["stepKey"] for step in again["stepStats"]} >= set(ASSETS)


def test_what_failed_of_it_is_executed_again(server: Server) -> None:
    data = server.place.root / "data" / "test.en.gz"
    away = data.rename(data.with_suffix(".away"))
    run = train(server, "--target", "dataset", "--start", "dataset", code=1)
    away.rename(data)
    again = re_executed(server, run, "FROM_FAILURE")
    steps = {step["stepKey"] for step in again["stepStats"]}
    assert "dataset_test" in steps
    assert "dataset_devtest" not in steps


def test_its_job_lists_it(server: Server) -> None:
    run = train(server, "--target", "dataset_devtest", "--start", "dataset_devtest")
    found = {one["runId"]: one["repositoryOrigin"] for one in listed(server, "__ASSET_JOB")}
    assert found[run] == {"repositoryLocationName": LOCATION}
    assert server.ask(DETAILS, id=run)["runOrError"]["pipelineName"] == "__ASSET_JOB"


@pytest.mark.skipif(not which("chromium"), reason="needs chromium: make ci-environments")
def test_the_first_page_shows_it(server: Server) -> None:
    """The timeline, which puts runs under their code locations, and says "No runs" for want of these."""
    train(server, "--target", "dataset_devtest", "--start", "dataset_devtest")
    with chromium() as page:
        page.goto(server.url)
        page.get_by_text("Jobless asset materializations").first.wait_for()
        assert page.get_by_text(LOCATION, exact=True).count()
        assert page.get_by_text("No runs").count() == 0
