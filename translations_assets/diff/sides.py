"""The two that are compared: each a run, or the state of a partition, or of a variant of one, at a time.

All is read from the store: refs, records of runs, manifests. No file of a training config need be there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from translations_assets.common.errors import TranslationsError
from translations_assets.common.listing import some
from translations_assets.config.errors import ConfigError
from translations_assets.config.schema import TrainingConfig, config_digest
from translations_assets.config.stage_names import stage_names
from translations_assets.configs.training_configs import graph_of
from translations_assets.graph.graph import Graph
from translations_assets.graph.step import Step
from translations_assets.records.manifest import Manifest, Ref
from translations_assets.records.run import RunOptions, RunRecord, partition_of
from translations_assets.registry.read import StoreReader
from translations_assets.running.protocols import Reading
from translations_assets.runs.known import whole_id
from translations_assets.why.between import MadeSteps

NEWEST = 5  # runs that an error names
MOST = 12  # partitions that an error names
_DATE = len("2026-11-20")


@dataclass(frozen=True)
class Side(MadeSteps):
    """One of the two.

    name       as it was asked for, with the whole id of a run
    run        the run; of a partition that which published last
    time       when the run began, or when the partition was last published (seconds since 1970)
    overrides  of the run, as `translations train` takes them
    gone       labels of results that the store has no longer
    stale      labels of results that were made from earlier results than those beside them
    is_own     whether `config` is the run's own, and not that of its newest result
    workers    label → worker class on which its steps run, as far as records say
    """

    name: str
    is_run: bool
    partition: str
    space: str
    run: str
    time: float
    overrides: str
    pair: tuple[str, str]
    gone: Sequence[str]
    stale: Sequence[str]
    is_own: bool
    workers: Mapping[str, str]


def find_side(store: Reading, space: str, text: str) -> Side:
    """Find what somebody names: `1a2b3c4d`, `en-ru`, `en-ru@1a2b3c4d5e6f`, `en-ru:2026-11-20T12:00`.

    Partitions are those of a space. Raises TranslationsError that says what there is.
    """
    name, _, at = text.partition(":")
    runs = store.runs()
    if any(run.startswith(name) for run in runs) and name:
        if at:
            raise TranslationsError(f"{name} is a run, which has one state: leave out :{at}.")
        run = whole_id(name, runs, "The store has no run", "translations status")
        record = store.read_run(run)
        if record is None or not record.uses:
            raise TranslationsError(f"Run {run} has no results yet. To look at it: translations status {run}")
        return _side(store, record, record.uses, run, is_run=True, time=_began(record))
    until = _time(at, text) if at else float("inf")
    known, refs = _published(store, space, name, until)
    newest = max(refs, key=lambda ref: ref.time)
    record = store.read_run(newest.run) or RunRecord(newest.run, partition_of(known), space)
    used = {label: made for ref in refs for label, made in ref.steps.items()}
    shown = f"{known}:{at}" if at else known
    return _side(store, record, used, shown, is_run=False, time=newest.time)


def _began(record: RunRecord) -> float:
    return record.started or record.heartbeat


def _time(text: str, whole: str) -> float:
    """Seconds since 1970 of a time; a date alone means its end. The zone is this machine's, unless given."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise TranslationsError(
            f"{whole}: {text!r} is no time. Write a time as 2026-11-20T12:00, or a day as 2026-11-20."
        ) from None
    return (time + timedelta(days=len(text) <= _DATE)).timestamp()


def _published(store: Reading, space: str, name: str, until: float) -> tuple[str, list[Ref]]:
    """The whole name of a partition or variant, and the newest ref of each stage up to a time."""
    found = _refs(store, space, name, until)
    if found:
        return name, found
    known = _known(store)
    near = sorted(one for one in known.get(space, ()) if "@" in name and one.startswith(name))
    if len(near) == 1 and near[0] != name:
        return _published(store, space, near[0], until)
    if near and near[0] != name:
        raise TranslationsError(f"Several variants begin with {name}: {', '.join(near)}. Give more of it.")
    if near or name in known.get(space, ()):
        raise TranslationsError(_none_until(store, space, name))
    raise TranslationsError(_nothing(store, known, space, name))


def _refs(store: Reading, space: str, name: str, until: float) -> list[Ref]:
    """The newest ref of each stage up to a time."""
    stages = (store.refs(space, name, stage) for stage in stage_names()) if name else ()
    newest = (next((ref for ref in refs if ref.time <= until), None) for refs in stages)
    return [ref for ref in newest if ref]


