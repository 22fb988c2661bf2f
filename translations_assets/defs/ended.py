"""The end of a training config's run, from its record and Dagster's log, and the next steps."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import dagster as dg

# What tells a run whose process is gone from one that failed, and its tags.
from dagster._core.events import JobFailureData, RunFailureReason
from dagster._core.storage.tags import (
    AUTO_RETRY_RUN_ID_TAG,
    MAX_RETRIES_TAG,
    RETRY_NUMBER_TAG,
    RUN_FAILURE_REASON_TAG,
)

from translations_assets.defs.runs import stages_of
from translations_assets.defs.shared import PROJECT
from translations_assets.errors import TranslationsError
from translations_assets.records.run import RunOptions, RunRecord
from translations_assets.running.budget import spent_of
from translations_assets.server import CAUSE, GATE, PARTITION_TAG
from translations_assets.settings import LOCAL_SERVER
from translations_assets.stages import last_asset

_PROCESS_GONE = {"", RunFailureReason.UNEXPECTED_TERMINATION.value, RunFailureReason.RUN_WORKER_RESTART.value}


@dataclass(frozen=True)
class FailedAsset:
    """An asset, or the check of one, that failed.

    cause  see `endings.Cause`; "" also for errors that nobody has written for people
    gates  the names of those that failed
    """

    text: str
    cause: str = ""
    gates: Sequence[str] = ()


class EndedRun:
    """A run that is over. `run` is as its end has been reported; what is told here is as it is now."""

    def __init__(self, instance: dg.DagsterInstance, run: dg.DagsterRun) -> None:
        self._instance = instance
        # Dagster notes that it will launch it again a moment after its end
        self.run = instance.get_run_by_id(run.run_id) or run
        self.short = run.run_id[:8]
        self.partition = run.tags[PARTITION_TAG]

    @cached_property
    def record(self) -> RunRecord:
        """The run's record in the store: empty for one that never began, or while the store is away."""
        try:
            return PROJECT.store.read_run(self.run.run_id) or RunRecord()
        except TranslationsError:
            return RunRecord()

    @cached_property
    def failed(self) -> Sequence[FailedAsset]:
        """The assets that failed, in order."""
        return [*self._failed_assets()]

    @property
    def causes(self) -> set[str]:
        """Causes of the assets' failures: see `endings.Cause`."""
        return {asset.cause for asset in self.failed}

    @property
    def failed_gates(self) -> list[str]:
        """The names of the gates that stopped it."""
        return sorted({gate for asset in self.failed for gate in asset.gates})

    def reasons(self) -> Iterator[str]:
        """Explain why it did not succeed: each failed step, then other failures, then the end of all."""
        for label, why in self.record.failed.items():
            yield f"{label}: {why}"
        if self.run.status == dg.DagsterRunStatus.CANCELED:
            return  # its assets say no more than that
        of_steps = {"steps", "lost results", "budget"} if self.record.failed else set[str]()
        yield from (asset.text for asset in self.failed if asset.cause not in of_steps)
        if not self.failed or self._has_lost_its_process():
            yield from self._end()

    def spending(self) -> str:
        """Say how much of its budget is spent; empty without a budget."""
        limit, deployment = self.record.options.budget, PROJECT.deployment
        if not limit or not deployment or not deployment.costs:
            return ""
        return spent_of(self.record.spent, limit, deployment.costs.currency)

    def launched_again(self) -> str:
        """Say that Dagster retries it by itself; empty when it does not."""
        tags = self.run.tags
        if follower := tags.get(AUTO_RETRY_RUN_ID_TAG):
            return f"It goes on by itself, as run {follower[:8]}: there is nothing to do."
        if not self.run.is_complete_and_waiting_to_retry:
            return ""
        number = int(tags.get(RETRY_NUMBER_TAG, 0)) + 1
        most = tags.get(MAX_RETRIES_TAG, self._instance.run_retries_max_retries)
        return f"It is launched again by itself, time {number} of {most}: there is nothing to do."

    def repetition(self, *words: str, overrides: Mapping[str, object] | None = None) -> str:
        """The command of `translations train` that asks for the same, with other words and overrides."""
        options = self._options.to_dict()
        options["overrides"] = {**self._options.overrides, **(overrides or {})}
        asked = [word for word in RunOptions.from_dict(options).words() if word not in words]
        target = last_asset(self._stages)
        of_target = ["--target", target] if target else []
        server = ["--server", LOCAL_SERVER] if self._is_on_cluster else []
        return shlex.join(["translations", "train", self.partition, *of_target, *asked, *words, *server])

    def rerun(self) -> str:
        """The command that goes on after a failure or a cancellation."""
        return self.repetition() if self._is_on_cluster else f"translations rerun {self.short}"

    def next_steps(self) -> Iterator[str]:
        """Suggest the next steps after a failure or a cancellation."""
        if again := self.launched_again():
            yield again
        elif "lost results" in self.causes:
            yield f"To make again what is lost: `{self.repetition('--repair')}`"
        elif "training config" in self.causes:
            yield f"All that is wrong with its training config: `translations config check {self.partition}`"
        elif self.makes_steps and not self.record.failed and self.failed_gates:
            overrides = {f"checks.{gate}.level": "warn" for gate in self.failed_gates}
            yield f"It waits for a decision: `{self.question('checks')}`"
            yield f"To go on all the same: `{self.repetition(overrides=overrides)}`"
        elif self.makes_steps:
            yield f"To go on: `{self.rerun()}`"

    def question(self, verb: str) -> str:
        """A command of `translations` about the partition as it was in this run, overrides included."""
        overrides = RunOptions(overrides=self._options.overrides).words()
        return shlex.join(["translations", verb, self.partition, *overrides])

    @property
    def makes_steps(self) -> bool:
        """True if it was asked for stages; a run of a report alone has none."""
        return bool(self._stages)

    @cached_property
    def _stages(self) -> Sequence[str]:
        return self.record.stages or stages_of(self._instance, self.run)

    @property
    def _is_on_cluster(self) -> bool:
        """True if one's own machine can repeat nothing of it, and needs a port forwarded to its server."""
        return bool(PROJECT.deployment and PROJECT.deployment.kubernetes)

    @property
    def _options(self) -> RunOptions:
        if self.record.run:
            return self.record.options
        config = self.run.run_config if isinstance(self.run.run_config, dict) else {}
        return RunOptions.from_dict(config.get("resources", {}).get("run", {}).get("config", {}))

    def _failed_assets(self) -> Iterator[FailedAsset]:
        for entry in self._instance.all_logs(self.run.run_id, of_type=dg.DagsterEventType.STEP_FAILURE):
            event = entry.get_dagster_event()
            told, error = event.step_failure_data.user_failure_data, event.step_failure_data.error
            if told is None:  # nobody has written it for people: a bug
                error = error and (error.cause or error)
                said_so = error.message.strip() if error else event.message
                yield FailedAsset(f"{event.step_key}: {said_so}")
                continue
            said = {name: str(value.value) for name, value in told.metadata.items()}
            gates = said.get(GATE, "").split()
            yield FailedAsset(told.description or event.message or "", said.get(CAUSE, ""), gates)

    def _end(self) -> Iterator[str]:
        """Yield Dagster's words on the failure of a run in which no asset failed."""
        for entry in self._instance.all_logs(self.run.run_id, of_type=dg.DagsterEventType.RUN_FAILURE):
            event = entry.get_dagster_event()
            data = event.event_specific_data  # there is none of a run that others report as failed
            error = data.error if isinstance(data, JobFailureData) else None
            said = (error.message.strip() if error else event.message) or ""
            yield f"It has lost its process. {said}" if self._has_lost_its_process() else said

    def _has_lost_its_process(self) -> bool:
        stats = self._instance.get_run_stats(self.run.run_id)
        return stats.start_time is not None and self.run.tags.get(RUN_FAILURE_REASON_TAG, "") in _PROCESS_GONE
