"""A session: one run of one partition's graph, shared by all its assets.

It holds what is asked of the run, the result of each step, and the run's record, which says what the run uses
before it is used, so that nothing is collected as garbage meanwhile.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from translations_assets.common.background import CLOCK, Clock
from translations_assets.common.errors import TranslationsError
from translations_assets.config.errors import Problem
from translations_assets.config.stage_names import resolve_stage
from translations_assets.graph.graph import Graph
from translations_assets.graph.step import Step
from translations_assets.keys.key import KeyMaker
from translations_assets.records.canonical import canonical_json
from translations_assets.records.commands import command, override_words
from translations_assets.records.cost import Cost
from translations_assets.records.manifest import Blob, Manifest
from translations_assets.records.run import RunOptions, RunRecord
from translations_assets.running.budget import Budget
from translations_assets.running.events import StepEvent
from translations_assets.running.plan import Plan, make_plan
from translations_assets.running.protocols import Store
from translations_assets.running.record_writer import RunRecorder
from translations_assets.running.run_results import RunResults

if TYPE_CHECKING:
    from translations_assets.config.schema import TrainingConfig

_log = logging.getLogger(__name__)


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
        and nobody has given it a new budget.
        """
        earlier = self.store.read_run(next(iter(self.continues), ""))
        if self.budget and earlier:
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
