"""Runs: the resource that begins and ends one, and holds what was asked of it; runs in this process.

Dagster's `execute_job` tells a run's id only at its end: what is run in this process has a known id before.
"""

import json
import logging
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import dagster as dg
from dagster import AssetKey, DagsterInstance, DagsterRun, InitResourceContext

# Finds Dagster's own job of all assets, too, whose name is reserved.
from dagster._core.definitions.reconstruct import ReconstructableRepository

# Runs a job whose run the instance already has.
from dagster._core.execution.api import execute_run

from translations_assets.common import settings
from translations_assets.common.errors import TranslationsError
from translations_assets.config.errors import ConfigError
from translations_assets.defs.executor import is_canceled
from translations_assets.defs.metadata import tell_notes
from translations_assets.defs.recipes import observe_recipes
from translations_assets.defs.shared import PROJECT
from translations_assets.instance.process_id import PROCESS_TAG, this_process
from translations_assets.instance.server import PARTITION_TAG, RETRY_NUMBER_TAG
from translations_assets.records.cost import Cost
from translations_assets.records.run import OPTIONS, RunOptions
from translations_assets.running.events import Explained, Listener, StepEvent
from translations_assets.running.session import Session
from translations_assets.running.tasks import RUN_SECONDS, when_reachable
from translations_assets.runs.instance import stages_of
from translations_assets.stages import ASSETS, last_asset

WHY_TAG = "translations/why"
LOCATION = "translations-assets"  # as workspace.yaml and a deployment's code server name the code location
MOST_OF_WHY = 200  # characters
KINDS = {str: str, bool: bool, float: float, dict: dg.Permissive()}  # type: ignore[no-untyped-call]
CONFIG = {
    name: dg.Field(KINDS[type(option.default)], default_value=option.default, description=option.help)
    for name, option in OPTIONS.items()
}


# A function and no ConfigurableResource: with that, Dagster reads what Pydantic has deprecated, and warns.
@dg.resource(config_schema=CONFIG, description="What was asked of the run; it begins and ends with this.")
def run(context: InitResourceContext) -> Iterator[RunOptions]:
    """Called by Dagster once per run.

    Dagster notes an asset's upstream data versions when the asset starts; a recipe that is observed later
    would show what was just made as stale.
    """
    options = RunOptions.from_dict(context.resource_config)
    dagster_run, instance = context.dagster_run, context.instance
    if not dagster_run or not instance:
        yield options
        return
    log = context.log or logging.getLogger(__name__)
    try:
        with _live_numbers(_begin(instance, dagster_run, options, log), log):
            yield options
    finally:
        for session in PROJECT.end_sessions(dagster_run.run_id):
            if session.budget:
                log.warning(session.budget.told())


def _begin(
    instance: DagsterInstance, dagster_run: DagsterRun, options: RunOptions, log: logging.Logger
) -> Session | None:
    """The session of a run, which shows from now on that it is alive; None where none can begin, and for a
    run of assets that make no steps. A store that is away is waited for, as assets do.
    """
    run, partition = dagster_run.run_id, dagster_run.tags.get(PARTITION_TAG)
    stages = stages_of(instance, dagster_run) if partition else []
    if not partition or not stages:
        return None

    def wait(seconds: float) -> bool:
        time.sleep(seconds)
        return is_canceled(instance, run)

    new = partial(PROJECT.session, run, partition, options, stages)
    session = None
    try:
        session = when_reachable(new, RUN_SECONDS, wait, log.warning)
        session.continues = _continued(instance, dagster_run)
        instance.add_run_tags(run, _tags(session))
        session.listeners.append(_tell_why(instance, session))
        tell_notes(instance, run, log, session.notes)
        look_up = partial(_look_up, instance, dagster_run, session)
        when_reachable(look_up, RUN_SECONDS, wait, log.warning)
    except (ConfigError, TranslationsError) as error:  # the assets tell it once more, and fail
        log.warning("The run of %s cannot begin: %s", partition, error)
    if session:
        session.record.keep_alive()
        for warning in session.results.warnings:
            log.warning(warning)
    return session


def _look_up(instance: DagsterInstance, dagster_run: DagsterRun, session: Session) -> None:
    """Ask the store for what is left of the budget, what is stale, and how long steps will take."""
    if dagster_run.tags.get(RETRY_NUMBER_TAG):
        session.take_over_budget()
    if not session.options.overrides:  # the recipes are those of the config
        assets = [stage for stage in session.stages if stage in ASSETS]
        observe_recipes(instance, session, session.keys, assets)
    if not session.expected:  # `translations train` has made one with its plan
        session.expected = _forecast(session)


