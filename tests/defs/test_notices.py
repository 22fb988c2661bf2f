"""Notices of runs: what the webhook's server gets.

In Dagster's daemon: `tests/end_to_end/test_notices.py`. What is tried again: `tests/defs/test_webhook.py`.
"""

import json
import re
import shlex
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar

import dagster as dg
import pytest
from dagster._core.execution.plan.objects import StepFailureData, UserFailureData

from tests.cli.conftest import make
from tests.defs.runner import MadeUpRunner
from tests.end_to_end.tiny import PARTITION, make_place
from tests.http_server import http_server
from translations_assets.cli.common import overrides_of
from translations_assets.common.errors import FailedStep, StepFailed, StoreError
from translations_assets.config.errors import ConfigError
from translations_assets.definitions import defs
from translations_assets.defs import notices
from translations_assets.defs.endings import ToldDelay, ToldFailure, failure_of
from translations_assets.defs.webhook import Webhook
from translations_assets.instance.server import PARTITION_TAG
from translations_assets.project import Project
from translations_assets.records.run import RunOptions, RunRecord
from translations_assets.runs import instance
from translations_assets.runs.ended import EndedRun
from translations_assets.runs.run import Run

RUN = "12345678-0000-4000-8000-000000000000"
SECRET = "a-secret-address"
SUCCESS, FAILURE = dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE
CANCELED = dg.DagsterRunStatus.CANCELED
KINDS = {SUCCESS: "PIPELINE_SUCCESS", FAILURE: "PIPELINE_FAILURE", CANCELED: "PIPELINE_CANCELED"}
KILLED = "Detected run worker status FAILED. Marking run as failed."
GATES = ToldFailure("merge_corpus duplicates: 50 % of the lines", "gates", gates=["duplicates"])
LABEL = "merge-corpus-en-eo"
STEPS = failure_of(StepFailed([FailedStep(LABEL, "The step failed: no room")]))


class Server(BaseHTTPRequestHandler):
    """Answers as it is told to, and keeps what it got."""

    status = 200
    got: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        """Keep the message."""
        self.got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"])
        self.send_response(self.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Nothing."""


def remember(**known: Any) -> None:
    """Write the run's record to the store."""
    record = RunRecord(run=RUN, partition=PARTITION, **{"stages": ("merge_corpus",), **known})
    Project().store.write_run(RUN, record)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Server]]:
    for name, value in make_place(tmp_path / "place").environment.items():
        if name.startswith("TRANSLATIONS_"):
            monkeypatch.setenv(name, value)
    monkeypatch.setattr(notices, "PROJECT", Project())
    monkeypatch.setattr(notices, "WEBHOOK", Webhook())
    monkeypatch.setattr(Server, "got", [])
    monkeypatch.setattr(Server, "status", 200)
    with http_server(Server) as url:
        monkeypatch.setenv("TRANSLATIONS_WEBHOOK", f"{url}/{SECRET}")
        yield Server


def tell(
    status: dg.DagsterRunStatus,
    tags: Mapping[str, str] | None = None,
    *,
    error: Exception | None = None,
    settings: Mapping[str, Any] | None = None,
    asked: Mapping[str, Any] | None = None,
    killed: bool = False,
) -> object:
    """Result of a status's sensor for a run that ends so.

    error     of its only asset; without one, a run that fails is killed
    killed    so it is although the asset has failed
    settings  of Dagster's instance
    asked     the options of the run
    """

    @dg.op(name="merge_corpus")
    def work() -> None:
        if error:
            raise error

    @dg.job(resource_defs={"run": dg.resource(config_schema=dict)(lambda: None)})
    def job() -> None:
        work()

    options = {"resources": {"run": {"config": dict(asked or {})}}}
    tagged = {PARTITION_TAG: PARTITION} if tags is None else tags
    with dg.DagsterInstance.ephemeral(settings=dict(settings or {})) as instance:
        if status == SUCCESS or (error and status == FAILURE and not killed):
            job.execute_in_process(options, instance, tags=dict(tagged), run_id=RUN, raise_on_error=False)
        else:
            run = instance.create_run_for_job(job, run_id=RUN, tags=tagged, run_config=options)
            instance.report_dagster_event(dg.DagsterEvent("PIPELINE_START", "job"), RUN)
            if isinstance(error, dg.Failure):
                told = UserFailureData("intentional-failure", error.description, error.metadata)  # type: ignore[no-untyped-call]
                data = StepFailureData(None, told)  # type: ignore[no-untyped-call]
                failed = dg.DagsterEvent(
                    "STEP_FAILURE", "job", step_key="merge_corpus", event_specific_data=data
                )
                instance.report_dagster_event(failed, RUN)
            if status == CANCELED:
                instance.report_run_canceled(run)
            else:
                instance.report_run_failed(run, KILLED)
        ended_run = instance.get_run_by_id(RUN)
        assert ended_run is not None
        assert ended_run.status == status
        (sensor,) = (each for each in notices.NOTICES if each.name.endswith(notices.ENDS[status]))
        event = dg.DagsterEvent(KINDS[status], "job", message="")
        return sensor(dg.build_run_status_sensor_context(sensor.name, event, instance, ended_run))


