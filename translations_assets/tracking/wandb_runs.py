"""Runs in Weights & Biases, https://docs.wandb.ai, sent after the fact; or as files that `wandb sync` sends.

A run's id follows from what it tells, unless its live numbers were sent before (`live.py`). What was sent
from this installation is not sent again; what another one sends again, the server knows by its id, and takes
only steps that it lacks.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple

from requests.utils import get_netrc_auth

from translations_assets.common.errors import TranslationsError
from translations_assets.common.extras import how_to_install
from translations_assets.records.canonical import json_digest
from translations_assets.report.facts import Report
from translations_assets.tracking.live_notes import live_identity
from translations_assets.tracking.tracked import TrackedRun, tracked_runs

Mode = Literal["online", "offline"]
SECONDS = 60  # to reach the server; and for what is still to be sent at a run's end
SENT = "sent"  # the file in a run's folder that is made last; holds the page's address, if there is one


class Published(NamedTuple):
    """Names of the runs that were sent now, those sent before, and the pages of all that have one.

    digest  stands for what was sent
    """

    sent: Sequence[str]
    known: Sequence[str]
    pages: Mapping[str, str]
    digest: str


def asked_mode(*, offline: bool = False) -> Mode | None:
    """Choose how to publish runs: offline on request, else by wandb's settings; None if those disable it.

    Raises TranslationsError when the library is missing, or the key that a server needs.
    """
    if find_spec("wandb") is None:
        raise TranslationsError(f"The library wandb is not installed. {how_to_install('tracking')}")
    settings = library().setup().settings
    if offline or settings.mode == "offline":
        return "offline"
    if settings.mode == "disabled":
        return None
    if not (settings.api_key or get_netrc_auth(settings.base_url)):
        raise TranslationsError(
            "No key of Weights & Biases was found, and nothing was sent. Set WANDB_API_KEY, or type "
            "`wandb login`. With WANDB_MODE=offline files are written, which `wandb sync` sends later."
        )
    return "online"


def publish(report: Report, folder: Path, mode: Mode) -> Published:
    """Publish what is tracked of a partition: its project is the language pair, its group the experiment.

    Files are kept in `folder`, those of each run apart. Raises TranslationsError when the server cannot be
    reached; what was begun is sent again by the next call.
    """
    sent, known, pages = [], [], {}
    pair, runs = report.session.config.pair, tracked_runs(report)
    for run in runs:
        place = folder / mode / pair / run.identity
        if (place / SENT).exists():
            known.append(run.name)
        else:
            _send(run, place, mode, pair, report.session.partition)
            sent.append(run.name)
        if page := (place / SENT).read_text(encoding="utf-8"):
            pages[run.name] = page
    return Published(sent, known, pages, json_digest([run.identity for run in runs]))


def open_run(
    name: str, identity: str, config: Mapping[str, Any], place: Path, mode: Mode, project: str, group: str
) -> Any:
    """Open a run of wandb's own, or go on with one that the server has under the same id.

    place  the folder of its files. Raises wandb.Error, OSError
    """
    place.mkdir(parents=True, exist_ok=True)
    return library().init(
        project=project,
        group=group,
        name=name,
        id=identity,
        config=dict(config),
        dir=place,
        mode=mode,
        resume="allow" if mode == "online" else None,
        reinit="create_new",
        settings=_settings(),
    )


def _send(run: TrackedRun, place: Path, mode: Mode, project: str, group: str) -> None:
    wandb = library()
    shutil.rmtree(place, ignore_errors=True)  # what an earlier call has begun
    identity = live_identity(place.parent, run) or run.identity
    try:
        with open_run(run.name, identity, run.config, place, mode, project, group) as opened:
            first = opened.starting_step  # after those that the server has
            for update, numbers in run.curve:
                if update >= first:
                    opened.log(dict(numbers), step=update)
            opened.summary.update(dict(run.numbers))
            page = opened.url if mode == "online" else ""
    except (wandb.Error, OSError) as error:
        raise TranslationsError(
            f"Weights & Biases did not take {run.name}; nothing else is concerned. "
            f"{' '.join(str(error).split())}"
        ) from error
    finally:
        wandb.teardown()  # a run's end does not wait until its file is whole
    (place / SENT).write_text(page, encoding="utf-8")


def _settings() -> Any:
    """Only what is given is sent: nothing of this process, this machine, or the folder that it works in."""
    return library().Settings(
        console="off",
        silent=True,
        disable_git=True,
        disable_code=True,
        x_disable_meta=True,
        x_disable_stats=True,
        x_disable_machine_info=True,
        x_save_requirements=False,
        init_timeout=SECONDS,
        finish_timeout=SECONDS,
        finish_timeout_raises=True,
    )


def library() -> ModuleType:
    """The library, which reports no errors of its own to its makers unless somebody wishes that."""
    os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
    import wandb

    return wandb
