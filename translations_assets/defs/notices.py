"""Notices of how runs end, to a webhook in the form of Slack's: a message, and the one command that goes on.

Off until `TRANSLATIONS_WEBHOOK` names the webhook's address and the sensors are switched on. Mattermost and
Google Chat take the same form.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

import dagster as dg

# What a run-status sensor gives when it has done its work. A tick ends with it, so that a tick which is done
# again because of one notice has sent no other.
from dagster._core.definitions.run_request import DagsterRunReaction

from translations_assets import settings
from translations_assets.defs.ended import EndedRun
from translations_assets.defs.endings import ToldDelay
from translations_assets.defs.webhook import Refused, Undelivered, Webhook
from translations_assets.records.cost import duration
from translations_assets.server import PARTITION_TAG, Server

MOST_CHARACTERS = 600  # of a reason
MOST_REASONS = 3
SENSOR_SECONDS = 30
KEPT_SECONDS = 24 * 3600.0  # that it is tried to send a notice, from the run's end on

ENDS: Mapping[dg.DagsterRunStatus, str] = {
    dg.DagsterRunStatus.SUCCESS: "done",
    dg.DagsterRunStatus.FAILURE: "failed",
    dg.DagsterRunStatus.CANCELED: "cancelled",
}
WEBHOOK = Webhook()


def notice(instance: dg.DagsterInstance, run: dg.DagsterRun) -> str:
    """Write the notice of a run that has ended."""
    ended = EndedRun(instance, run)
    stats = instance.get_run_stats(run.run_id)
    took = ""
    if stats.start_time is not None and stats.end_time is not None:
        took = f" after {duration(stats.end_time - stats.start_time)}"
    lines = [f"{ended.partition}, run {ended.short}: {ENDS[run.status]}{took}."]
    if run.status != dg.DagsterRunStatus.SUCCESS:
        lines += _reasons([*ended.reasons()])
    if spending := ended.spending():
        lines.append(spending)
    if server := settings.public_server_url():
        lines.append(Server(server).run_url(run.run_id))
    return "\n".join([*lines, *_next(ended, run.status)])


def _reasons(reasons: list[str]) -> Iterator[str]:
    for reason in reasons[:MOST_REASONS]:
        yield reason if len(reason) <= MOST_CHARACTERS else f"{reason[:MOST_CHARACTERS]} …"
    if len(reasons) > MOST_REASONS:
        yield f"and {len(reasons) - MOST_REASONS} more"


def _next(ended: EndedRun, status: dg.DagsterRunStatus) -> Iterator[str]:
    """Suggest the next steps."""
    if status == dg.DagsterRunStatus.SUCCESS:
        if ended.makes_steps:
            yield f"Scores: `{ended.question('results')}`"
    else:
        yield from ended.next_steps()


def tell(context: dg.RunStatusSensorContext) -> dg.SkipReason | DagsterRunReaction:
    """Send the notice of a run that has ended.

    Raises ToldDelay when another tick is to try again, dg.Failure when the notice is lost.
    """
    run = context.dagster_run
    if not settings.webhook():
        return dg.SkipReason("TRANSLATIONS_WEBHOOK names no address: nothing was sent.")
    if PARTITION_TAG not in run.tags:
        return dg.SkipReason("Not a run of a training config.")
    text = notice(context.instance, run)
    try:
        WEBHOOK.send(settings.webhook(), text)
    except Undelivered as error:
        said, is_lost = str(error), isinstance(error, Refused) or _is_old(context.instance, run)
    else:
        return DagsterRunReaction(run, run_status=run.status)
    if is_lost:
        raise dg.Failure(f"The webhook does not take a notice ({said}), which is lost:\n{text}")
    raise ToldDelay(f"The webhook does not take a notice ({said}). The next tick tries again:\n{text}")


def _is_old(instance: dg.DagsterInstance, run: dg.DagsterRun) -> bool:
    record = instance.get_run_record_by_id(run.run_id)
    return bool(record and record.end_time and time.time() - record.end_time > KEPT_SECONDS)


def _sensor(status: dg.DagsterRunStatus) -> dg.SensorDefinition:
    return dg.run_status_sensor(
        status,
        name=f"notice_of_runs_{ENDS[status]}",
        description=f"Tells TRANSLATIONS_WEBHOOK that a run is {ENDS[status]}. Off until it is switched on.",
        minimum_interval_seconds=SENSOR_SECONDS,
        default_status=dg.DefaultSensorStatus.STOPPED,
        monitor_all_code_locations=True,  # runs of `dagster asset materialize` belong to none
    )(tell)


NOTICES = [_sensor(status) for status in ENDS]
