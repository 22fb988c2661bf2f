"""Notices of runs: what the webhook's server gets."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar

import dagster as dg
import pytest

from tests.cli.conftest import make
from tests.defs.runner import MadeUpRunner
from tests.end_to_end.tiny import PARTITION, make_place
from tests.http_server import http_server
from translations_assets.definitions import defs
from translations_assets.defs import notices
from translations_assets.project import Project
from translations_assets.server import PARTITION_TAG

RUN = "12345678-0000-4000-8000-000000000000"
SECRET = "a-secret-address"
SUCCESS, FAILURE = dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE


class Webhook(BaseHTTPRequestHandler):
    """Answers as it is told to, and keeps what it got."""

    status = 200
    got: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        """Keep the message."""
        self.got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(self.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Nothing."""


@pytest.fixture
def webhook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Webhook]]:
    for name, value in make_place(tmp_path / "place").environment.items():
        if name.startswith("TRANSLATIONS_"):
            monkeypatch.setenv(name, value)
    monkeypatch.setattr(notices, "PROJECT", Project())
    monkeypatch.setattr(Webhook, "got", [])
    monkeypatch.setattr(Webhook, "status", 200)
    with http_server(Webhook) as url:
        monkeypatch.setenv("TRANSLATIONS_WEBHOOK", f"{url}/{SECRET}")
        yield Webhook


def tell(status: dg.DagsterRunStatus, tags: dict[str, str] | None = None) -> object:
    """What the sensor of a status says of a run that ends so."""

    @dg.op
    def work() -> None:
        if status == FAILURE:
            raise dg.Failure("no")

    @dg.job(tags={PARTITION_TAG: PARTITION} if tags is None else tags)
    def job() -> None:
        work()

    with dg.DagsterInstance.ephemeral() as instance:
        done = job.execute_in_process(instance=instance, run_id=RUN, raise_on_error=False)
        name = f"notice_of_runs_{notices.ENDS[status]}"
        (sensor,) = (each for each in notices.NOTICES if each.name == name)
        event = done.get_run_failure_event() if status == FAILURE else done.get_run_success_event()
        return sensor(dg.build_run_status_sensor_context(name, event, instance, done.dagster_run))


def test_a_run_that_is_done_is_told_with_where_its_scores_are(webhook: type[Webhook]) -> None:
    tell(SUCCESS)
    (message,) = webhook.got
    first, page, command = message["text"].splitlines()
    assert first.startswith(f"{PARTITION}, run 12345678: done after ")
    assert page == f"http://127.0.0.1:3000/runs/{RUN}"
    assert command == f"Scores: `translations results {PARTITION}`"


def test_a_run_that_failed_is_told_with_why_and_how_to_go_on(webhook: type[Webhook]) -> None:
    make("train_vocab", RUN, runner=MadeUpRunner(fails="merge-corpus-en-eo"))
    tell(FAILURE)
    first, why, _, command = webhook.got[0]["text"].splitlines()
    assert first.startswith(f"{PARTITION}, run 12345678: failed after ")
    assert why.startswith("merge-corpus-en-eo: pipeline.clean.merge_parallel ended with exit code 1")
    assert command == "To go on: `translations rerun 12345678`"


def test_a_run_that_a_gate_has_stopped_waits_for_a_decision(webhook: type[Webhook]) -> None:
    make("train_vocab", RUN)
    tell(FAILURE)
    assert webhook.got[0]["text"].endswith(f"It waits for a decision: `translations checks {PARTITION}`")


@pytest.mark.parametrize("status", [302, 404, 500])
def test_what_the_webhook_refuses_fails_the_tick_without_its_address(
    webhook: type[Webhook], status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "status", status)
    with pytest.raises(dg.Failure, match=f"The webhook answers {status}") as failed:
        tell(SUCCESS)
    assert SECRET not in str(failed.value)


def test_a_webhook_that_is_away_is_told_without_its_address(
    webhook: type[Webhook], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSLATIONS_WEBHOOK", f"http://127.0.0.1:1/{SECRET}")
    with pytest.raises(dg.Failure, match="cannot be reached: ConnectionError") as failed:
        tell(SUCCESS)
    assert SECRET not in str(failed.value)


def test_nothing_is_sent_unasked(webhook: type[Webhook], monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(tell(SUCCESS, {}), dg.SkipReason)  # not a run of ours
    monkeypatch.delenv("TRANSLATIONS_WEBHOOK")
    assert isinstance(tell(SUCCESS), dg.SkipReason)
    assert webhook.got == []
    names = {sensor.name for sensor in notices.NOTICES}
    sensors = [each for each in defs.get_repository_def().sensor_defs if each.name in names]
    assert [each.default_status for each in sensors] == [dg.DefaultSensorStatus.STOPPED] * 3
