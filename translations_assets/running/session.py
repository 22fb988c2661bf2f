"""A session: what one run knows of one partition's graph, shared by all its assets.

It remembers which result each step has, finds the results of steps that the run does not itself make, and
writes down what the run uses before it is used, so that nothing is collected as garbage meanwhile.
"""

from __future__ import annotations

import logging
import math
import shlex
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from translations_assets.background import CLOCK, Clock, Repeating
from translations_assets.config.errors import Problem
from translations_assets.config.stage_names import resolve_stage
from translations_assets.errors import TranslationsError
from translations_assets.graph.graph import Graph
from translations_assets.graph.step import Output, Step
from translations_assets.keys.key import KeyMaker
from translations_assets.records.canonical import canonical_json
from translations_assets.records.manifest import Blob, Manifest, Ref
from translations_assets.records.run import Expected, RunOptions, RunRecord
from translations_assets.running.budget import Budget
from translations_assets.running.plan import Plan, make_plan
from translations_assets.running.protocols import Store
from translations_assets.running.resolve import LostResults, Resolver, inputs_of, missing_outputs
from translations_assets.running.tasks import RUN_SECONDS, when_reachable

if TYPE_CHECKING:
    from translations_assets.config.schema import TrainingConfig

HEARTBEAT_SECONDS = 60.0

_log = logging.getLogger(__name__)


class UpstreamMissing(TranslationsError):
    """A step needs a result that was never made, or is out of date, and no ref stands in for it."""


@dataclass(frozen=True)
class Result:
    """A step's result in this run: the key and generation that count, and the output files' contents."""

    key: str
    generation: int
    outputs: Mapping[str, Blob]
    manifest: Manifest | None = None


