"""Facts about each training config: its model, the scores beside the released one, its state, its cost.

From the store and the training configs alone. What a run has made does not change once it has ended, and to
read it takes most of the time: it is kept in the state folder, where to delete it costs time alone.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Literal, TypeAlias

from translations_assets.common import settings
from translations_assets.common.errors import TranslationsError
from translations_assets.common.whole_file import keep_newest, write_whole
from translations_assets.config.errors import ConfigError
from translations_assets.config.model_names import RELEASED
from translations_assets.config.stage_names import resolve_stage
from translations_assets.configs.training_configs import ReadConfig
from translations_assets.graph.graph import Graph
from translations_assets.project import Project
from translations_assets.records.canonical import json_digest
from translations_assets.records.checked import Record
from translations_assets.records.cost import Cost
from translations_assets.records.manifest import KeyParts, Manifest
from translations_assets.records.run import RunOptions, RunRecord
from translations_assets.registry.read import StoreReader
from translations_assets.results.evaluations import shown_model
from translations_assets.running.prices import Prices, RecordedStep, spent_on
from translations_assets.stages import last_asset

FORMAT = 1  # of what is kept
MOST_KEPT = 2000
_READING = "reading"  # the run id of a session that runs no step

State: TypeAlias = Literal[
    "running",
    "waits for a decision",
    "failed",
    "lost its process",
    "stopped",
    "stale",
    "up to date",
    "not begun",
]


@dataclass(frozen=True)
class Recipe(Record):
    """The recipe of a step's result: a digest of all but its inputs, and the digest of each input."""

    others: str
    inputs: Mapping[str, str]


@dataclass(frozen=True)
class Made(Record):
    """Results that a run made or used.

    model     the one that users get; "" where none was evaluated
    dataset   the first test set, which these scores are of
    scores    metric → the model's score
    released  metric → the score of the model that Firefox ships
    spent     what its results took, whoever made them: as `Cost.values`
    recipes   label → how it was made
    """

    run: str
    space: str
    time: float
    model: str = ""
    dataset: str = ""
    scores: Mapping[str, float] = field(default_factory=dict)
    released: Mapping[str, float] = field(default_factory=dict)
    spent: Mapping[str, float] = field(default_factory=dict)
    recipes: Mapping[str, Recipe] = field(default_factory=dict)
    published: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pair:
    """A training config and what became of it.

    state        of its newest run, or whether what was made is as config and code are now
    detail       which steps, gates or reasons
    run          its newest run; "" where there is none
    made         by the newest run that evaluated a model, else by the newest
    experiments  how many runs with overrides there are
    """

    partition: str
    state: State
    detail: str = ""
    run: str = ""
    made: Made | None = None
    experiments: int = 0


def gather(project: Project) -> list[Pair]:
    """All training configs that there are and all of which there are runs, by name.

    Runs with overrides are counted alone: they are experiments, and what they make is no pair's model.
    """
    store = project.store
    records: dict[str, list[RunRecord]] = {}
    for run in store.runs():
        record = store.read_run(run)
        if record and record.partition:
            records.setdefault(record.partition, []).append(record)
    known = project.configs.partitions().states
    reader = _PairReader(project)
    return [reader.pair(name, records.get(name, ()), name in known) for name in sorted({*known, *records})]


def currency_of(project: Project) -> str:
    """The currency of the prices; "" without prices."""
    prices = project.prices(lambda stage: "")
    return prices.currency if prices else ""