@contextmanager
def _live_numbers(session: Session | None, log: logging.Logger) -> Iterator[None]:
    """Send the numbers of the run's trainings to Weights & Biases as they come, if the config asks for it."""
    if session is None or not session.config.wandb_publication:
        yield
        return
    from translations_assets.tracking.live import LiveRuns, begin_live, end_live

    def report(why: str) -> None:
        log.warning("Live numbers do not reach Weights & Biases; the training goes on. %s", why)

    pair = session.config.pair
    folder = settings.state_folder() / "wandb" / "online" / pair
    session.listeners.append(begin_live(session.run, LiveRuns(pair, session.partition, folder, report)))
    try:
        yield
    finally:
        end_live(session.run)


def _forecast(session: Session) -> Mapping[str, Cost]:
    """Label → what the steps are expected to take that the run will or may make."""
    graph = session.graph
    steps = [step for stage in session.stages for step in graph.stages[stage]]
    return PROJECT.forecast(session, session.plan(graph.step_closure(steps))).expected


def _tags(session: Session) -> dict[str, str]:
    """By what a run is told from others of its partition, in the UI's list."""
    asked = {
        "space": session.space,
        "up to": last_asset(session.stages),
        "options": " ".join(session.options.words()),
        "why": _rerun_of(session.continues),
    }
    return {f"translations/{name}": value for name, value in asked.items() if value}


def _rerun_of(earlier: Iterable[str]) -> str:
    nearest = next(iter(earlier), "")
    return f"rerun of {nearest[:8]}" if nearest else ""


def _tell_why(instance: DagsterInstance, session: Session) -> Listener:
    """Tags a run with the reason for which the first of its steps runs that does."""
    is_told = threading.Event()

    def listen(event: StepEvent) -> None:
        if isinstance(event.what, Explained) and not is_told.is_set():
            is_told.set()
            why = "; ".join(filter(None, [_rerun_of(session.continues), event.what.reason]))
            instance.add_run_tags(session.run, {WHY_TAG: why[:MOST_OF_WHY]})

    return listen


def _continued(instance: DagsterInstance, dagster_run: DagsterRun) -> list[str]:
    """The runs that a re-execution goes back to: its parent, that one's parent, and so on."""
    earlier: list[str] = []
    parent = dagster_run.parent_run_id
    while parent and parent not in earlier:
        earlier.append(parent)
        found = instance.get_run_by_id(parent)
        parent = found.parent_run_id if found else None
    return earlier


def run_here(
    instance: DagsterInstance,
    job: str,
    selection: Iterable[AssetKey],
    *,
    run_id: str,
    config: Mapping[str, object],
    tags: Mapping[str, str],
    parent: str | None = None,
) -> DagsterRun:
    """Run assets of a job here, and wait; the run as it ended.

    It names its job as a run does that the web server launches, whose pages list it under the job and can
    execute it again. `parent` is the id of the run that this one repeats.
    """
    repeated = instance.get_run_by_id(parent) if parent else None
    definitions = ReconstructableRepository.for_module(settings.DEFINITIONS, "defs")
    chosen = definitions.get_reconstructable_job(job).get_subset(asset_selection=frozenset(selection))
    run = instance.create_run_for_job(
        job_def=chosen.get_definition(),
        run_id=run_id,
        run_config=config,
        tags=tags,
        asset_selection=set(selection),
        root_run_id=(repeated.root_run_id or repeated.run_id) if repeated else None,
        parent_run_id=repeated.run_id if repeated else None,
        remote_job_origin=_origin(job),
        job_code_origin=chosen.get_python_origin(),
    )
    instance.add_run_tags(run_id, {PROCESS_TAG: this_process(run_id)})
    execute_run(chosen, run, instance)
    ended = instance.get_run_by_id(run_id)
    assert ended is not None  # it has just ended
    return ended


def _origin(job: str) -> Any:
    """A job as a web server with the project's workspace.yaml names it, in the form of Dagster's database."""
    location = _stored(
        "ManagedGrpcPythonEnvRepositoryLocationOrigin",
        location_name=LOCATION,
        loadable_target_origin=_stored("LoadableTargetOrigin", module_name=settings.DEFINITIONS),
    )
    repository = _stored(
        "ExternalRepositoryOrigin",
        repository_name="__repository__",  # Dagster's name of one that has none
        repository_location_origin=location,
    )
    origin = _stored("ExternalPipelineOrigin", pipeline_name=job, external_repository_origin=repository)
    return dg.deserialize_value(json.dumps(origin))


def _stored(name: str, **fields: object) -> dict[str, object]:
    return {"__class__": name, **fields}
