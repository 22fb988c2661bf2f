"""A session: one run of one partition's graph, shared by all its assets.

It holds what is asked of the run, the result of each step, and the run's record, which says what the run uses
before it is used, so that nothing is collected as garbage meanwhile.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from translations_assets.common.background import CLOCK, Clock
from translations_assets.common.errors import TranslationsError
from translations_assets.common.listing import some
from translations_assets.config.errors import Problem
from translations_assets.config.stage_names import resolve_stage
from translations_assets.graph.graph import Graph
from translations_assets.graph.step import Output, Step
from translations_assets.keys.key import KeyMaker
from translations_assets.records.canonical import canonical_json
from translations_assets.records.commands import command, override_words
from translations_assets.records.cost import Cost
from translations_assets.records.manifest import Blob, Manifest, Ref
from translations_assets.records.run import RunOptions, RunRecord
from translations_assets.running.budget import Budget
from translations_assets.running.events import StepEvent
from translations_assets.running.plan import Plan, make_plan
from translations_assets.running.protocols import Store
from translations_assets.running.record_writer import RunRecorder
from translations_assets.running.resolve import LostResults, Resolver, inputs_of, missing_outputs
from translations_assets.running.tasks import RUN_SECONDS, when_reachable

if TYPE_CHECKING:
    from translations_assets.config.schema import TrainingConfig

_log = logging.getLogger(__name__)

MOST_OUTDATED = 3  # stages that have a warning each


@dataclass
class Session:
    """A run and what becomes of it; safe for use by several threads.

    parse     gives the training config, with the run's overrides, that the graph is made from
    repeat    stages whose steps run although cached, each once a run
    fixed     results that count for their steps, whatever their keys (`--previous-run`)
    stages    the stages that the run was asked for, for its record
    changed   stages that the overrides change: what they make is not the training config's
    continues earlier runs that this one repeats from failure: what they repeated is not repeated again
    notes     what people should know of the training config
    expected  label → what its steps are expected to take
    budget    what the run may spend; None for no limit
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
    _: KW_ONLY
    options: RunOptions = field(default_factory=RunOptions)
    repeat: Collection[str] = ()
    fixed: Mapping[Step, Manifest] = field(default_factory=dict)
    stages: Collection[str] = ()
    changed: Collection[str] = ()
    continues: Collection[str] = ()
    notes: Sequence[Problem] = ()
    expected: Mapping[str, Cost] = field(default_factory=dict)
    budget: Budget | None = None
    listeners: list[Callable[[StepEvent], None]] = field(default_factory=list)
    clock: Clock = CLOCK

    def __post_init__(self) -> None:
        self._started = self.clock.time()
        self.results = RunResults(self)
        self.record = RunRecorder(self.run, self.store, self._record_now, self.clock)

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

    def command(self, *words: str) -> str:
        """A command of `translations` about the partition as it is in this run, overrides included.

        session.command("train", "--target", "export") == "translations train en-lt --target export --set=…"
        """
        verb, *others = words
        return command(verb, self.partition, *others, *override_words(self.options))

    @cached_property
    def config_blob(self) -> Blob:
        """The training config with its overrides and defaults, as JSON, in the store."""
        return self.store.add_bytes(canonical_json(self.config.model_dump(mode="json", by_alias=True)))

    def plan(self, steps: Iterable[Step]) -> Plan:
        """Plan the run of steps, given with all upstream steps in running order."""
        return make_plan(
            steps, self.keys, self.store, self.repeat, self.fixed, self.options.repair, self.ref_partitions
        )

    def is_spent(self, step: Step) -> bool:
        """True if a step's files are not needed: all that is made from them is whole."""
        return self._spent.get(step, False)

    @cached_property
    def _spent(self) -> dict[Step, bool]:
        return {one.step: one.status == "cached" for one in self.plan(self.graph.steps).steps}

    def take_over_budget(self) -> None:
        """Go on with what the run before left of its budget: this one was launched in place of a lost one,
        and nobody has given it a new budget. In a sweep that run is one of those that share the budget, and
        counts as such.
        """
        earlier = self.store.read_run(next(iter(self.continues), ""))
        if self.budget and earlier and not self.options.sweep:
            self.budget.spent = earlier.spent

    def end(self) -> None:
        """Write down that the run has ended; a store that cannot be reached then costs no finished run."""
        results = self.results.end()
        if results is None:
            return
        self.record.stop()
        try:
            self.record.write()
            self.store.owners.disown(results)
        except TranslationsError as error:
            _log.warning("the run's end cannot be recorded: %s", error)

    def _record_now(self) -> RunRecord:
        """The run's record as it is now."""
        experiment, used = self.config.experiment, self.results.used()
        asked = self.stages or self.graph.stages
        stages = {stage: steps for stage, steps in self.graph.stages.items() if stage in asked}
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
            ended=self.clock.time() if self.results.has_ended else None,
            expected=self.expected,
            spent=round(self.budget.until(self.clock.monotonic()), 6) if self.budget else 0.0,
            steps={stage: {step.label: step.worker for step in steps} for stage, steps in stages.items()},
            uses={step.label: made for step, made in used.items()},
            **self.record.fields(used),
        )


