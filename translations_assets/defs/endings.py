"""The end of an asset or run that fails or is cancelled, in words, as Dagster's pages show it.

Dagster notes the stack of every exception, and its pages show a dozen frames of its own under each message.
Of an error that comes with a record of itself (`DagsterUserCodeProcessError`) it keeps that record.
"""

from __future__ import annotations

from collections.abc import Sequence

import dagster as dg

# Of a process of user code; its record of the error is taken as it is.
from dagster._core.errors import DagsterUserCodeProcessError
from dagster_shared.error import SerializableErrorInfo

from translations_assets.common.errors import FailedStep, StepFailed
from translations_assets.config.errors import ConfigError
from translations_assets.instance.server import log_path
from translations_assets.runs.failed_assets import Cause, FailedAsset


class _Told(DagsterUserCodeProcessError):
    """An error of which Dagster keeps the text alone."""

    def __init__(self, text: str, *args: object, **named: object) -> None:
        words = SerializableErrorInfo(text, [], None)
        super().__init__(  # type: ignore[no-untyped-call]  # Dagster's
            text, *args, user_code_process_error_infos=[words], **named
        )


class ToldFailure(_Told, dg.Failure):
    """A failure explained in words; another attempt would fail as well.

    cause   what kind of failure it is, for notices; "" for any other
    failed  steps, whose logs are linked
    gates   the names of those that failed
    """

    def __init__(
        self, text: str, cause: Cause = "", failed: Sequence[FailedStep] = (), gates: Sequence[str] = ()
    ) -> None:
        links = {f"log of {step.label}": log_path(*step.log) for step in failed if step.log}
        metadata = {
            **{name: dg.MetadataValue.url(path) for name, path in links.items()},
            **FailedAsset(text, cause, gates).metadata(),
        }
        super().__init__(text, metadata, allow_retries=False)


class ToldCancellation(_Told, dg.DagsterExecutionInterruptedError):
    """Somebody ended the run; in words."""


class ToldDelay(_Told):
    """Delay of a run-status sensor's work, in words: the next tick is for the same run again.

    Dagster moves such a sensor's cursor past other errors, but not past those of its own kind.
    """


def failure_of(error: Exception) -> ToldFailure:
    """Make the failure that Dagster is given for an error written for people."""
    if isinstance(error, StepFailed):  # with links in place of commands
        is_lost = any(step.is_lost for step in error.failures)
        cause: Cause = "lost results" if is_lost else "budget" if error.unpaid else "steps"
        return ToldFailure("\n\n".join(step.text for step in error.failures), cause, error.failures)
    return ToldFailure(str(error), "training config" if isinstance(error, ConfigError) else "")
