"""The end of a training config's run, from its record and Dagster's log, and the next steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import dagster as dg

from translations_assets.checks.gates import HARMLESS
from translations_assets.common.settings import LOCAL_SERVER
from translations_assets.config.deployment import Deployment
from translations_assets.instance.server import (
    AUTO_RETRY_RUN_ID_TAG,
    GATE,
    MAX_RETRIES_TAG,
    RETRY_NUMBER_TAG,
    RUN_FAILURE_REASON_TAG,
)
from translations_assets.records.commands import TrainRequest, command, override_words
from translations_assets.running.budget import spent_of
from translations_assets.runs.failed_assets import FailedAsset, failed_assets
from translations_assets.runs.run import Run
from translations_assets.stages import last_asset

_PROCESS_GONE = {"", "UNEXPECTED_TERMINATION", "RUN_WORKER_RESTART"}  # Dagster's reasons of a failure


@dataclass(frozen=True)
class EndedRun:
    """A run that is over, with what Dagster's log says of its end.

    dagster     Dagster's run as it is now: a moment after its end it is noted that it is launched again
    deployment  its prices, and whether the run is a cluster's; None without a deployment file
    """

    run: Run
    dagster: dg.DagsterRun
    instance: dg.DagsterInstance
    deployment: Deployment | None

    @cached_property
    def failed(self) -> Sequence[FailedAsset]:
        """The assets that failed, in order."""
        return [*failed_assets(self.instance, self.run.id)]

    @property
    def causes(self) -> set[str]:
        """Causes of the assets' failures: see `failed_assets.Cause`."""
        return {asset.cause for asset in self.failed}

    @property
    def failed_gates(self) -> list[str]:
        """The names of the gates that stopped it."""
        return sorted({gate for asset in self.failed for gate in asset.gates})

    def reasons(self) -> Iterator[str]:
        """Explain why it did not succeed: each failed step, then other failures, then the end of all."""
        for label, why in self.run.record.failed.items():
            yield f"{label}: {why}"
        if self.dagster.status == dg.DagsterRunStatus.CANCELED:
            return  # its assets say no more than that
        of_steps = {"steps", "lost results", "budget"} if self.run.record.failed else set[str]()
        yield from (asset.text for asset in self.failed if asset.cause not in of_steps)
        if not self.failed or self._has_lost_its_process():
            yield from self._end()

    def spending(self) -> str:
        """Say how much of its budget is spent; empty without a budget."""
        record = self.run.record
        costs = self.deployment.costs if self.deployment else None
        if not record.run or not record.options.budget or not costs:  # of no record, nothing spent is known
            return ""
        return spent_of(record.spent, record.options.budget, costs.currency)

    def launched_again(self) -> str:
        """Say that Dagster retries it by itself; empty when it does not."""
        tags = self.dagster.tags
        if follower := tags.get(AUTO_RETRY_RUN_ID_TAG):
            return f"It goes on by itself, as run {follower[:8]}: there is nothing to do."
        if not self.dagster.is_complete_and_waiting_to_retry:
            return ""
        number = int(tags.get(RETRY_NUMBER_TAG, 0)) + 1
        most = tags.get(MAX_RETRIES_TAG, self.instance.run_retries_max_retries)
        return f"It is launched again by itself, time {number} of {most}: there is nothing to do."

    def repetition(self, *words: str, overrides: Mapping[str, object] | None = None) -> str:
        """The command of `translations train` that asks for the same, with other words and overrides."""
        asked = self.run.record.options
        options = replace(asked, overrides={**asked.overrides, **(overrides or {})})
        server = LOCAL_SERVER if self._is_on_cluster else None
        request = TrainRequest(last_asset(self.run.record.stages), options, server)
        return command("train", self.run.partition, *request.words(*words))

    def rerun(self) -> str:
        """The command that goes on after a failure or a cancellation."""
        return self.repetition() if self._is_on_cluster else f"translations rerun {self.run.short}"

    def next_steps(self) -> Iterator[str]:
        """Suggest the next steps after a failure or a cancellation."""
        if again := self.launched_again():
            yield again
        elif "lost results" in self.causes:
            yield f"To make again what is lost: `{self.repetition('--repair')}`"
        elif "training config" in self.causes:
            check = f"translations config check {self.run.partition}"
            yield f"All that is wrong with its training config: `{check}`"
        elif self.makes_steps and not self.run.record.failed and self.failed_gates:
            overrides = {f"checks.{gate}.level": "warn" for gate in self.failed_gates}
            yield f"It waits for a decision: `{self.question('checks')}`"
            yield f"To go on all the same: `{self.repetition(overrides=overrides)}`"
        elif self.makes_steps:
            yield f"To go on: `{self.rerun()}`"

    def question(self, verb: str) -> str:
        """A command of `translations` about the partition as it was in this run, overrides included."""
        return command(verb, self.run.partition, *override_words(self.run.record.options))

    @property
    def makes_steps(self) -> bool:
        """True if it was asked for stages; a run of a report alone has none."""
        return bool(self.run.record.stages)

    @property
    def _is_on_cluster(self) -> bool:
        """True if one's own machine can repeat nothing of it, and needs a port forwarded to its server."""
        return bool(self.deployment and self.deployment.kubernetes)

    def _end(self) -> Iterator[str]:
        """Yield Dagster's words on the failure of a run in which no asset failed."""
        for entry in self.instance.all_logs(self.run.id, of_type=dg.DagsterEventType.RUN_FAILURE):
            event = entry.get_dagster_event()
            # there are no data of a run that others report as failed
            error = event.job_failure_data.error if event.event_specific_data else None
            said = (error.message.strip() if error else event.message) or ""
            yield f"It has lost its process. {said}" if self._has_lost_its_process() else said

    def _has_lost_its_process(self) -> bool:
        reason = self.dagster.tags.get(RUN_FAILURE_REASON_TAG, "")
        return self.run.started is not None and reason in _PROCESS_GONE


def missed_gates(instance: dg.DagsterInstance, run: str) -> dict[str, list[str]]:
    """The asset checks of a run that did not pass, by state: "failed" (or warned) or "not computed"."""
    missed: dict[str, list[str]] = {}
    for entry in instance.all_logs(run, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION):
        check = entry.get_dagster_event().asset_check_evaluation_data
        if not check.passed:
            missed.setdefault(str(check.metadata["state"].value), []).append(check.check_name)
    for entry in instance.all_logs(run, of_type=dg.DagsterEventType.ENGINE_EVENT):
        metadata = entry.get_dagster_event().engine_event_data.metadata
        if GATE in metadata and metadata["state"].value not in HARMLESS:
            missed.setdefault(str(metadata["state"].value), []).append(str(metadata[GATE].value))
    return {state: sorted(names) for state, names in sorted(missed.items())}
