"""One asset per stage, partitioned by training config, and its asset checks.

Materializing an asset finds the results of its steps in the store, runs the steps that have none, and
publishes data version and metadata.

Its checks are made from the table of gates: one computation an asset, with all of its gates. It runs the
steps that compute the numbers, which are cached as all are, and judges. A gate depends on nothing that is
downstream of its asset, which waits for it. A gate whose numbers cannot be had, because a stage was never
made, is a warning and stops nothing.
"""

import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import dagster as dg

from translations_assets.checks.gates import GATES, HARMLESS, Finding, Gate, examine
from translations_assets.common.errors import StepFailed, TranslationsError
from translations_assets.defs.changes import recipe_key
from translations_assets.defs.description import code_of, kinds_of, tags_of
from translations_assets.defs.endings import ToldFailure
from translations_assets.defs.engine_events import log_event
from translations_assets.defs.executor import cancel_event
from translations_assets.defs.metadata import lines_by_dataset, shown_samples, stage_metadata
from translations_assets.defs.recipes import recipe_tags
from translations_assets.defs.shared import PROJECT, TRAINING_CONFIGS, reported_failures
from translations_assets.defs.tables import Metadata, as_metadata
from translations_assets.graph.stage import Stage
from translations_assets.graph.step import Step
from translations_assets.instance.server import (
    GATE,
    NUMBERS,
    STAGE,
    STEP_EVENT,
    STEP_LABEL,
    STEP_LOG,
    STEP_MESSAGE,
    log_path,
)
from translations_assets.records.canonical import json_digest
from translations_assets.running import events
from translations_assets.running.events import Listener, StepEvent, StepResult
from translations_assets.running.session import Session, UpstreamMissing
from translations_assets.running.tasks import RUN_SECONDS, when_reachable
from translations_assets.runs.instance import checks_of
from translations_assets.stages import ASSETS

T = TypeVar("T")

_STOPS = (
    "A failure stops what is made from the asset when the gate has level `error`, and is a warning when it "
    "has level `warn`: `checks.{}.level` in the training config."
)
OBSERVATION_SECONDS = 5.0  # an event costs some milliseconds on SQLite
NO_EVENT = "__source_asset_observation__"  # Dagster's metadata of an output for which it writes no event
POD_TAG = "dagster-k8s/config"  # what the deployment file says of the pods of this stage alone, for the UI