class _PairReader:
    """Reads what is told of pairs, and keeps what does not change."""

    def __init__(self, project: Project) -> None:
        self._project, self._store = project, project.store
        self._rows = StoreReader(project.store)
        self._prices: Prices | None = project.prices(lambda stage: "")  # what was made says on which machine
        costs = self._prices.costs.model_dump(mode="json") if self._prices else None
        self._rates = json_digest(costs)
        self._folder = settings.state_folder() / "pairs"

    def pair(self, partition: str, records: Sequence[RunRecord], is_known: bool) -> Pair:
        """Read the state of a training config; `is_known` is true while it still exists."""
        own = sorted((one for one in records if not one.options.overrides), key=_begun, reverse=True)
        experiments = len(records) - len(own)
        if not own:
            return Pair(partition, "not begun", experiments=experiments)
        evaluating = (self._made(one) for one in own if _evaluates(one))
        made = next((one for one in evaluating if one.model), None) or self._made(own[0])
        state, detail = self._state(partition, own, made, is_known)
        return Pair(partition, state, detail, own[0].run, made, experiments)

    def _state(
        self, partition: str, own: Sequence[RunRecord], made: Made, is_known: bool
    ) -> tuple[State, str]:
        now = time.time()
        for record in own:
            if record.ended is None and not record.is_silent(now):
                return "running", f"{_progress(record)}, run {record.run[:8]}"
        newest = own[0]
        if newest.ended is None:
            return "lost its process", _progress(newest)
        if newest.failed:
            label, why = next(iter(newest.failed.items()))
            return "failed", f"{label}: {why}"
        read = self._read(partition) if is_known else None
        if newest.labels.keys() - newest.uses.keys():
            gates = self._failed_gates(read) if read else []
            return ("waits for a decision", ", ".join(gates)) if gates else ("stopped", _progress(newest))
        changed = self._changed(read.graph, made) if read else []
        if changed:
            return "stale", ", ".join(changed)
        last = last_asset(newest.stages)
        return "up to date", f"up to {last}" if last else ""

    def _read(self, partition: str) -> ReadConfig | None:
        try:
            return self._project.configs.read(partition)
        except (ConfigError, TranslationsError):
            return None

    def _failed_gates(self, read: ReadConfig) -> list[str]:
        """The gates of level `error` that failed."""
        from translations_assets.checks.gates import GATES, examine

        session = self._project.new_session(_READING, read, RunOptions(), ())
        return [gate.name for gate in GATES if examine(session, gate, {}).is_error]

    def _changed(self, graph: Graph, made: Made) -> list[str]:
        """The stages with a step whose code, arguments, libraries or files are others than its result's."""
        found: dict[str, None] = {}
        for step in graph.steps:
            before = made.recipes.get(step.label)
            if before and step.stage not in found:
                now = _recipe(self._project.keys.known_parts(step, {}))
                files = {name: digest for name, digest in now.inputs.items() if digest}
                if now.others != before.others or not files.items() <= before.inputs.items():
                    found[step.stage] = None
        return list(found)

    def _made(self, record: RunRecord) -> Made:
        """Read a run's results, from the cache, or from the store."""
        digest = json_digest([FORMAT, self._store.url, record.run, record.ended, self._rates])
        path = self._folder / f"{digest[:32]}.json"
        if record.ended is not None:
            with suppress(OSError, ValueError):
                return self._with_places(Made.from_dict(json.loads(path.read_text(encoding="utf-8"))), record)
        made = self._now(record)
        if record.ended is not None:
            with suppress(OSError):  # a folder that cannot be written costs the memory alone
                self._folder.mkdir(parents=True, exist_ok=True)
                write_whole(path, json.dumps(asdict(made)))
                keep_newest(self._folder, MOST_KEPT)
        return self._with_places(made, record)

    def _with_places(self, made: Made, record: RunRecord) -> Made:
        """With the places where it is published by now."""
        return replace(made, published=tuple(place.url for place in self._rows.places(record)))

    def _now(self, record: RunRecord) -> Made:
        manifests = self._rows.manifests(record)
        made = Made(
            run=record.run,
            space=record.space,
            time=_begun(record),
            spent=sum(self._spent(record, manifests), Cost()).values,
            recipes={label: _recipe(one.provenance.parts) for label, one in manifests.items()},
        )
        evaluations = self._rows.row(record, manifests).evaluations
        model = shown_model(evaluations)
        if not model:
            return made
        dataset = next(iter(evaluations[model]))
        own, released = (
            {metric: float(one.score) for metric, one in scores.by_metric.items()} if scores else {}
            for scores in (evaluations.get(name, {}).get(dataset) for name in (model, RELEASED))
        )
        return replace(made, model=model, dataset=dataset, scores=own, released=released)

    def _spent(self, record: RunRecord, manifests: Mapping[str, Manifest]) -> Iterator[Cost]:
        workers = {label: worker for labels in record.steps.values() for label, worker in labels.items()}
        for label, manifest in manifests.items():
            step = RecordedStep(manifest.provenance.stage, workers.get(label, "cpu"))
            yield spent_on(step, manifest, self._prices)


def _recipe(parts: KeyParts) -> Recipe:
    others = replace(parts, inputs={}).digest
    return Recipe(others, dict(parts.inputs))


def _begun(record: RunRecord) -> float:
    return record.started or record.heartbeat


def _evaluates(record: RunRecord) -> bool:
    labels = record.labels
    return any(labels.get(label) in resolve_stage("evaluate") for label in record.uses)


def _progress(record: RunRecord) -> str:
    done, total = record.progress
    return f"{done} of {total} steps"
