"""A running Dagster server, used from the command line and by pasting a training config."""

import json
import re
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from shutil import which
from typing import Any

import pytest
import yaml

from tests.browsers import chromium
from tests.end_to_end.test_webserver import STATUSES, Server, serve, wait_for
from tests.end_to_end.tiny import BIN, PARTITION, make_place, remember_keys

pytestmark = pytest.mark.slow

BROKEN = "en-eo.broken"
REEXECUTE = """
mutation($params: ReexecutionParams!) {
  launchRunReexecution(reexecutionParams: $params) {
    __typename
    ... on LaunchRunSuccess { run { runId } }
    ... on PythonError { message }
  }
}"""
TEMPLATE = """
{
  pipelineOrError(params: {
    pipelineName: "train_pasted_config"
    repositoryName: "__repository__"
    repositoryLocationName: "translations-assets"
  }) { ... on Pipeline { presets { runConfigYaml } } }
}"""
DETAILS = """
query($id: ID!) {
  runOrError(runId: $id) {
    ... on Run {
      status rootRunId parentRunId pipelineName
      tags { key value }
      stepStats { stepKey status }
      eventConnection { events {
        ... on MessageEvent { message }
        ... on ErrorEvent { error { message stack } }
        ... on LogsCapturedEvent { fileKey }
        ... on ExecutionStepFailureEvent {
          failureMetadata { metadataEntries { label ... on UrlMetadataEntry { url } } }
        }
      } }
    }
  }
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of the tiny pair, and of a pair of which a file is not there yet."""
    place = remember_keys(make_place(tmp_path_factory.mktemp("server")))
    config = (place.root / "configs" / f"{PARTITION}.yml").read_text()
    broken = config.replace("data/test.[LANG].gz", "data/late.[LANG].gz")
    (place.root / "configs" / f"{BROKEN}.yml").write_text(broken)
    with serve(place) as server:
        yield server


def translations(server: Server, *words: str) -> subprocess.CompletedProcess[str]:
    return server.place.run("translations", *words, TRANSLATIONS_SERVER=server.url)


def ended(server: Server, run: str) -> dict[str, Any]:
    """A run, once it has ended."""
    wait_for(lambda: server.run(run)["status"] in STATUSES, 300, lambda: server.run(run))
    details: dict[str, Any] = server.ask(DETAILS, id=run)["runOrError"]
    return details


def errors(run: dict[str, Any]) -> list[dict[str, Any]]:
    return [event["error"] for event in run["eventConnection"]["events"] if event.get("error")]


def messages(run: dict[str, Any]) -> str:
    events = run["eventConnection"]["events"]
    said = [event["message"] for event in events if "message" in event]
    return "\n".join([*said, *(error["message"] for error in errors(run))])


def fetched(url: str) -> str:
    with urllib.request.urlopen(url, timeout=60) as response:
        return str(response.read().decode())


