"""Running a stage's steps for one asset, or asset check, of a run."""

import dagster as dg

from translations_assets.defs.executor import cancel_event
from translations_assets.defs.progress import Progress
from translations_assets.defs.shared import PROJECT
from translations_assets.running.engine import StepResult
from translations_assets.running.session import Session


def run_session(context: dg.OpExecutionContext | dg.AssetExecutionContext) -> Session:
    """The session of the run and the partition that an asset or asset check belongs to."""
    return PROJECT.session(context.run.run_id, context.partition_key, context.resources.run)


def run_stage(
    context: dg.OpExecutionContext | dg.AssetExecutionContext, session: Session, stage: str
) -> list[StepResult]:
    """Find or make the results of a stage's steps, and publish them. Raises as `Engine.run`."""
    with Progress(context, stage) as progress:
        results = PROJECT.engine.run(
            session, session.graph.stages[stage], cancel_event(context.run.run_id), progress
        )
    session.publish(stage)
    return results
