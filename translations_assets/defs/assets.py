"""One asset per stage, partitioned by training config.

Materializing an asset finds the results of its steps in the store, runs the steps that have none, and
publishes data version and metadata.
"""

import dagster as dg

from translations_assets.config.errors import ConfigError
from translations_assets.defs.lines_by_dataset import lines_by_dataset
from translations_assets.defs.metadata import stage_metadata
from translations_assets.defs.partitions import TRAINING_CONFIGS
from translations_assets.defs.recipes import recipe_key, recipe_tags
from translations_assets.defs.run_stage import run_session, run_stage
from translations_assets.defs.shared import PROJECT
from translations_assets.errors import Cancelled, TranslationsError
from translations_assets.graph.stage import Stage
from translations_assets.records.canonical import json_digest
from translations_assets.running.engine import StepResult
from translations_assets.stages import ASSETS

POD_TAG = "dagster-k8s/config"  # what the deployment file says of the pods of this stage alone, for the UI


def make_asset(stage: Stage) -> dg.AssetsDefinition:
    """The asset of a stage: its upstream stages and its recipe are its dependencies."""

    deployment = PROJECT.deployment
    own = deployment.kubernetes.stages.get(stage.name) if deployment and deployment.kubernetes else None

    @dg.asset(
        name=stage.name,
        deps=[*stage.upstream, recipe_key(stage.name)],
        group_name=stage.group,
        description=stage.description,
        partitions_def=TRAINING_CONFIGS,
        required_resource_keys={"run"},
        op_tags={POD_TAG: dict(own.pod)} if own and own.pod else None,
    )
    def compute(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        return _materialize(context, stage)

    return compute


def _materialize(context: dg.AssetExecutionContext, stage: Stage) -> dg.MaterializeResult[None]:
    try:
        session = run_session(context)
        results = run_stage(context, session, stage.name)
        tags = recipe_tags(context.instance, session, stage.name)
    except Cancelled as error:
        raise dg.DagsterExecutionInterruptedError(str(error)) from error
    except (ConfigError, TranslationsError) as error:
        raise dg.Failure(str(error), allow_retries=False) from None
    for warning in session.warnings:
        context.log.warning(warning)
    if not results:
        context.log.info(f"{stage.name} has no steps for this training config.")
    return dg.MaterializeResult(
        metadata={
            **stage_metadata(context.partition_key, results, PROJECT.store, session.warnings),
            **lines_by_dataset(session, results, PROJECT.store),
        },
        data_version=dg.DataVersion(_data_version(results)),
        tags=tags,
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


def assets() -> dg.Definitions:
    """The assets of all stages."""
    return dg.Definitions(assets=[make_asset(stage) for stage in ASSETS.values()])