@dataclass
class Session:
    """State of one run over one graph; safe for use by several threads.

    parse     gives the training config, with the run's overrides, that the graph is made from
    repeat    stages whose steps run although cached, each once a run
    fixed     results that count for their steps, whatever their keys (`--previous-run`)
    stages    the stages that the run was asked for, for its record
    changed   stages that the overrides change: what they make is not the training config's
    continues earlier runs that this one repeats from failure: what they repeated is not repeated again
    notes     what people should know of the training config
    expected  label → what its steps are expected to take
    budget    what the run may spend; None for no limit
    warnings  what people should know of the results that the run uses
    listeners get the events of its steps as they happen, in this process
    clock     what time it is
    """

    run: str
    partition: str
    space: str
    parse: Callable[[], TrainingConfig]
    graph: Graph
    store: Store
    keys: KeyMaker
    options: RunOptions = field(default_factory=RunOptions)
    repeat: Collection[str] = ()
    fixed: Mapping[Step, Manifest] = field(default_factory=dict)
    stages: Collection[str] = ()
    changed: Collection[str] = ()
    continues: Collection[str] = ()
    notes: Sequence[Problem] = ()
    expected: Mapping[str, Expected] = field(default_factory=dict)
    budget: Budget | None = None
    warnings: list[str] = field(default_factory=list)
    listeners: list[Callable[[Any], None]] = field(default_factory=list)
    clock: Clock = CLOCK

    def __post_init__(self) -> None:
        self._results: dict[Step, Result] = {}
        self._made: set[str] = set()
        self._begun: dict[Step, tuple[str, int]] = {}
        self._since: dict[Step, float] = {}
        self._failed: dict[Step, str] = {}
        self._reasons: dict[str, str] = {}
        self._started = self.clock.time()
        self._lock = threading.Lock()  # never held while the store is asked
        self._finding = threading.Lock()  # held while results are looked up for `need`
        self._ended = threading.Event()
        self._writing = threading.Lock()  # held while the record is written
        self._asked = self._written = 0  # calls of `write_down`, and how many of them have been answered
        self._last_write = -math.inf
        report = partial(_log.warning, "the run's record cannot be renewed: %s")
        self._heartbeat = Repeating(
            f"heartbeat of {self.run}", self.write_down, HEARTBEAT_SECONDS, report, clock=self.clock
        )

    @cached_property
    def config(self) -> TrainingConfig:
        """The training config."""
        return self.parse()

    def machine(self, stage: str) -> str:
        """The kind of machine that the config asks for a stage, `spot` or `standard`; empty when none is."""
        return self.config.taskcluster.machine(stage)

    @cached_property
    def ref_partitions(self) -> tuple[str, ...]:
        """The names under which refs that concern the run stand; it writes under the first."""
        return self.options.ref_partitions(self.partition)

    @property
    def ref_partition(self) -> str:
        """The partition that refs are written to: one of its own when the run has overrides."""
        return self.ref_partitions[0]

    @cached_property
    def config_blob(self) -> Blob:
        """The training config with its overrides and defaults, as JSON, in the store."""
        return self.store.add_bytes(canonical_json(self.config.model_dump(mode="json", by_alias=True)))

    def command(self, *words: str) -> str:
        """A command of `translations` about the partition as it is in this run, overrides included.

        session.command("train", "--target", "export") == "translations train en-lt --target export --set=…"
        """
        verb, *others = words
        overrides = RunOptions(overrides=self.options.overrides).words()
        return shlex.join(["translations", verb, self.partition, *others, *overrides])

    def result(self, step: Step) -> Result | None:
        """The result that the step has in this run, None while it has none."""
        return self._results.get(step)

    def result_of(self, step: Step) -> Result:
        """The result of a step that has one: what `need` was asked for, or what this run made."""
        return self._results[step]

    def set_result(self, step: Step, manifest: Manifest, *, made: bool = False) -> Result:
        """Note that a step is finished: `made` by this run, or found finished."""
        result = Result(manifest.key, manifest.generation, manifest.outputs, manifest)
        with self._lock:
            self._results[step] = result
            if made:
                self._made.add(manifest.key)
        return result

    def begin(self, steps: Mapping[Step, tuple[str, int]]) -> None:
        """Note, for the run's record, which results (key, generation) it is about to make, or to wait for."""
        with self._lock:
            self._begun.update(steps)

    def start(self, step: Step) -> None:
        """Note, for the run's record, that an attempt of a step is started now."""
        with self._lock:
            self._since[step] = self.clock.time()

    def fail(self, step: Step, why: str) -> None:
        """Note, for the run's record, why a step has failed."""
        with self._lock:
            self._failed[step] = why
        self._heartbeat.wake()

    def note_reason(self, step: Step, reason: str) -> None:
        """Note, for the run's record, why a step runs."""
        with self._lock:
            self._reasons[step.label] = reason

    def reason(self, step: Step) -> str:
        """Explain why this run has made a step; empty where that is not known, or not yet."""
        return self._reasons.get(step.label, "")

    def resolver(self) -> Resolver:
        """Finds which results count for the steps that this run makes."""
        lost = LostResults(self.store, self.ref_partitions)
        return Resolver(self.store, self.keys, lost, self.fixed, self._repeats, self.options.repair)

    def _repeats(self, step: Step, manifest: Manifest | None) -> bool:
        """True if a step runs although cached: its stage is to be repeated, and this run has not done so."""
        if step.stage not in self.repeat or manifest is None:
            return step.stage in self.repeat
        return not (manifest.key in self._made or manifest.provenance.run in self.continues)

    def outputs(self, step: Step) -> Mapping[str, Blob] | None:
        """The contents of the outputs that the step has in this run, None while it has none."""
        result = self._results.get(step)
        return result.outputs if result else None

    def inputs(self, step: Step) -> dict[Output, Blob]:
        """The contents of a step's inputs; its upstream steps have results."""
        inputs = inputs_of(step, self.outputs)
        assert inputs is not None, f"a step before {step.label} has no result"
        return inputs

    def is_spent(self, step: Step) -> bool:
        """True if a step's files are not needed: all that is made from them is whole."""
        return self._spent.get(step, False)

    def plan(self, steps: Iterable[Step]) -> Plan:
        """Plan the run of steps, given with all upstream steps in running order."""
        return make_plan(
            steps, self.keys, self.store, self.repeat, self.fixed, self.options.repair, self.ref_partitions
        )

    @cached_property
    def _spent(self) -> dict[Step, bool]:
        return {one.step: one.status == "cached" for one in self.plan(self.graph.steps).steps}

    def write_down(self) -> None:
        """Store which results the run uses, key by key; calls that wait for each other share a write."""
        with self._lock:
            self._asked += 1
            call = self._asked
        with self._writing:
            if self._written >= call:
                return
            pause = self._last_write + self.store.rewrite_seconds - self.clock.monotonic()
            self.clock.wait(threading.Event(), max(0.0, pause))
            with self._lock:
                record, asked = self._record(), self._asked
            self._last_write = self.clock.monotonic()
            self.store.write_run(self.run, record)
            self._written = asked

    def _record(self) -> RunRecord:
        experiment = self.config.experiment
        used: dict[Step, Manifest | Result] = {**self.fixed, **self._results}
        stages = {
            stage: steps
            for stage, steps in self.graph.stages.items()
            if stage in (self.stages or self.graph.stages)
        }
        return RunRecord(
            run=self.run,
            partition=self.partition,
            space=self.space,
            pair=(experiment.src, experiment.trg),
            config=self.config.digest,
            options=self.options,
            stages=tuple(self.stages),
            repeats=next(iter(self.continues), ""),
            started=self._started,
            heartbeat=self.clock.time(),
            ended=self.clock.time() if self._ended.is_set() else None,
            expected=self.expected,
            spent=round(self.budget.until(self.clock.monotonic()), 6) if self.budget else 0.0,
            steps={stage: {step.label: step.worker for step in steps} for stage, steps in stages.items()},
            uses={step.label: (result.key, result.generation) for step, result in used.items()},
            begun={step.label: made for step, made in self._begun.items() if step not in used},
            since={step.label: then for step, then in self._since.items() if step not in used},
            failed={step.label: why for step, why in self._failed.items() if step not in used},
            reasons=dict(self._reasons),
        )

    def take_over_budget(self) -> None:
        """Go on with what the run before left of its budget: this one was launched in place of a lost one,
        and nobody has given it a new budget.
        """
        earlier = self.store.read_run(next(iter(self.continues), ""))
        if self.budget and earlier:
            self.budget.spent = earlier.spent

    def keep_alive(self) -> None:
        """Write the run down now and each minute until `end`, so that what it uses is not collected."""
        self.write_down()
        self._heartbeat.start()

    def end(self) -> None:
        """Write down that the run has ended; a store that cannot be reached then costs no finished run."""
        with self._lock:
            if self._ended.is_set():
                return
            self._ended.set()
            results = list(self._results.values())
        self._heartbeat.stop()
        try:
            self.write_down()
            self.store.owners.disown([(result.key, result.generation) for result in results])
        except TranslationsError as error:
            _log.warning("the run's end cannot be recorded: %s", error)

    def need(self, steps: Collection[Step]) -> None:
        """Find results for steps that this run does not make: by key, else by the partition's ref.

        Raises UpstreamMissing with the command that makes what is missing.

        >>> results = engine.run(session, graph.steps, cancel, listener)
        >>> later.need([graph.step("join")])
        >>> later.result_of(graph.step("join")).generation
        1
        """
        with self._finding:
            wanted = [step for step in steps if step not in self._results]
            stages = dict.fromkeys(step.stage for step in wanted)
            for stage in stages:
                self._need_stage(stage, [step for step in wanted if step.stage == stage])

    def _need_stage(self, stage: str, steps: list[Step]) -> None:
        found = self._find(steps)
        for step in steps:
            if step in found and (step in self.fixed or not missing_outputs(found[step], self.store)):
                self.set_result(step, found[step])
        missing = [step for step in steps if step not in self._results]
        if not missing:
            return
        refs = self._refs(stage)
        if not refs:
            raise UpstreamMissing(
                f"{missing[0].label} is not made, or out of date, and {stage} is not part of this run. "
                f"Make it first: {self.command('train', '--target', stage)}"
            )
        results = {step: self._from_ref(refs[0], step) for step in steps}
        with self._lock:
            self._results.update(results)
        self.warnings.append(
            f"{stage} is out of date ({', '.join(step.label for step in missing[:3])}): "
            f"using the results of run {refs[0].run}. To renew them: "
            f"{self.command('train', '--target', stage)}"
        )

    def _refs(self, stage: str) -> list[Ref]:
        """List the stage's refs, newest first; with overrides, only those with the same."""
        return self.store.refs(self.space, self.ref_partition, stage)

    def _find(self, steps: Collection[Step]) -> dict[Step, Manifest]:
        """The manifests of steps, by the digests of what they were made from, whose files may be lost."""
        resolver, found = self.resolver(), dict[Step, Manifest]()
        outputs = {step: result.outputs for step, result in self._results.items()}
        for step in self.graph.step_closure(steps, known={*self.fixed, *outputs}):
            if step not in outputs and (manifest := resolver.find(step, outputs.get)):
                found[step], outputs[step] = manifest, manifest.outputs
        return found

    def _from_ref(self, ref: Ref, step: Step) -> Result:
        outputs = ref.outputs.get(step.label, {})
        lacking = [
            name for name in step.outputs if name not in outputs or not self.store.has_blob(outputs[name])
        ]
        if lacking:
            raise UpstreamMissing(
                f"{step.label} is out of date, and its result of run {ref.run} lacks "
                f"{', '.join(lacking)}. Make it again: {self.command('train', '--target', step.stage)}"
            )
        return Result(*ref.steps[step.label], outputs)

    def publish(self, stage: str) -> None:
        """Append a ref for a stage whose steps all have results, unless its newest ref says the same."""
        when_reachable(lambda: self._publish(stage), RUN_SECONDS, self._ended.wait, _log.warning)

    def _publish(self, stage: str) -> None:
        steps = self.graph.stages[stage]
        results = {step.label: self._results[step] for step in steps}
        used = {label: (result.key, result.generation) for label, result in results.items()}
        newest = self.store.refs(self.space, self.ref_partition, stage)[:1]
        if newest and newest[0].steps == used:
            return
        self.store.add_ref(
            Ref(
                space=self.space,
                partition=self.ref_partition,
                stage=stage,
                run=self.run,
                time=self.clock.time(),
                steps=used,
                outputs={label: result.outputs for label, result in results.items()},
            )
        )


def repeated_stages(graph: Graph, start: str) -> list[str]:
    """The stages that `start` repeats: those of that name and all downstream of them; none for ""."""
    return graph.downstream_stages(resolve_stage(start)) if start else []