def repeated_stages(graph: Graph, start: str) -> list[str]:
    """The stages that `start` repeats: those of that name and all downstream of them; none for ""."""
    return graph.downstream_stages(resolve_stage(start)) if start else []


class UpstreamMissing(TranslationsError):
    """A step needs a result that was never made, or is out of date, and no ref stands in for it."""


@dataclass(frozen=True)
class Result:
    """A step's result in this run: the key and generation that count, and the output files' contents."""

    key: str
    generation: int
    outputs: Mapping[str, Blob]
    manifest: Manifest | None = None


class RunResults:
    """The results of a run's steps; safe for use by several threads."""

    def __init__(self, session: Session) -> None:
        self._session, self._store = session, session.store
        self._ended = threading.Event()
        self._warnings: list[str] = []
        self._outdated: dict[tuple[str, str], list[str]] = {}  # by stage and the run whose results are used
        self._results: dict[Step, Result] = {}
        self._made: set[str] = set()
        self._lock = threading.Lock()  # never held while the store is asked
        self._finding = threading.Lock()  # held while results are looked up for `need`

    @property
    def warnings(self) -> list[str]:
        """What people should know of the results that the run uses: a line for all stages that are out of
        date where they are many, else one for each.
        """
        with self._lock:
            outdated = {found: list(labels) for found, labels in self._outdated.items()}
            warnings = list(self._warnings)
        stages = list(dict.fromkeys(stage for stage, _ in outdated))
        if len(stages) <= MOST_OUTDATED:
            return [*warnings, *(self._outdated_warning(*found, outdated[found]) for found in outdated)]
        runs = list(dict.fromkeys(run for _, run in outdated))
        return [
            *warnings,
            f"{len(stages)} stages are out of date ({some(stages)}): using the results of "
            f"{'run' if len(runs) == 1 else 'runs'} {', '.join(runs)}. "
            f"To renew them: {self._session.command('train')}",
        ]

    def _outdated_warning(self, stage: str, run: str, labels: list[str]) -> str:
        return (
            f"{stage} is out of date ({some(labels)}): using the results of run {run}. "
            f"To renew them: {self._session.command('train', '--target', stage)}"
        )

    def warn(self, warning: str) -> None:
        """Add a warning."""
        with self._lock:
            self._warnings.append(warning)

    def result(self, step: Step) -> Result | None:
        """The result that the step has in this run, None while it has none."""
        return self._results.get(step)

    def result_of(self, step: Step) -> Result:
        """The result of a step that has one: what `need` was asked for, or what this run made."""
        return self._results[step]

    def used(self) -> dict[Step, tuple[str, int]]:
        """The key and generation of every result so far."""
        with self._lock:
            used: dict[Step, Manifest | Result] = {**self._session.fixed, **self._results}
        return {step: (result.key, result.generation) for step, result in used.items()}

    def set_result(self, step: Step, manifest: Manifest, *, made: bool = False) -> Result:
        """Note that a step is finished: `made` by this run, or found finished."""
        result = Result(manifest.key, manifest.generation, manifest.outputs, manifest)
        with self._lock:
            self._results[step] = result
            if made:
                self._made.add(manifest.key)
        return result

    def outputs(self, step: Step) -> Mapping[str, Blob] | None:
        """The contents of the outputs that the step has in this run, None while it has none."""
        result = self._results.get(step)
        return result.outputs if result else None

    def inputs(self, step: Step) -> dict[Output, Blob]:
        """The contents of a step's inputs; its upstream steps have results."""
        inputs = inputs_of(step, self.outputs)
        assert inputs is not None, f"a step before {step.label} has no result"
        return inputs

    def resolver(self) -> Resolver:
        """Finds which results count for the steps that this run makes."""
        session = self._session
        return Resolver(
            self._store, session.keys, self._lost, session.fixed, self._repeats, session.options.repair
        )

    @cached_property
    def _lost(self) -> LostResults:
        return LostResults(self._store, self._session.ref_partitions)

    def _repeats(self, step: Step, manifest: Manifest | None) -> bool:
        """True if a step runs although cached: its stage is to be repeated, and this run has not done so."""
        if step.stage not in self._session.repeat or manifest is None:
            return step.stage in self._session.repeat
        return not (manifest.key in self._made or manifest.provenance.run in self._session.continues)

    def need(self, steps: Collection[Step]) -> None:
        """Find results for steps that this run does not make: by key, else by the partition's ref.

        Raises UpstreamMissing with the command that makes what is missing.

        >>> results = engine.run(session, graph.steps, cancel, listener)
        >>> later.results.need([graph.step("join")])
        >>> later.results.result_of(graph.step("join")).generation
        1
        """
        with self._finding:
            wanted = [step for step in steps if step not in self._results]
            stages = dict.fromkeys(step.stage for step in wanted)
            for stage in stages:
                self._need_stage(stage, [step for step in wanted if step.stage == stage])

    def _need_stage(self, stage: str, steps: list[Step]) -> None:
        found, session = self._find(steps), self._session
        for step in steps:
            if step in found and (step in session.fixed or not missing_outputs(found[step], self._store)):
                self.set_result(step, found[step])
        missing = [step for step in steps if step not in self._results]
        if not missing:
            return
        refs = self._refs(stage)
        if not refs:
            raise UpstreamMissing(
                f"{missing[0].label} is not made, or out of date, and {stage} is not part of this run. "
                f"Make it first: {session.command('train', '--target', stage)}"
            )
        results = {step: self._from_ref(refs[0], step) for step in steps}
        with self._lock:
            self._results.update(results)
            self._outdated.setdefault((stage, refs[0].run), []).extend(step.label for step in missing)

    def _refs(self, stage: str) -> list[Ref]:
        """List the stage's refs, newest first; with overrides, only those with the same."""
        return self._store.refs(self._session.space, self._session.ref_partition, stage)

    def _find(self, steps: Collection[Step]) -> dict[Step, Manifest]:
        """The manifests of steps, by the digests of what they were made from, whose files may be lost."""
        resolver, found = self.resolver(), dict[Step, Manifest]()
        outputs = {step: result.outputs for step, result in self._results.items()}
        for step in self._session.graph.step_closure(steps, known={*self._session.fixed, *outputs}):
            if step not in outputs and (manifest := resolver.find(step, outputs.get)):
                found[step], outputs[step] = manifest, manifest.outputs
        return found

    def _from_ref(self, ref: Ref, step: Step) -> Result:
        outputs = ref.outputs.get(step.label, {})
        lacking = [
            name for name in step.outputs if name not in outputs or not self._store.has_blob(outputs[name])
        ]
        if lacking:
            raise UpstreamMissing(
                f"{step.label} is out of date, and its result of run {ref.run} lacks "
                f"{', '.join(lacking)}. Make it again: "
                f"{self._session.command('train', '--target', step.stage)}"
            )
        return Result(*ref.steps[step.label], outputs)

    def publish(self, stage: str) -> None:
        """Append a ref for a stage whose steps all have results, unless its newest ref says the same."""
        when_reachable(lambda: self._publish(stage), RUN_SECONDS, self._ended.wait, _log.warning)

    @property
    def has_ended(self) -> bool:
        """True if the run has ended."""
        return self._ended.is_set()

    def end(self) -> list[tuple[str, int]] | None:
        """Note that the run has ended: refs wait for a store no longer. The key and generation of every
        result that was made or found; None when it had ended before.
        """
        with self._lock:
            if self._ended.is_set():
                return None
            self._ended.set()
            return [(result.key, result.generation) for result in self._results.values()]

    def _publish(self, stage: str) -> None:
        session = self._session
        results = {step.label: self._results[step] for step in session.graph.stages[stage]}
        used = {label: (result.key, result.generation) for label, result in results.items()}
        newest = self._refs(stage)[:1]
        if newest and newest[0].steps == used:
            return
        self._store.add_ref(
            Ref(
                space=session.space,
                partition=session.ref_partition,
                stage=stage,
                run=session.run,
                time=session.clock.time(),
                steps=used,
                outputs={label: result.outputs for label, result in results.items()},
            )
        )
