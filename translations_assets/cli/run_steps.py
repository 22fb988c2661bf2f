"""The steps of a run or of a partition, each with its state and what it cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from translations_assets.records.manifest import Usage
from translations_assets.running.session import repeated_stages

if TYPE_CHECKING:
    from translations_assets.cli.runs import Run
    from translations_assets.graph.graph import Graph
    from translations_assets.graph.step import Output, Step
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
        self._store, self._keys, self._graph, self._run = project.store, project.keys, graph, run
        self._repeat = repeated_stages(graph, run.options.start)
        self._outputs: dict[Step, dict[str, Blob]] = {}

    def rows(self) -> Iterator[Row]:
        shown = set(steps_of(self._graph, self._run.selection))
        for step in self._graph.steps:
            row = self._row(step)
            if step in shown:
                yield row

    def _row(self, step: Step) -> Row:
        used = (self._run.uses or {}).get(step.label)
        manifest = self._store.generation(*used) if used else None
        if used and manifest is None:
            return _row(step, "lost", None, 0)
        if manifest is None:
            inputs = self._inputs(step)
            if inputs is None:
                return _row(step, "waiting", None, 0)
            key = self._keys.parts(step, inputs).digest
            latest = self._store.latest(key)
            if latest is None or not self._counts(step, latest):
                return self._unfinished(step, key, latest.generation + 1 if latest else 1)
            manifest = latest
        self._outputs[step] = dict(manifest.outputs)
        made = manifest.provenance.get("run") == self._run.id
        return _row(step, "finished" if made else "cached", manifest, manifest.attempt)

    def _counts(self, step: Step, latest: Manifest) -> bool:
        """Whether a result that the run's record does not have yet is the run's: not once the run is over."""
        made = latest.provenance.get("run") == self._run.id
        return made or (not self._run.is_over and step.stage not in self._repeat)

    def _inputs(self, step: Step) -> dict[Output, Blob] | None:
        inputs = {}
        for _, _, output in step.input_outputs():
            if output.step not in self._outputs:
                return None
            inputs[output] = self._outputs[output.step][output.name]
        return inputs

    def _unfinished(self, step: Step, key: str, generation: int) -> Row:
        attempts = len(self._store.attempts(key, generation))
        if self._run.is_over:
            states = {"cancelled": "cancelled", "lost its process": "interrupted"}
            state = states.get(self._run.state, "failed") if attempts else "waiting"
        else:
            state = _state(self._store, key, generation, attempts)
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
