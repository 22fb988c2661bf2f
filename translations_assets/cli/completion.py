"""Names that a shell completes: training configs, runs, stages, steps.

A shell asks at each press of the key, so nothing is asked of a bucket or of Dagster. Where something is
wrong, nothing is offered: the command itself says what.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

import typer

from translations_assets.common import settings
from translations_assets.config.model_names import TRANSLATING
from translations_assets.config.partitions import find_configs
from translations_assets.configs.sweeps import find_sweeps
from translations_assets.project import this_project
from translations_assets.running.protocols import Store
from translations_assets.store.open import open_store

NEWEST = 50  # runs that are offered
SHORT = 8  # characters of a run's id

Offer = tuple[str, str]  # a name, and what some shells show beside it


def _partitions(ctx: typer.Context) -> Iterator[Offer]:
    """The training configs of the folders, and those that a store in a folder keeps."""
    yield from ((name, str(path)) for name, path in find_configs(settings.config_folders()).items())
    if store := _local_store():
        yield from ((name, "kept in the store") for name in store.config_names())


def _sweeps(ctx: typer.Context) -> Iterator[Offer]:
    """The sweeps in the folders of training configs."""
    return ((path.stem, str(path)) for path, _ in find_sweeps())


def _runs(ctx: typer.Context) -> Iterator[Offer]:
    """The newest runs that a store in a folder knows."""
    store = _local_store()
    for run in store.runs()[:NEWEST] if store else ():
        record = store.read_run(run) if store else None
        yield run[:SHORT], record.partition if record else ""


def _stages(ctx: typer.Context) -> Iterator[Offer]:
    """The stages that can be made, with the family of each."""
    from translations_assets.stages import ASSETS

    return ((name, stage.group) for name, stage in ASSETS.items())


def _labels(ctx: typer.Context) -> Iterator[Offer]:
    """The steps of the training config, or of the run's, that was typed before."""
    name = str(ctx.params.get("partition") or ctx.params.get("name"))
    store = _local_store()
    run = next((run for run in store.runs() if run.startswith(name)), None) if store else None
    record = store.read_run(run) if store and run else None
    graph = this_project().configs.read(record.partition if record else name).graph
    return ((step.label, step.stage) for step in graph.steps)


def _models(ctx: typer.Context) -> Iterator[Offer]:
    """The models that can translate: a parser that lacks an option's value has no training config yet."""
    return ((name, "") for name in TRANSLATING)


def _sources(ctx: typer.Context) -> Iterator[Offer]:
    """The sources of datasets."""
    from translations_assets.configs.generate import SOURCES

    return ((name, "") for name in SOURCES)


def _local_store() -> Store | None:
    """The store, where asking it costs nothing: in folders that no deployment file names."""
    url, base = settings.store_url(), settings.store_base_url()
    is_near = not settings.deployment_file() and "://" not in url + base
    return open_store(url, base) if is_near else None


def _offers(
    *finders: Callable[[typer.Context], Iterable[Offer]],
) -> Callable[[typer.Context, str], list[Offer]]:
    """Complete names that some functions find."""

    def complete(ctx: typer.Context, incomplete: str) -> list[Offer]:
        try:
            found = chain.from_iterable(find(ctx) for find in finders)
            return [offer for offer in found if offer[0].startswith(incomplete)]
        except Exception:  # a traceback would stand in the line that is being typed
            return []

    complete.__annotations__ = {"ctx": typer.Context, "incomplete": str}  # as Typer reads them
    return complete


partitions = _offers(_partitions)
partitions_or_sweeps = _offers(_partitions, _sweeps)
sweeps = _offers(_sweeps)
runs = _offers(_runs)
partitions_or_runs = _offers(_partitions, _runs)
stages = _offers(_stages)
labels = _offers(_labels)
models = _offers(_models)
sources = _offers(_sources)
