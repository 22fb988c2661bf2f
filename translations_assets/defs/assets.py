"""One asset per stage, partitioned by training config.

Materializing an asset finds the results of its steps in the store, runs the steps that have none, and
publishes data version and metadata.
"""

import hashlib
import logging

import dagster as dg

from translations_assets.config.errors import ConfigError
from translations_assets.defs.executor import cancel_event
from translations_assets.defs.metadata import stage_metadata
from translations_assets.defs.partitions import TRAINING_CONFIGS
from translations_assets.defs.progress import Progress
from translations_assets.defs.recipes import recipe_key
from translations_assets.defs.shared import PROJECT, REPEAT_TAG
from translations_assets.stages import STAGES
from translations_assets.steps.engine import StepResult
from translations_assets.steps.errors import Cancelled, TranslationsError
from translations_assets.steps.key import json_digest
from translations_assets.steps.stage import Stage

_logger = logging.getLogger(__name__)


def make_asset(stage: Stage, code_version: str) -> dg.AssetsDefinition:
    """The asset of a stage: its upstream stages and its recipe are its dependencies."""

    @dg.asset(
        name=stage.name,
        deps=[*stage.upstream, recipe_key(stage.name)],
        group_name=stage.group,
        description=stage.description,
        code_version=code_version,
        partitions_def=TRAINING_CONFIGS,
        required_resource_keys={"run_start"},
    )
    def compute(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        return _materialize(context, stage)

    return compute


def _materialize(context: dg.AssetExecutionContext, stage: Stage) -> dg.MaterializeResult[None]:
    repeat = tuple(filter(None, context.run.tags.get(REPEAT_TAG, "").split(",")))
    try:
        session = PROJECT.session(context.run.run_id, context.partition_key, repeat)
        steps = session.graph.stages[stage.name]
        with Progress(context, stage.name) as progress:
            results = PROJECT.engine.run(session, steps, cancel_event(context.run.run_id), progress)
        session.publish(stage.name)
    except Cancelled as error:
        raise dg.DagsterExecutionInterruptedError(str(error)) from error
    except (ConfigError, TranslationsError) as error:
        raise dg.Failure(str(error), allow_retries=False) from None
    for warning in session.warnings:
        context.log.warning(warning)
    if not results:
        context.log.info(f"{stage.name} has no steps for this training config.")
    return dg.MaterializeResult(
        metadata=stage_metadata(context.partition_key, results, PROJECT.store, session.warnings),
        data_version=dg.DataVersion(_data_version(results)),
    )


def _data_version(results: list[StepResult]) -> str:
    """A digest of the names and contents of everything that the stage's steps left."""
    return json_digest(
        sorted(
            [result.step.label, name, blob.digest]
            for result in results
            for name, blob in result.manifest.outputs.items()
        )
    )


def code_versions() -> dict[str, str]:
    """Stage → digest of the code of the scripts that it runs, over all training configs that can be read."""
    scripts: dict[str, set[str]] = {name: set() for name in STAGES}
    for partition in TRAINING_CONFIGS.get_partition_keys():
        try:
            stages = PROJECT.read_graph(partition).stages
        except (ConfigError, TranslationsError) as error:
            _logger.warning("The partition %s cannot run: %s", partition, error)
            continue
        for name, steps in stages.items():
            scripts[name].update(step.script for step in steps)
    return {name: _code_version(names) for name, names in scripts.items()}


def _code_version(scripts: set[str]) -> str:
    digests = sorted(PROJECT.keys.fingerprint(script).digest for script in scripts)
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


@dg.definitions
def assets() -> dg.Definitions:
    """The assets of all stages."""
    versions = code_versions()
    return dg.Definitions(assets=[make_asset(stage, versions[name]) for name, stage in STAGES.items()])
