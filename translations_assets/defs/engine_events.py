"""Engine events of a run's log: the ones whose text and metadata an executor or an asset chooses freely."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dagster as dg
from dagster._core.events import EngineEventData


def engine_event(context: Any, text: str, metadata: Mapping[str, str] | None = None) -> dg.DagsterEvent:
    """Make an event of an executor, in Dagster's context of a run."""
    return dg.DagsterEvent.engine_event(context, text, EngineEventData(metadata))


def log_event(
    context: dg.OpExecutionContext | dg.AssetExecutionContext,
    level: str,
    text: str,
    metadata: Mapping[str, Any],
) -> None:
    """Write an event of the run's log that belongs to no asset: a line for people, metadata for programs."""
    kind = dg.DagsterEventType.ENGINE_EVENT.value
    data = EngineEventData(metadata)
    structured = dg.DagsterEvent(kind, context.job_name, message=text, event_specific_data=data)
    context.log.log_dagster_event(level, text, structured)
