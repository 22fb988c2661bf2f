"""The request of a run: a partition's graph as the run has it, and how the run differs from others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from translations_assets.config.errors import Problem
from translations_assets.graph.graph import Graph
from translations_assets.graph.step import Step
from translations_assets.records.commands import command, override_words
from translations_assets.records.manifest import Manifest
from translations_assets.records.run import RunOptions

if TYPE_CHECKING:
    from translations_assets.config.schema import TrainingConfig


@dataclass
class RunRequest:
    """The request of a run.

    parse     gives the training config, with the run's overrides, that the graph is made from
    repeat    stages whose steps run although cached, each once a run
    fixed     results that count for their steps, whatever their keys (`--previous-run`)
    stages    the stages that the run was asked for, for its record
    changed   stages that the overrides change: what they make is not the training config's
    continues earlier runs that this one repeats from failure: what they repeated is not repeated again
    notes     what people should know of the training config
    """

    run: str
    partition: str
    space: str
    parse: Callable[[], TrainingConfig]
    graph: Graph
    _: KW_ONLY
    options: RunOptions = field(default_factory=RunOptions)
    repeat: Collection[str] = ()
    fixed: Mapping[Step, Manifest] = field(default_factory=dict)
    stages: Collection[str] = ()
    changed: Collection[str] = ()
    continues: Collection[str] = ()
    notes: Sequence[Problem] = ()

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