def test_a_run_that_is_done_is_told_with_where_its_scores_are(server: type[Server]) -> None:
    tell(SUCCESS)
    first, command = server.got[0].splitlines()
    assert first.startswith(f"{PARTITION}, run 12345678: done after ")
    assert command == f"Scores: `translations results {PARTITION}`"


def test_the_page_of_the_run_has_the_address_that_people_reach(
    server: type[Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of programs is of the cluster, and dead outside of it."""
    monkeypatch.setenv("TRANSLATIONS_SERVER", "http://dagster-webserver:3000")
    tell(SUCCESS)
    assert "http" not in server.got[0]
    monkeypatch.setenv("TRANSLATIONS_PUBLIC_SERVER", "https://dagster.example.org/")
    tell(SUCCESS)
    assert server.got[1].splitlines()[1] == f"https://dagster.example.org/runs/{RUN}"


def test_a_run_that_failed_is_told_with_why_and_how_to_go_on(server: type[Server]) -> None:
    make("train_vocab", RUN, runner=MadeUpRunner(fails=LABEL))
    tell(FAILURE, error=STEPS)
    first, why, command = server.got[0].splitlines()
    assert first.startswith(f"{PARTITION}, run 12345678: failed after ")
    assert why.startswith(f"{LABEL}: pipeline.clean.merge_parallel ended with exit code 1")
    assert command == "To go on: `translations rerun 12345678`"


def test_a_run_that_a_gate_has_stopped_waits_for_a_decision(server: type[Server]) -> None:
    remember()
    tell(FAILURE, error=GATES)
    _, why, look, command = server.got[0].splitlines()
    assert why == "merge_corpus duplicates: 50 % of the lines"
    assert look == f"It waits for a decision: `translations checks {PARTITION}`"
    assert command.startswith(f"To go on all the same: `translations train {PARTITION} ")
    assert '--set=checks.duplicates.level="warn"' in shlex.split(command.split("`")[1])


def test_a_gate_and_a_failed_step_are_both_told_and_the_step_is_made_first(server: type[Server]) -> None:
    remember(failed={LABEL: "no room"})
    tell(FAILURE, error=GATES)
    _, step, gate, command = server.got[0].splitlines()
    assert step.startswith(LABEL)
    assert gate == "merge_corpus duplicates: 50 % of the lines"
    assert command == "To go on: `translations rerun 12345678`"


def test_a_run_whose_process_was_killed_waits_for_no_decision(server: type[Server]) -> None:
    remember()
    tell(FAILURE)
    _, why, command = server.got[0].splitlines()
    assert why == f"It has lost its process. {KILLED}"
    assert command == "To go on: `translations rerun 12345678`"


def test_a_run_that_was_killed_after_a_gate_had_failed_tells_both(server: type[Server]) -> None:
    remember()
    tell(FAILURE, error=GATES, killed=True)
    _, gate, killed, *_ = server.got[0].splitlines()
    assert gate == "merge_corpus duplicates: 50 % of the lines"
    assert killed == f"It has lost its process. {KILLED}"


def test_a_run_that_was_cancelled_goes_on_where_it_was(server: type[Server]) -> None:
    remember()
    tell(CANCELED, error=ToldFailure("Cancelled."))
    first, command = server.got[0].splitlines()
    assert first.startswith(f"{PARTITION}, run 12345678: cancelled after ")
    assert command == "To go on: `translations rerun 12345678`"


def test_an_error_in_the_training_config_says_so(server: type[Server]) -> None:
    error = ConfigError.of("is no list", "configs/en-eo.tiny.yml", 12, "datasets.train")
    tell(FAILURE, error=failure_of(error))
    _, why, command = server.got[0].splitlines()
    assert why == str(error)
    assert command == f"All that is wrong with its training config: `translations config check {PARTITION}`"


def test_another_error_is_told_as_it_is(server: type[Server]) -> None:
    remember()
    tell(FAILURE, error=failure_of(StoreError("The store is full.")))
    assert server.got[0].splitlines()[1:] == [
        "The store is full.",
        "To go on: `translations rerun 12345678`",
    ]
    tell(FAILURE, error=KeyError("a bug"))
    assert "merge_corpus: " in server.got[1]
    assert "KeyError: 'a bug'" in server.got[1]


def test_what_is_lost_is_asked_for_with_repair(server: type[Server]) -> None:
    remember()
    lost = FailedStep(LABEL, "is lost: its files are gone", is_lost=True)
    tell(FAILURE, error=failure_of(StepFailed([lost])))
    _, why, command = server.got[0].splitlines()
    assert why == "is lost: its files are gone"
    assert command.startswith(f"To make again what is lost: `translations train {PARTITION} ")
    assert command.endswith(" --repair`")


def test_commands_carry_what_was_asked_of_the_run(server: type[Server]) -> None:
    options = {"budget": 5.0, "repair": True, "overrides": {"experiment.spm-vocab-size": 500}}
    lost = failure_of(StepFailed([FailedStep(LABEL, "is lost", is_lost=True)]))
    changed = "--set=experiment.spm-vocab-size=500"
    told = f"`translations train {PARTITION} --target merge_corpus --budget=5.0 {changed} --repair`"
    tell(FAILURE, error=lost, asked=options)  # a run that the store does not know
    assert server.got[0].endswith(told)
    remember(options=RunOptions.from_dict(options))
    tell(FAILURE, error=lost)
    assert server.got[1].endswith(told)
    tell(SUCCESS)
    assert server.got[2].endswith(f"`translations results {PARTITION} {changed}`")


def test_what_a_run_has_spent_of_its_budget_is_said_and_why_it_stopped(
    server: type[Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deployment.yml").write_text("costs: {currency: EUR, worker-classes: {cpu: {price: 1}}}\n")
    monkeypatch.setenv("TRANSLATIONS_DEPLOYMENT", str(tmp_path / "deployment.yml"))
    monkeypatch.setattr(notices, "PROJECT", Project())
    why, options = "not begun: the run's budget of 0.01 EUR is spent: 2.13 EUR", RunOptions(budget=0.01)
    remember(options=options, spent=2.131, failed={LABEL: why})
    tell(FAILURE, error=failure_of(StepFailed([FailedStep(LABEL, why, unpaid=True)])))
    spent = "The run has spent 2.13 EUR, 2.12 EUR more than its budget of 0.01 EUR."
    assert server.got[0].splitlines()[1:3] == [f"{LABEL}: {why}", spent]
    assert server.got[0].endswith(f"To go on: `translations rerun {RUN[:8]}`")
    remember(options=options, spent=2.131)
    tell(SUCCESS)
    assert spent in server.got[1].splitlines()
    remember()
    tell(SUCCESS)
    assert "budget" not in server.got[2]


def test_commands_can_be_typed_whatever_was_overridden(server: type[Server]) -> None:
    overrides = {"experiment.name": 'it\'s a "b" $HOME', "datasets.test": ["a b", "c"]}
    remember(options=RunOptions(overrides=overrides))
    tell(SUCCESS)
    (told,) = re.findall(r"Scores: `(.*)`$", server.got[0])
    program, verb, partition, *words = shlex.split(told)
    assert (program, verb, partition) == ("translations", "results", PARTITION)
    assert overrides_of([word.removeprefix("--set=") for word in words]) == overrides


RETRIES = {"run_retries": {"enabled": True, "max_retries": 2, "retry_on_asset_or_op_failure": False}}


def test_a_run_that_is_launched_again_asks_nothing_of_people(server: type[Server]) -> None:
    remember()
    tell(FAILURE, settings=RETRIES)
    last = server.got[0].splitlines()[-1]
    assert last == "It is launched again by itself, time 1 of 2: there is nothing to do."
    again = {PARTITION_TAG: PARTITION, "dagster/retry_number": "1", "dagster/max_retries": "5"}
    tell(FAILURE, again, settings=RETRIES)
    last = server.got[1].splitlines()[-1]
    assert last == "It is launched again by itself, time 2 of 5: there is nothing to do."
    tell(FAILURE, {**again, "dagster/auto_retry_run_id": "abcdef12-3456"}, settings=RETRIES)
    assert server.got[2].splitlines()[-1] == "It goes on by itself, as run abcdef12: there is nothing to do."
    assert "`" not in "".join(server.got)


@pytest.mark.parametrize(("error", "most"), [(STEPS, 2), (None, 0)])
def test_a_run_that_is_not_launched_again_is_for_people(
    server: type[Server], error: Exception | None, most: int
) -> None:
    """A failed step was tried again already; after so many launches there is none any more."""
    remember()
    tell(FAILURE, error=error, settings={"run_retries": {**RETRIES["run_retries"], "max_retries": most}})
    assert server.got[0].endswith("`translations rerun 12345678`")


def test_a_run_of_a_cluster_goes_on_by_its_server(
    server: type[Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`rerun` needs the instance that the run is in."""
    remember()
    store = Project().store
    example = Path(__file__).parents[2] / "deploy" / "deployment.example.yml"
    monkeypatch.setenv("TRANSLATIONS_DEPLOYMENT", str(example))
    project = Project()
    project.__dict__["store"] = store
    monkeypatch.setattr(notices, "PROJECT", project)
    tell(FAILURE)
    command = server.got[0].split("`")[1]
    assert command.startswith(f"translations train {PARTITION} ")
    assert command.endswith(" --server http://127.0.0.1:3000")


def test_a_run_of_no_stages_offers_no_command(server: type[Server], monkeypatch: pytest.MonkeyPatch) -> None:
    """`rerun` of a report's run would train."""
    monkeypatch.setattr(instance, "stages_of", lambda instance, run: [])
    tell(FAILURE, error=failure_of(StoreError("The store is full.")))
    tell(SUCCESS)
    assert "`" not in "".join(server.got)


def test_a_store_that_is_away_keeps_no_notice_back(
    server: type[Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(run: str) -> None:
        raise StoreError("away")

    project = Project()
    monkeypatch.setattr(project.store, "read_run", away)
    monkeypatch.setattr(notices, "PROJECT", project)
    tell(FAILURE, error=STEPS)
    assert server.got[0].splitlines()[1] == "The step failed: no room"


def test_many_and_long_reasons_are_cut(server: type[Server], monkeypatch: pytest.MonkeyPatch) -> None:
    reasons = ["x" * 700, "short", "third", "fourth", "fifth"]
    monkeypatch.setattr(EndedRun, "reasons", lambda self: iter(reasons))
    tell(FAILURE)
    assert server.got[0].splitlines()[1:5] == ["x" * 600 + " …", "short", "third", "and 2 more"]


def test_a_notice_that_is_not_taken_waits_for_another_tick(server: type[Server]) -> None:
    server.status = 404
    with pytest.raises(ToldDelay, match=r"it answers 404\)\. The next tick tries again:\nen-eo") as failed:
        tell(SUCCESS)
    assert SECRET not in str(failed.value)


@pytest.mark.parametrize(("status", "kept"), [(400, 3600.0), (404, -1.0)])
def test_a_notice_that_is_refused_or_old_is_told_as_lost(
    server: type[Server], status: int, kept: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices, "KEPT_SECONDS", kept)
    server.status = status
    with pytest.raises(dg.Failure, match=rf"it answers {status}\), which is lost:\nen-eo") as failed:
        tell(SUCCESS)
    assert not isinstance(failed.value, dg.DagsterError)  # past which Dagster does not move
    assert SECRET not in str(failed.value)


@pytest.mark.parametrize(
    ("began", "ended_at", "lost"),
    [(72.0, 1.0, False), (72.0, 25.0, True), (26.0, 23.9, False), (2.0, None, False)],
)
def test_a_notice_is_kept_for_a_day_from_the_runs_end(
    began: float, ended_at: float | None, lost: bool
) -> None:
    """In hours ago; a training of three days that has just ended is no old one."""
    now = time.time()
    end = None if ended_at is None else now - 3600 * ended_at
    run = Run(RUN, PARTITION, "failed", RunRecord(), started=now - 3600 * began, ended=end)
    assert notices._is_old(run) is lost


def test_nothing_is_sent_unasked(server: type[Server], monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(tell(SUCCESS, {}), dg.SkipReason)  # not a run of ours
    monkeypatch.delenv("TRANSLATIONS_WEBHOOK")
    assert isinstance(tell(SUCCESS), dg.SkipReason)
    assert server.got == []
    names = {sensor.name for sensor in notices.NOTICES}
    sensors = [each for each in defs.get_repository_def().sensor_defs if each.name in names]
    assert [each.default_status for each in sensors] == [dg.DefaultSensorStatus.STOPPED] * 3
