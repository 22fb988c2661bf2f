"""A client of a running Dagster web server: launches runs, follows them, cancels them.

Speaks GraphQL as the server's own pages do. Stands outside of the layers because both the command line and
the job of pasted training configs use it; imports no Dagster.
"""

from __future__ import annotations

import http.client
import json
import re
import reprlib
import urllib.error
import urllib.request
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from translations_assets.common.errors import TranslationsError
from translations_assets.common.settings import start_ui
from translations_assets.config.schema import TrainingConfig
from translations_assets.records.run import RunOptions
from translations_assets.stages import ASSETS

PARTITION_TAG = "dagster/partition"
# Dagster's own tags of runs that it launches itself in place of ones that it lost
RETRY_NUMBER_TAG, MAX_RETRIES_TAG = "dagster/retry_number", "dagster/max_retries"
AUTO_RETRY_RUN_ID_TAG, RUN_FAILURE_REASON_TAG = "dagster/auto_retry_run_id", "dagster/failure_reason"
USER_TAG = "user"  # who launched a run, where Dagster's pages look for it
# Metadata of an event of a run's log that is one of a step: see `StepEvent`
STEP_EVENT, STEP_LABEL, STEP_MESSAGE, STEP_LOG = "event", "step", "message", "log"
LOGS = "/step-logs"  # the pages of our web server (`ui.step_logs`) that show the logs of steps
REPORTS = "/reports"  # and those (`ui.reports`) that show the reports that are kept
PAIRS = "/pairs"  # that of all pairs (`ui.pairs`)
REPORT, WANDB = "report", "wandb_publication"  # the assets that are no stages: see `defs.looking`
# Of events that stand for those of an asset, where overrides make another one than the training config does
STAGE, NUMBERS, GATE = "made with overrides", "numbers", "gate"
CAUSE = "cause"  # of the failure of an asset: see `defs.endings`
ENDED = ("SUCCESS", "FAILURE", "CANCELED")

_PRINTED = re.compile(r"[!-~]+")  # of which an address consists
_READ_SECONDS = 60.0
_WORK_SECONDS = 330.0  # a reload imports all definitions; dagster.yaml allows it 300 s


def run_tags(partition: str, user: str) -> dict[str, str]:
    """The tags with which a run of a partition is launched; who did it may be unknown."""
    return {PARTITION_TAG: partition, **({USER_TAG: user} if user else {})}


def job_name(assets: Collection[str]) -> str:
    """The job by which assets are made: one whose runs Dagster's pages show by their assets, but for all."""
    return "all" if set(assets) >= set(ASSETS) else "__ASSET_JOB"


def log_path(key: str, generation: int, attempt: int | None = None) -> str:
    """The page of a step's log, that of the newest attempt if none is named.

    A path without the server's address: people reach one server by several names.
    """
    page = f"{LOGS}/{key}/{generation}"
    return page if attempt is None else f"{page}?attempt={attempt}"


def run_path(run: str) -> str:
    """The page of a run, as a path like those of logs."""
    return f"/runs/{run}"


def report_path(key: str, generation: int) -> str:
    """The page of a report that the store keeps, as a path like those of logs."""
    return f"{REPORTS}/{key}/{generation}"


def assets_of(stages: Iterable[str], config: TrainingConfig) -> list[str]:
    """The assets of stages of a training config, with what it asks to be made besides."""
    return [*(stage for stage in stages if stage in ASSETS), *([WANDB] if config.wandb_publication else [])]


class ServerUnreachable(TranslationsError):
    """Nothing answers at the URL, or what answers is no Dagster web server."""


@dataclass(frozen=True)
class RunState:
    """A run's status and the events since a cursor, in order."""

    status: str
    events: list[dict[str, Any]]
    cursor: str