def test_train_on_a_server(server: Server) -> None:
    words = ("train", PARTITION, "--target", "dataset_devtest", "--server", server.url, "--yes")
    done = translations(server, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{server.url}/runs/" in done.stdout
    assert "] dataset-devtest" in done.stdout
    assert " done after " in done.stdout
    assert f"Done. Files: translations artifacts {PARTITION}" in done.stdout
    again = translations(server, *words)
    assert "nothing to run" in again.stdout


def test_a_config_that_is_new_to_the_server(server: Server) -> None:
    """The server loads the definitions anew."""
    path = server.place.root / "en-eo.new.yml"
    path.write_text((server.place.root / "configs" / f"{PARTITION}.yml").read_text())
    done = translations(
        server,
        "train",
        str(path),
        "--target",
        "dataset_devtest",
        "--start",
        "dataset",
        "--server",
        server.url,
        "-y",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "dataset-devtest" in done.stdout


@pytest.mark.skipif(not which("chromium"), reason="needs chromium: make ci-environments")
def test_the_page_of_a_failed_run_begins_with_the_error_and_links_the_log(server: Server) -> None:
    run = server.launch(BROKEN, ["dataset_test"])
    ended(server, run)
    with chromium() as page:
        page.goto(f"{server.url}/runs/{run}")
        page.get_by_text("RUN_FAILURE").wait_for()
        page.get_by_text("There is no file").wait_for()  # once, or it is refused
        assert page.get_by_text("Stack Trace").count() == 0
        with page.expect_popup() as opened:
            page.get_by_role("link", name="/step-logs/").first.click()
        assert "There is no file" in opened.value.inner_text("pre")


def test_a_failure_on_a_server_is_told_and_re_executed_from_failure(server: Server) -> None:
    words = ("train", BROKEN, "--target", "dataset", "--set", "taskcluster.split-chunks=3")
    done = translations(server, *words, "--server", server.url, "--yes")
    assert done.returncode == 1
    assert done.stderr.count("The step dataset-test-") == 1
    assert "late.en.gz" in done.stderr
    assert "Traceback" not in done.stderr
    failed = done.stdout.partition("/runs/")[2].split()[0]
    (address,) = re.findall(r"^log of dataset-test-\S+: (\S+)$", done.stderr, re.MULTILINE)
    assert "late.en.gz" in fetched(f"{address}?whole")
    found = ended(server, failed)
    (told,) = errors(found)
    assert re.match(r"The step dataset-test-\S+ failed: .*late\.en\.gz", told["message"])
    assert told["stack"] == []
    assert messages(found).count(told["message"].splitlines()[0]) == 1
    assert "translations logs" not in messages(found)
    tags = {tag["key"]: tag["value"] for tag in found["tags"]}
    assert tags["translations/space"] == "test"
    assert tags["translations/up to"] == "dataset_mono_trg"  # the last of those called so
    assert tags["translations/options"] == "--set=taskcluster.split-chunks=3"
    assert tags["translations/why"] == "no earlier artifact"
    assert tags["user"]
    assert found["pipelineName"] == "__ASSET_JOB"  # which the list of runs shows by the assets

    for lang in ("en", "eo"):
        data = server.place.root / "data"
        (data / f"late.{lang}.gz").write_bytes((data / f"test.{lang}.gz").read_bytes())
    params = {"parentRunId": failed, "strategy": "FROM_FAILURE"}
    answer = server.ask(REEXECUTE, params=params)["launchRunReexecution"]
    assert answer["__typename"] == "LaunchRunSuccess", answer
    repeated = ended(server, answer["run"]["runId"])
    assert repeated["status"] == "SUCCESS", messages(repeated)
    assert repeated["parentRunId"] == repeated["rootRunId"] == failed
    tags = {tag["key"]: tag["value"] for tag in repeated["tags"]}
    assert tags["translations/why"] == f"rerun of {failed[:8]}; no earlier artifact"
    assert [stats["stepKey"] for stats in repeated["stepStats"]] == ["dataset_test"]
    status = translations(server, "status", answer["run"]["runId"], "--json")
    assert json.loads(status.stdout)["options"] == {"overrides": {"taskcluster.split-chunks": 3}}


def test_ctrl_c_leaves_the_run_running(server: Server) -> None:
    place = server.place
    (place.root / "configs" / "en-eo.wait.yml").write_text(
        (place.root / "configs" / f"{PARTITION}.yml").read_text().replace("name: tiny", "name: wait")
    )
    command = ["train", "en-eo.wait", "--target", "merge_corpus", "--start", "dataset"]
    with (place.root / "out").open("w") as out:
        process = subprocess.Popen(
            [str(BIN / "translations"), *command, "--server", server.url, "--yes"],
            env=place.environment,
            cwd=place.root,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )
    try:
        wait_for(lambda: "/runs/" in (place.root / "out").read_text(), 300, (place.root / "out").read_text)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
    finally:
        process.kill()
        process.wait()
    said = (place.root / "out").read_text()
    run = said.partition("/runs/")[2].split()[0]
    assert f"To cancel it: translations cancel {run} --server {server.url}" in said
    cancelled = translations(server, "cancel", run, "--server", server.url)
    # It may be faster than we, and on a loaded machine slower than a command waits
    may_be = {"SUCCESS", "CANCELED"} if cancelled.returncode else {"CANCELED"}
    assert ended(server, run)["status"] in may_be, cancelled.stderr


def test_nothing_answers(server: Server) -> None:
    done = translations(server, "train", PARTITION, "--server", "http://127.0.0.1:9", "--yes")
    assert done.returncode == 1
    assert done.stderr.startswith("error: No Dagster server answers at http://127.0.0.1:9")
    assert "steps" not in done.stdout


def test_run_options_of_the_launchpad(server: Server) -> None:
    """Options of the resource `run` in the Launchpad count for the run."""
    config = {"overrides": {"experiment": {"spm-vocab-size": 344}}, "start": "dataset_devtest"}
    run = server.launch(PARTITION, ["dataset_devtest"], "all", {"resources": {"run": {"config": config}}})
    found = ended(server, run)
    assert found["status"] == "SUCCESS", messages(found)
    record = json.loads(translations(server, "status", run, "--json").stdout)
    assert record["options"] == config
    (step,) = record["steps"]
    assert step["state"] == "finished"  # made again by this run, although it was cached


def paste(server: Server, **config: Any) -> str:
    run_config = {"ops": {"pasted_config": {"config": config}}}
    return server.launch("", [], "train_pasted_config", run_config)


@pytest.mark.parametrize("as_text", [True, False])
def test_a_pasted_config_is_kept_and_trained(server: Server, as_text: bool) -> None:
    name = "text" if as_text else "mapping"
    text = (server.place.root / "configs" / f"{PARTITION}.yml").read_text()
    config = text if as_text else yaml.safe_load(text)
    found = ended(server, paste(server, config=config, name=name, target="dataset_devtest"))
    assert found["status"] == "SUCCESS", messages(found)
    said = messages(found)
    assert f"kept as en-eo.{name}" in said
    assert f"Launched {server.url}" not in said  # an address of programs may be dead for people
    launched = said.partition("/runs/")[2].split()[0]
    trained = ended(server, launched)
    assert trained["status"] == "SUCCESS", messages(trained)
    plan = translations(server, "plan", f"en-eo.{name}", "--target", "dataset_devtest")
    assert "1 step: 1 cached" in plan.stdout


def test_the_template_of_a_pasted_config_trains_as_it_is(server: Server) -> None:
    """Its demo takes minutes: the training is ended once it has begun."""
    (preset,) = server.ask(TEMPLATE)["pipelineOrError"]["presets"]
    config = yaml.safe_load(preset["runConfigYaml"])
    found = ended(server, server.launch("", [], "train_pasted_config", config))
    assert found["status"] == "SUCCESS", messages(found)
    assert "kept as en-eo.my-experiment" in messages(found)
    launched = messages(found).partition("/runs/")[2].split()[0]
    wait_for(lambda: "dataset-train" in str(server.run(launched)), 120, lambda: server.run(launched))
    translations(server, "cancel", launched, "--server", server.url)
    cancelled = ended(server, launched)
    assert cancelled["status"] == "CANCELED", messages(cancelled)
    assert [error["stack"] for error in errors(cancelled)] == [[]] * len(errors(cancelled))
    assert "Cancelled. What is finished is kept" in messages(cancelled)


def test_all_that_is_wrong_with_a_pasted_config_is_told(server: Server) -> None:
    config = "experiment:\n  src: en\n  trg: eo\n  nme: x\ndatasets:\n  trian: []\n"
    found = ended(server, paste(server, config=config))
    assert found["status"] == "FAILURE"
    said = messages(found)
    assert "the pasted config:4" in said
    assert "nme" in said
    assert "trian" in said
