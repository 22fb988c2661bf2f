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

from translations_assets.common import settings
from translations_assets.common.errors import TranslationsError
from translations_assets.defs.endings import ToldDelay
from translations_assets.defs.shared import PROJECT
from translations_assets.defs.webhook import MessageRefused, Undelivered, Webhook
from translations_assets.instance.server import PARTITION_TAG, Server
from translations_assets.records.cost import duration
from translations_assets.runs.ended import EndedRun
from translations_assets.runs.instance import run_of_dagster
from translations_assets.runs.run import Run, merged

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


def notice(ended: EndedRun, status: dg.DagsterRunStatus) -> str:
    """Write the notice of a run that has ended, with the status that is reported."""
    run = ended.run
    took = "" if run.seconds is None else f" after {duration(run.seconds)}"
    lines = [f"{run.partition}, run {run.short}: {ENDS[status]}{took}."]
    if status != dg.DagsterRunStatus.SUCCESS:
        lines += _reasons([*ended.reasons()])
    if spending := ended.spending():
        lines.append(spending)
    if server := settings.public_server_url():
        lines.append(Server(server).run_url(run.id))
    return "\n".join([*lines, *_next(ended, status)])


def _ended(instance: dg.DagsterInstance, run: str) -> EndedRun | None:
    """A run that is over; None when it was deleted."""
    found = instance.get_run_record_by_id(run)
    if found is None:
        return None
    try:
        record = PROJECT.store.read_run(run)
    except TranslationsError:  # the store is away
        record = None
    merged_run = merged(run_of_dagster(instance, PROJECT.store, found), record)
    return EndedRun(merged_run, found.dagster_run, instance, PROJECT.deployment)


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
    ended = _ended(context.instance, run.run_id)
    if ended is None:
        return dg.SkipReason("The run was deleted.")
    text = notice(ended, run.status)
    try:
        WEBHOOK.send(settings.webhook(), text)
    except Undelivered as error:
        said, is_lost = str(error), isinstance(error, MessageRefused) or _is_old(ended.run)
    else:
        return DagsterRunReaction(run, run_status=run.status)
    if is_lost:
        raise dg.Failure(f"The webhook does not take a notice ({said}), which is lost:\n{text}")
    raise ToldDelay(f"The webhook does not take a notice ({said}). The next tick tries again:\n{text}")


def _is_old(run: Run) -> bool:
    return bool(run.ended and time.time() - run.ended > KEPT_SECONDS)


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