class Server:
    """A web server of Dagster at a URL, such as http://127.0.0.1:3000. Methods raise TranslationsError."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")

    def run_url(self, run: str) -> str:
        """The page of a run."""
        return f"{self.url}{run_path(run)}"

    def check(self) -> None:
        """Raise ServerUnreachable unless a server with our jobs is there."""
        assert self._repository

    def load_partition(self, partition: str) -> None:
        """Reload the definitions if they lack a partition. TranslationsError when they lack it even then."""
        if self._has_partition(partition):
            return
        self._reload()
        if not self._has_partition(partition):
            raise TranslationsError(
                f"The server at {self.url} does not know {partition}: its store or its folders of training "
                "configs are others than those here."
            )

    def _has_partition(self, partition: str) -> bool:
        answer = self._ask("Partitions", job={**self._repository, "pipelineName": "all"})
        keys = (answer["pipelineOrError"].get("partitionKeysOrError") or {}).get("partitionKeys", [])
        return partition in keys

    def _reload(self) -> None:
        location = self._repository["repositoryLocationName"]
        answer = self._ask("Reload", _WORK_SECONDS, location=location)["reloadRepositoryLocation"]
        loaded = answer.get("locationOrLoadError") or answer
        if loaded["__typename"] != "RepositoryLocation":
            reason = loaded.get("message", loaded["__typename"])
            raise TranslationsError(f"{self.url} cannot load the definitions again: {reason}")

    def launch(self, partition: str, assets: Collection[str], options: RunOptions, user: str = "") -> str:
        """Launch a run that materializes assets of a partition, with their checks; its id.

        `user` is who does it, if that is known.
        """
        params = {
            "selector": {
                **self._repository,
                "jobName": job_name(assets),
                "assetSelection": [{"path": [asset]} for asset in assets],
                "assetCheckSelection": None,
            },
            "mode": "default",
            "runConfigData": json.dumps({"resources": {"run": {"config": options.to_dict()}}}),
            "executionMetadata": {
                "tags": [{"key": name, "value": value} for name, value in run_tags(partition, user).items()]
            },
        }
        answer = self._ask("Launch", _WORK_SECONDS, params=params)["launchRun"]
        if answer["__typename"] != "LaunchRunSuccess":
            reasons = [error["message"] for error in answer.get("errors", [])]
            reason = "; ".join(reasons) or answer.get("message", answer["__typename"])
            raise TranslationsError(f"{self.url} does not launch the run: {reason}")
        return str(answer["run"]["runId"])

    def run_state(self, run: str, cursor: str | None = None) -> RunState:
        """A run's status, and at most 500 events after a cursor."""
        answer = self._ask("Run", id=run, cursor=cursor)["runOrError"]
        if "status" not in answer:
            raise TranslationsError(f"{self.url} knows no run {run}.")
        found = answer["eventConnection"]
        return RunState(answer["status"], found["events"], found["cursor"])

    def terminate(self, run: str) -> None:
        """Ask a run to end, as the button Terminate does."""
        answer = self._ask("Terminate", id=run)["terminateRun"]
        if answer["__typename"] != "TerminateRunSuccess":
            raise TranslationsError(answer.get("message", answer["__typename"]))

    @cached_property
    def _repository(self) -> dict[str, str]:
        """The server's names of the code location and repository that hold our jobs."""
        for node in self._ask("Jobs")["repositoriesOrError"].get("nodes", []):
            if {"all", "train_pasted_config"} <= {job["name"] for job in node["jobs"]}:
                return {"repositoryLocationName": node["location"]["name"], "repositoryName": node["name"]}
        raise ServerUnreachable(
            f"The Dagster server at {self.url} has not loaded the definitions of this project. "
            f"Start it with the project's workspace.yaml: {start_ui()}"
        )

    @cached_property
    def _checked_url(self) -> str:
        try:
            parts = urlsplit(self.url)
            is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:  # brackets that are left open, a port that is none
            is_address = False
        if not is_address or not _PRINTED.fullmatch(self.url):
            raise TranslationsError(
                f"{reprlib.repr(self.url)} is no address of a server. Give one such as http://127.0.0.1:3000"
            )
        return self.url

    def _ask(self, name: str, timeout: float = _READ_SECONDS, /, **variables: Any) -> Any:
        request = urllib.request.Request(
            f"{self._checked_url}/graphql",
            data=json.dumps({"query": _queries(), "operationName": name, "variables": variables}).encode(),
            headers={"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:
                answer = json.load(response)
        except (OSError, ValueError, http.client.HTTPException) as error:
            answer = _answer_with(error)
            if answer is None:
                reason = getattr(error, "reason", None) or error
                raise ServerUnreachable(
                    f"No Dagster server answers at {self.url} ({reason}). To start one: {start_ui()}"
                ) from error
        if not isinstance(answer, dict) or answer.get("errors") or "data" not in answer:
            raise TranslationsError(f"{self.url} answers with an error: {_messages(answer)}")
        return answer["data"]


@cache
def _queries() -> str:
    return Path(__file__).with_suffix(".graphql").read_text(encoding="utf-8")


def _answer_with(error: Exception) -> Any:
    """The answer that comes with an error: GraphQL's own errors have status 400. None for any other error."""
    try:
        return json.load(error) if isinstance(error, urllib.error.HTTPError) else None
    except ValueError:
        return None


def _messages(answer: Any) -> str:
    try:
        return "; ".join(str(error["message"]) for error in answer["errors"])
    except (KeyError, TypeError):
        return str(answer)[:200]
