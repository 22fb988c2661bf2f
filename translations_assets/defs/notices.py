"""Notices of how runs end, to a webhook in the form of Slack's: a message, and the one command that goes on.

Off until `TRANSLATIONS_WEBHOOK` names the webhook's address and the sensors are switched on. Mattermost and
Google Chat take the same form.
"""

from collections.abc import Iterator, Mapping

import dagster as dg
import requests

from translations_assets.defs.shared import PROJECT
from translations_assets.records.run import RunRecord
from translations_assets.server import PARTITION_TAG, Server
from translations_assets.settings import server_url, webhook
from translations_assets.why.history import duration

SECONDS = 10.0  # that the webhook's server has to answer
MOST_CHARACTERS = 600  # of why a run failed
MOST_STEPS = 3
SENSOR_SECONDS = 30

ENDS: Mapping[dg.DagsterRunStatus, str] = {
    dg.DagsterRunStatus.SUCCESS: "done",
    dg.DagsterRunStatus.FAILURE: "failed",
    dg.DagsterRunStatus.CANCELED: "cancelled",
}


def notice(instance: dg.DagsterInstance, run: dg.DagsterRun) -> str:
    """What is said of a run that has ended."""
    partition, short = run.tags[PARTITION_TAG], run.run_id[:8]
    record = PROJECT.store.read_run(run.run_id) or RunRecord()
    stats = instance.get_run_stats(run.run_id)
    took = ""
    if stats.start_time is not None and stats.end_time is not None:
        took = f" after {duration(stats.end_time - stats.start_time)}"
    lines = [f"{partition}, run {short}: {ENDS[run.status]}{took}.", *_reasons(record)]
    lines.append(Server(server_url()).run_url(run.run_id))
    return "\n".join([*lines, *_next(run, record)])


def _reasons(record: RunRecord) -> Iterator[str]:
    for label, why in [*record.failed.items()][:MOST_STEPS]:
        yield f"{label}: {why}"[:MOST_CHARACTERS]
    if len(record.failed) > MOST_STEPS:
        yield f"and {len(record.failed) - MOST_STEPS} more"


def _next(run: dg.DagsterRun, record: RunRecord) -> Iterator[str]:
    partition, short = run.tags[PARTITION_TAG], run.run_id[:8]
    if run.status == dg.DagsterRunStatus.SUCCESS:
        yield f"Scores: `translations results {partition}`"
    elif run.status == dg.DagsterRunStatus.FAILURE and not record.failed:  # no step: a gate
        yield f"It waits for a decision: `translations checks {partition}`"
    else:
        yield f"To go on: `translations rerun {short}`"


def send(text: str) -> None:
    """Send a message. Raises dg.Failure, which never names the address: who knows it may write."""
    try:
        answer = requests.post(webhook(), json={"text": text}, timeout=SECONDS, allow_redirects=False)
    except requests.RequestException as error:
        raise dg.Failure(f"The webhook cannot be reached: {type(error).__name__}") from None
    if not 200 <= answer.status_code < 300:
        raise dg.Failure(f"The webhook answers {answer.status_code} {answer.reason}")


def _sensor(status: dg.DagsterRunStatus) -> dg.SensorDefinition:
    name = ENDS[status]

    @dg.run_status_sensor(
        status,
        name=f"notice_of_runs_{name}",
        description=f"Tells TRANSLATIONS_WEBHOOK that a run is {name}. Off until it is switched on.",
        minimum_interval_seconds=SENSOR_SECONDS,
        default_status=dg.DefaultSensorStatus.STOPPED,
    )
    def tell(context: dg.RunStatusSensorContext) -> dg.SkipReason | None:
        if not webhook():
            return dg.SkipReason("TRANSLATIONS_WEBHOOK names no address: nothing was sent.")
        if PARTITION_TAG not in context.dagster_run.tags:
            return dg.SkipReason("Not a run of a training config.")
        send(notice(context.instance, context.dagster_run))
        return None

    return tell


NOTICES = [_sensor(status) for status in ENDS]
