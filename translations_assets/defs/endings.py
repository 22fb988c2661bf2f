"""How an asset or a run ends that fails or is cancelled, as Dagster keeps it and its pages show it: in words.

Dagster notes the stack of every exception, and its pages show a dozen frames of its own under each message.
Of an error that comes with a record of itself (`DagsterUserCodeProcessError`) it keeps that record.
"""

from __future__ import annotations

import dagster as dg

# Of a process of user code; its record of the error is taken as it is.
from dagster._core.errors import DagsterUserCodeProcessError
from dagster_shared.error import SerializableErrorInfo

from translations_assets.errors import FailedStep, StepFailed
from translations_assets.server import log_path


class ToldFailure(DagsterUserCodeProcessError, dg.Failure):
    """A failure that people are told of in words; another attempt would fail as well.

    failed  steps, whose logs are linked
    """

    def __init__(self, text: str, failed: tuple[FailedStep, ...] = ()) -> None:
        links = {f"log of {step.label}": log_path(*step.log) for step in failed if step.log}
        super().__init__(  # type: ignore[no-untyped-call]  # Dagster's
            text,
            {name: dg.MetadataValue.url(path) for name, path in links.items()},
            allow_retries=False,
            user_code_process_error_infos=[_in_words(text)],
        )


class ToldCancellation(DagsterUserCodeProcessError, dg.DagsterExecutionInterruptedError):
    """Somebody ended the run; in words."""

    def __init__(self, text: str) -> None:
        super().__init__(  # type: ignore[no-untyped-call]
            text, user_code_process_error_infos=[_in_words(text)]
        )


def failure_of(error: Exception) -> ToldFailure:
    """What Dagster is told of an error that is written for people."""
    if isinstance(error, StepFailed):  # with links in place of commands
        return ToldFailure("\n\n".join(step.text for step in error.failures), error.failures)
    return ToldFailure(str(error))


def _in_words(text: str) -> SerializableErrorInfo:
    return SerializableErrorInfo(text, [], None)
