"""The steps of a run or of a partition, each with its state and what it cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from translations_assets.records.manifest import Usage
from translations_assets.running.resolve import LostResults, Resolved, Resolver
from translations_assets.running.session import repeated_stages

if TYPE_CHECKING:
    from translations_assets.cli.run import Run
    from translations_assets.graph.graph import Graph
    from translations_assets.graph.step import Step
    from translations_assets.project import Project
    from translations_assets.records.manifest import Blob, Manifest
    from translations_assets.running.plan import PlannedStep
    from translations_assets.running.protocols import Store

Row = dict[str, Any]


def rows_of_plan(steps: Iterable[PlannedStep], store: Store) -> list[Row]:
    """The steps of a partition as they are now, whichever run made them."""
    return [_planned(planned, store) for planned in steps]


def rows_of_run(project: Project, graph: Graph, run: Run) -> list[Row]:
    """The steps of a run's stages. `graph` is that of the run's partition with the run's overrides."""
    return list(_Steps(project, graph, run).rows())


def steps_of(graph: Graph, selection: Sequence[str]) -> list[Step]:
    """The steps of a selection of stages; all for none."""
    return [
        step for stage in graph.stages if stage in (selection or graph.stages) for step in graph.stages[stage]
    ]


class _Steps:
    """Finds each step's result in a run: as its record says, or by its key while the run goes on."""

    def __init__(self, project: Project, graph: Graph, run: Run) -> None:
        self._store, self._graph, self._run = project.store, graph, run
        self._repeat = repeated_stages(graph, run.options.start)
        lost = LostResults(project.store, run.options.ref_partitions(run.partition))
        self._resolver = Resolver(project.store, project.keys, lost, {}, self._repeats, run.options.repair)
        self._outputs: dict[Step, Mapping[str, Blob]] = {}

    def rows(self) -> Iterator[Row]:
        shown = set(steps_of(self._graph, self._run.selection))
        for step in self._graph.steps:
            row = self._row(step)
            if step in shown:
                yield row

    def _row(self, step: Step) -> Row:
        found = self._found(step)
        if found.status == "run":
            return self._unfinished(step, found)
        if found.manifest:
            self._outputs[step] = found.manifest.outputs
        if found.status != "cached" or found.manifest is None:
            return _row(step, "lost" if found.status == "lost" else "waiting", None, 0)
        state = "finished" if self._has_made(found.manifest) else "cached"
        return _row(step, state, found.manifest, found.manifest.attempt)

    def _found(self, step: Step) -> Resolved:
        used = (self._run.uses or {}).get(step.label)
        if used is None:
            return self._resolver.resolve(step, self._outputs.get)
        manifest = self._store.generation(*used)
        return Resolved("cached" if manifest else "lost", manifest=manifest)

    def _has_made(self, manifest: Manifest) -> bool:
        return manifest.provenance.run == self._run.id

    def _repeats(self, step: Step, manifest: Manifest | None) -> bool:
        """Whether a result that the run's record does not have is not the run's: all when it is over."""
        has_made = manifest is not None and self._has_made(manifest)
        return not has_made and (self._run.is_over or step.stage in self._repeat)

    def _unfinished(self, step: Step, found: Resolved) -> Row:
        assert found.key is not None
        attempts = len(self._store.attempts(found.key, found.generation))
        if self._run.is_over:
            states = {"cancelled": "cancelled", "lost its process": "interrupted"}
            state = states.get(self._run.state, "failed") if attempts else "waiting"
        else:
            state = _state(self._store, found.key, found.generation, attempts)
        return _row(step, state, None, attempts)


def _planned(planned: PlannedStep, store: Store) -> Row:
    step, key, manifest = planned.step, planned.key, planned.manifest
    if planned.status == "cached":
        return _row(step, "finished", manifest, manifest.attempt if manifest else 0)
    if planned.status in ("maybe", "lost") or key is None:
        return _row(step, "lost" if planned.status == "lost" else "waiting", manifest, 0)
    generation = manifest.generation + 1 if manifest else 1
    attempts = len(store.attempts(key, generation))
    return _row(step, _state(store, key, generation, attempts), None, attempts)


def _state(store: Store, key: str, generation: int, attempts: int) -> str:
    if store.is_owned(key, generation):
        return "running"
    return "failed" if attempts else "waiting"


def _row(step: Step, state: str, manifest: Manifest | None, attempts: int) -> Row:
    usage = manifest.usage if manifest else Usage()
    return {
        "label": step.label,
        "stage": step.stage,
        "state": state,
        "attempts": attempts,
        "worker": step.worker,
        "host": manifest.host if manifest else None,
        "started": manifest.started if manifest else None,
        "seconds": usage.seconds,
        "cpu_seconds": usage.cpu_seconds,
        "memory_mb": usage.peak_memory / 1e6,
        "gpus": usage.gpus,
        "gpu_utilisation": usage.gpu_utilisation,
        "gpu_memory_mb": usage.gpu_memory / 1e6,
    }
