"""Causes of the failures of assets, in the metadata of Dagster's failures: written and read here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import dagster as dg

from translations_assets.instance.server import CAUSE, GATE

Cause: TypeAlias = Literal["steps", "lost results", "budget", "gates", "training config", ""]


@dataclass(frozen=True)
class FailedAsset:
    """An asset, or the check of one, that failed.

    cause  what kind of failure it is, for notices; "" for any other, and for errors that nobody has written
           for people
    gates  the names of those that failed
    """

    text: str
    cause: str = ""
    gates: Sequence[str] = ()

    def metadata(self) -> dict[str, dg.MetadataValue]:
        """The cause and the gates as Dagster notes them with the failure."""
        return {
            **({CAUSE: dg.MetadataValue.text(self.cause)} if self.cause else {}),
            **({GATE: dg.MetadataValue.text(" ".join(self.gates))} if self.gates else {}),
        }


def failed_assets(instance: dg.DagsterInstance, run: str) -> Iterator[FailedAsset]:
    """The assets of a run that failed, in order."""
    for entry in instance.all_logs(run, of_type=dg.DagsterEventType.STEP_FAILURE):
        event = entry.get_dagster_event()
        told, error = event.step_failure_data.user_failure_data, event.step_failure_data.error
        if told is None:  # nobody has written it for people: a bug
            error = error and (error.cause or error)
            said_so = error.message.strip() if error else event.message
            yield FailedAsset(f"{event.step_key}: {said_so}")
            continue
        said = {name: str(value.value) for name, value in told.metadata.items()}
        text = told.description or event.message or ""
        yield FailedAsset(text, said.get(CAUSE, ""), said.get(GATE, "").split())