def _none_until(store: Reading, space: str, name: str) -> str:
    """Say that a partition had no results at a time, and since when it has some."""
    first = min(
        (refs[-1].time for stage in stage_names() if (refs := store.refs(space, name, stage))), default=0
    )
    if not first:
        return f"{name} has published no results, or they were collected as garbage. {_list_runs(store)}"
    return f"{name} had no results then: the first that are known are of {shown_time(first)}."


def _known(store: Reading) -> dict[str, dict[str, None]]:
    """Space → partitions and variants that have runs, those of the newest runs first."""
    found: dict[str, dict[str, None]] = {}
    for record in filter(None, map(store.read_run, store.runs())):
        if record.partition and record.uses:
            found.setdefault(record.space, {})[record.options.ref_partitions(record.partition)[0]] = None
    return found


def _nothing(store: Reading, known: Mapping[str, Mapping[str, None]], space: str, name: str) -> str:
    """Say that there is nothing of a name, and what there is."""
    elsewhere = [other for other, names in known.items() if name in names]
    if elsewhere:
        return f"The space {space} has no results of {name}. To use those of another space: " + " or ".join(
            f"TRANSLATIONS_SPACE={other}" for other in elsewhere
        )
    names = list(known.get(space, ()))
    there = f" It has results of: {some(names, MOST)}." if names else ""
    return f"The store has no run, partition or variant {name!r}.{there} {_list_runs(store)}"


def _list_runs(store: Reading) -> str:
    newest = ", ".join(run[:8] for run in store.runs()[:NEWEST])
    return (
        f"The newest runs: {newest}. To list them: translations status" if newest else "There is no run yet."
    )


def shown_time(seconds: float) -> str:
    """A time for people, by this machine's clock."""
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")


def _side(
    store: Reading,
    record: RunRecord,
    used: Mapping[str, tuple[str, int]],
    name: str,
    *,
    is_run: bool,
    time: float,
) -> Side:
    found = {
        label: store.generation(*made) or store.read_retired(*made) for label, made in sorted(used.items())
    }
    results = {label: made for label, made in found.items() if made}
    text = StoreReader(store).config(record, results.values())
    config: dict[str, Any] | None = json.loads(text) if text else None
    is_own = config is not None and config_digest(config) == record.config
    values, graph = _todays(config)
    order = {step.label: place for place, step in enumerate(graph.steps)} if graph else {}
    if not is_run and graph:  # stages that the config has no longer keep their last refs
        results = {label: made for label, made in results.items() if label in order}
    results = dict(sorted(results.items(), key=lambda item: order.get(item[0], -1)))
    return Side(
        results=results,
        config=values,
        graph=graph,
        name=name,
        is_run=is_run,
        partition=record.options.ref_partitions(record.partition)[0],
        space=record.space,
        run=record.run,
        time=time,
        overrides=" ".join(RunOptions(overrides=record.options.overrides).words()),
        pair=_pair(record, values),
        gone=[label for label, made in found.items() if made is None],
        stale=_stale(results, graph),
        is_own=is_own,
        workers={label: worker for labels in record.steps.values() for label, worker in labels.items()},
    )


def _todays(config: dict[str, Any] | None) -> tuple[dict[str, Any] | None, Graph | None]:
    """A config with today's keys and defaults, and its graph; as it is, and None, where that fails."""
    if config is None:
        return None, None
    try:
        parsed = TrainingConfig.model_validate(config)
        return parsed.model_dump(mode="json", by_alias=True), graph_of(parsed)
    except (ValueError, ConfigError, TranslationsError):  # Pydantic's error is a ValueError
        return config, None


def _pair(record: RunRecord, config: Mapping[str, Any] | None) -> tuple[str, str]:
    """Source and target language."""
    if len(record.pair) == 2:
        return record.pair[0], record.pair[1]
    experiment = (config or {}).get("experiment", {})
    return str(experiment.get("src", "")), str(experiment.get("trg", ""))


def _stale(results: Mapping[str, Manifest], graph: Graph | None) -> list[str]:
    """The labels of results that read other contents than the results beside them have."""
    steps = [step for step in graph.steps if step.label in results] if graph else []
    return [step.label for step in steps if any(_reads_others(step, results))]


def _reads_others(step: Step, results: Mapping[str, Manifest]) -> Iterator[bool]:
    read = results[step.label].provenance.parts.inputs
    for name, path, handle in step.input_outputs():
        maker = results.get(handle.step.label)
        blob = maker.outputs.get(handle.name) if maker else None
        digest = read.get(f"{name}/{path}")
        yield bool(blob and digest and blob.digest != digest)