def make_asset(stage: Stage) -> dg.AssetsDefinition:
    """The asset of a stage: its upstream stages and its recipe are its dependencies."""

    deployment = PROJECT.deployment
    own = deployment.kubernetes.stages.get(stage.name) if deployment and deployment.kubernetes else None

    @dg.asset(
        name=stage.name,
        deps=[*stage.upstream, recipe_key(stage.name)],
        group_name=stage.group,
        description=stage.description,
        partitions_def=TRAINING_CONFIGS,
        kinds=kinds_of(stage),
        owners=deployment.owners if deployment else None,
        tags=tags_of(stage),
        metadata=code_of(stage),
        required_resource_keys={"run"},
        op_tags={POD_TAG: dict(own.pod)} if own and own.pod else None,
    )
    def compute(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        return _materialize(context, stage)

    return compute


def _materialize(context: dg.AssetExecutionContext, stage: Stage) -> dg.MaterializeResult[None]:
    reached = partial(_reached, context, cancel_event(context.run.run_id))
    with reported_failures():
        session = reached(partial(_run_session, context))
        results = _run_stage(context, session, stage.name)
        tags = recipe_tags(context.instance, session, stage.name)
        metadata = reached(partial(_metadata, session, results))
    for warning in session.results.warnings:
        context.log.warning(warning)
    if not results:
        context.log.info(f"{stage.name} has no steps for this training config.")
    if stage.name in session.changed:
        text = f"{stage.name}: made with overrides; the training config's own result stays what it is"
        log_event(context, "INFO", text, {STAGE: stage.name, **metadata})
        return dg.MaterializeResult(metadata={NO_EVENT: True})
    return dg.MaterializeResult(
        metadata=metadata,
        data_version=dg.DataVersion(_data_version(results)),
        tags=tags,
    )


def _metadata(session: Session, results: list[StepResult]) -> Metadata:
    return {
        **stage_metadata(results, PROJECT.store, session.results.warnings, PROJECT.prices(session.machine)),
        **lines_by_dataset(session, results, PROJECT.store),
    }


def _data_version(results: list[StepResult]) -> str:
    """A digest of the names and contents of everything that the stage's steps left."""
    contents = [
        [result.step.label, name, blob.digest]
        for result in results
        for name, blob in result.manifest.outputs.items()
    ]
    return json_digest(sorted(contents))


def _run_session(context: dg.OpExecutionContext | dg.AssetExecutionContext) -> Session:
    """The session of the run and the partition that an asset or asset check belongs to."""
    return PROJECT.session(context.run.run_id, context.partition_key, context.resources.run)


def _run_stage(
    context: dg.OpExecutionContext | dg.AssetExecutionContext, session: Session, stage: str
) -> list[StepResult]:
    """Find or make the results of a stage's steps, and publish them. Raises as `Engine.run`."""
    is_changed = stage in session.changed
    steps = session.graph.stages[stage]
    with AssetProgress(context, stage, session.listeners, steps, is_changed=is_changed) as progress:
        results = PROJECT.engine.run(session, steps, cancel_event(context.run.run_id), progress)
    session.results.publish(stage)
    return results


def _reached(
    context: dg.OpExecutionContext | dg.AssetExecutionContext, cancel: threading.Event, ask: Callable[[], T]
) -> T:
    """Ask the store, and wait for it while it is away, as the engine does."""
    return when_reachable(ask, RUN_SECONDS, cancel.wait, context.log.warning)


@dataclass
class AssetProgress:
    """A listener of the engine for one asset of one run; called from several threads.

    listeners   get every event, too
    steps       of the stage: of several trainings the second one's numbers are `update (2)`. Without labels,
                Dagster's plots compare runs and partitions
    is_changed  its numbers are not the training config's: they are no observations of the asset
    """

    context: dg.AssetExecutionContext | dg.OpExecutionContext
    stage: str
    listeners: Sequence[Listener] = ()
    steps: Sequence[Step] = ()
    is_changed: bool = field(default=False, kw_only=True)
    # Mark of a step → its label, numbers
    _numbers: dict[str, tuple[str, dict[str, float]]] = field(default_factory=dict, init=False)
    _pending: bool = field(default=False, init=False)
    _last: float = field(default=-OBSERVATION_SECONDS, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def __enter__(self) -> "AssetProgress":
        """Use it as a context: leaving it reports the numbers that came last."""
        return self

    def __exit__(self, *error: object) -> None:
        """Report numbers that no observation has yet."""
        if self._pending:
            self._report(self._metadata())

    def __call__(self, event: StepEvent) -> None:
        """Take note of an event of a step."""
        for listener in self.listeners:
            listener(event)
        match event.what:
            case events.Progress(numbers):
                self._observe(event.step, numbers)
            case events.Waiting(message):
                self._log("INFO", message, event, message)
            case events.Retry(message):
                self._log("WARNING", f"{message} Trying again.", event, message)
            case events.Notice(message):
                self._log("WARNING", message, event, message)
            case events.Started() | events.Done():
                self._log("INFO", event.what.kind, event)
            case events.Cancelled():
                self._log("WARNING", event.what.kind, event)
            case events.Failed():  # why is told once: by the failure of its asset
                self._log("ERROR", event.what.kind, event)

    def _log(self, level: str, text: str, event: StepEvent, message: str = "") -> None:
        """A line of the run's log for people; what programs (`cli/console.py`) read of it is its metadata."""
        label = event.step.label
        metadata = {
            STEP_EVENT: event.what.kind,
            STEP_LABEL: label,
            STEP_MESSAGE: message,
            STEP_LOG: dg.MetadataValue.url(log_path(*event.log)) if event.log else None,
        }
        log_event(self.context, level, f"{label}: {text}", as_metadata(metadata))

    def _observe(self, step: Step, numbers: Mapping[str, Any]) -> None:
        """Keep the newest numbers; report them at most every five seconds."""
        with self._lock:
            mark = self._mark(step)
            label, known = self._numbers.get(mark, (step.label, {}))
            new = {name: value for name, value in numbers.items() if isinstance(value, (int, float))}
            self._numbers[mark] = step.label, (known | new if label == step.label else new)
            self._pending = time.monotonic() - self._last < OBSERVATION_SECONDS
            if self._pending:
                return
            self._last = time.monotonic()
            metadata = self._metadata()
        self._report(metadata)

    def _mark(self, step: Step) -> str:
        """Return a suffix that tells a step's numbers from others of the same script; empty for the first."""
        alike = [one.label for one in self.steps if one.script == step.script]
        number = alike.index(step.label) + 1 if step.label in alike else 1
        return f" ({number})" if number > 1 else ""

    def _metadata(self) -> dict[str, Any]:
        """All numbers, and, for programs, whose they are."""
        found: dict[str, Any] = {}
        for mark, (label, numbers) in self._numbers.items():
            found |= {f"{name}{mark}": value for name, value in numbers.items()}
            found[f"{STEP_LABEL}{mark}"] = label
        return found

    def _report(self, metadata: dict[str, Any]) -> None:
        if self.is_changed:
            log_event(self.context, "DEBUG", "live numbers", {NUMBERS: self.stage, **metadata})
            return
        partition = self.context.partition_key
        self.context.log_event(dg.AssetObservation(self.stage, partition=partition, metadata=metadata))


def make_checks(stage: str) -> dg.AssetChecksDefinition:
    """The asset checks of a stage's gates."""
    gates = [gate for gate in GATES if gate.stage == stage]

    @dg.multi_asset_check(
        name=checks_of(stage), specs=[_spec(gate) for gate in gates], required_resource_keys={"run"}
    )
    def check(context: dg.AssetCheckExecutionContext) -> Iterator[dg.AssetCheckResult | dg.Output[None]]:
        run = context.op_execution_context
        found = _examine(run, gates)
        is_changed = stage in _run_session(run).changed
        for finding in found:
            yield _check_of_changed(run, finding) if is_changed else _check_result(finding)
        if failed := [finding for finding in found if finding.is_error]:
            lines = [f"{stage} {finding.gate.name}: {finding.description}" for finding in failed]
            raise ToldFailure("\n".join(lines), "gates", gates=[finding.gate.name for finding in failed])
        if unpaid := {finding.description for finding in found if finding.unpaid}:
            raise ToldFailure("\n".join(sorted(unpaid)), "budget")

    return check


def _check_of_changed(context: dg.OpExecutionContext, found: Finding) -> dg.Output[None]:
    """A check of what overrides have changed: a line of the run's log, no result of the asset check."""
    text = f"{found.gate.stage} {found.gate.name}: {found.state}: {found.description}"
    level = "ERROR" if found.is_error else "INFO"
    log_event(context, level, text, {GATE: found.gate.identifier, **_check_metadata(found)})
    return dg.Output(None, output_name=_spec(found.gate).get_python_identifier())


def _spec(gate: Gate) -> dg.AssetCheckSpec:
    # partitions of checks are a preview
    with warnings.catch_warnings(action="ignore", category=dg.PreviewWarning):
        return dg.AssetCheckSpec(
            name=gate.identifier,
            asset=gate.stage,
            description=f"{gate.description} {_STOPS.format(gate.name)}",
            blocking=True,  # failures of level `warn` have a severity that blocks nothing
            additional_deps=[stage for stage in gate.reads if stage in ASSETS and stage != gate.stage],
            partitions_def=TRAINING_CONFIGS,
        )


def _examine(context: dg.OpExecutionContext, gates: list[Gate]) -> list[Finding]:
    reached = partial(_reached, context, cancel_event(context.run.run_id))
    with reported_failures():
        session = reached(partial(_run_session, context))
        errors: dict[str, TranslationsError] = {}
        for name in session.graph.checks:
            if any(name in gate.reads for gate in gates):
                try:
                    _run_stage(context, session, name)
                except (UpstreamMissing, StepFailed) as error:
                    errors[name] = error
        return [reached(partial(examine, session, gate, errors)) for gate in gates]


def _check_result(found: Finding) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        asset_key=dg.AssetKey(found.gate.stage),
        check_name=found.gate.identifier,
        passed=found.state in HARMLESS,
        severity=dg.AssetCheckSeverity.ERROR if found.is_error else dg.AssetCheckSeverity.WARN,
        description=found.description,
        metadata=_check_metadata(found),
    )


def _check_metadata(found: Finding) -> Metadata:
    """The numbers that decided, the thresholds, and lines that show what is meant."""
    numbers, samples = (found.verdict.numbers, found.verdict.samples) if found.verdict else ({}, ())
    return as_metadata(
        {
            "state": found.state,
            "level": found.level,
            **{
                f"checks.{found.gate.name}.{name}": float(threshold)
                for name, threshold in found.thresholds.items()
            },
            "overridden for this run": (
                dg.MetadataValue.json(dict(found.overridden)) if found.overridden else None
            ),
            **{name: float(number) for name, number in numbers.items()},
            "samples": shown_samples(samples),
        }
    )
