"""Runs of `translations train` in processes of their own: of several configs, or in the background."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from uuid import uuid4

import typer

from translations_assets.cli import common, exits
from translations_assets.cli.output import print_json, tell
from translations_assets.cli.plan import plan_many, print_plans
from translations_assets.cli.runs_end import ended_as_json
from translations_assets.common.errors import RunCancelled, StoreUnreachable, TranslationsError
from translations_assets.common.settings import server_url, state_folder
from translations_assets.common.whole_file import keep_newest
from translations_assets.configs.sweeps import is_sweep
from translations_assets.project import this_project
from translations_assets.records.commands import TrainRequest
from translations_assets.records.cost import duration
from translations_assets.running.session import Session

OUTPUTS = "background"  # the folder of what runs in processes of their own print
KEPT = 100  # of these files
PATTERN = "*?["
BEGIN_SECONDS = 120.0  # until a run in the background is there
_POLL_SECONDS = 0.2


@dataclass
class _Run:
    """A run that has a process of its own; `output` is the file of what that prints."""

    partition: str
    id: str
    output: Path
    process: subprocess.Popen[bytes]
    began: float


def named(words: Sequence[str]) -> list[str]:
    """The training configs that some words name: keys, paths, patterns as a shell's (`en-*`), sweeps.

    Raises TranslationsError for a pattern that no name fits.
    """
    names: list[str] = []
    for word in words:
        is_pattern = any(character in word for character in PATTERN) and not Path(word).exists()
        if is_sweep(word):
            names += this_project().configs.sweep(word).partitions
        else:
            names += _fitting(word) if is_pattern else [word]
    return [*dict.fromkeys(names)]


def as_sweep(words: Sequence[str], request: TrainRequest) -> TrainRequest:
    """The request for a sweep, if one is named alone: up to its target, with one budget for all its runs."""
    if len(words) != 1 or not is_sweep(words[0]):
        return request
    target = request.target or this_project().configs.sweep(words[0]).sweep.file.target
    options = replace(request.options, sweep=request.options.sweep or f"{words[0]}-{uuid4().hex[:8]}")
    return request._replace(target=target, options=options)


def _fitting(pattern: str) -> list[str]:
    found = this_project().configs.partitions()
    if found.away:
        raise StoreUnreachable(found.away)
    if names := [name for name in found.states if fnmatchcase(name, pattern)]:
        return names
    raise TranslationsError(
        f"No training config matches {pattern!r}. There are: {', '.join(found.states) or 'none'}."
    )


def run_detached(session: Session, request: TrainRequest, *, json: bool) -> None:
    """Start a planned run in the background, and return once it has begun.

    Raises TranslationsError when it ends before.
    """
    from translations_assets.instance.server import Server

    run = _start(session.partition, request, session.run, detached=True)
    deadline = time.monotonic() + BEGIN_SECONDS
    while session.store.read_run(run.id) is None and time.monotonic() < deadline:
        if run.process.poll() not in (None, exits.DONE):
            raise TranslationsError(f"The run has not begun: {_last_words(run.output)}")
        time.sleep(_POLL_SECONDS)
    if json:
        page = Server(server_url()).run_url(run.id)
        print_json(ended_as_json(session.partition, run.id, "running", page))
    _tell_detached(f"Run {run.id[:8]}", run)
    tell(f"To watch it: translations status {run.id[:8]} --watch", err=False)
    tell(f"To cancel it: translations cancel {run.id[:8]}", err=False)


def train_several(
    names: Sequence[str], request: TrainRequest, at_once: int, *, yes: bool, detach: bool, json: bool
) -> None:
    """Plan several training configs, ask once, and run each, so many at a time.

    Raises TranslationsError, once all have ended, when some have failed; RunCancelled after Ctrl-C.
    """
    common.note_new_store()
    plans = plan_many(names, request.target, request.options)
    if plans.errors:
        raise TranslationsError("\n".join(plans.errors))
    if not yes:
        print_plans(plans)
    if not plans.to_run:
        tell("Everything is made already: nothing to run.", err=False)
    elif not yes and not typer.confirm(f"Start {len(plans.to_run)} runs, {at_once} at a time?", default=True):
        raise typer.Exit(exits.FAILED)
    elif detach:
        several = [*plans.to_run[1:], "--at-once", str(at_once)]
        run = _start(plans.to_run[0], request, "", detached=True, more=several)
        _tell_detached(f"{len(plans.to_run)} runs", run)
        tell("To list them: translations status", err=False)
    ended = [] if detach else _run_all(deque(plans.to_run), request, at_once)
    if json:
        print_json([ended_as_json(run.partition, run.id, _state(run)) for run in ended])
    codes = [run.process.returncode for run in ended]
    if exits.CANCELLED in codes:
        raise RunCancelled("What is finished is kept. To go on: the same command")
    if failed := [run.partition for run in ended if run.process.returncode]:
        raise TranslationsError(f"{len(failed)} of {len(ended)} runs failed: {', '.join(failed)}")


def _run_all(waiting: deque[str], request: TrainRequest, at_once: int) -> list[_Run]:
    """Run training configs, and report the end of each; none after Ctrl-C, which their processes get as
    well."""
    running, ended = list[_Run](), list[_Run]()
    number = len(waiting)
    while waiting or running:
        try:
            while waiting and len(running) < at_once:
                running.append(_start(waiting.popleft(), request, str(uuid4())))
                tell(f"{running[-1].partition}: started; its output: {running[-1].output}", err=False)
            time.sleep(_POLL_SECONDS)
        except KeyboardInterrupt:
            waiting.clear()
        for run in [run for run in running if run.process.poll() is not None]:
            running.remove(run)
            ended.append(run)
            _tell_ended(run, f"[{len(ended)}/{number}]")
            if request.options.sweep and _state(run) == "cancelled":  # it was one run of many
                waiting.clear()
                _cancel(running)
    return ended


def _cancel(running: Sequence[_Run]) -> None:
    """Ask the other runs of a sweep to end; their processes tell what became of them."""
    for run in running:
        if run.process.poll() is None:
            run.process.send_signal(signal.SIGINT)


def _start(
    partition: str, request: TrainRequest, run: str, *, detached: bool = False, more: Sequence[str] = ()
) -> _Run:
    """Start a process for a run; a detached one outlives its terminal."""
    folder = state_folder() / OUTPUTS
    folder.mkdir(parents=True, exist_ok=True)
    keep_newest(folder, KEPT)
    output = folder / f"{time.strftime('%Y-%m-%d-%H%M%S')}-{partition.replace('/', '_')[-80:]}-{run[:8]}.log"
    own = ["--run-id", run] if run and request.server is None else []
    words = [partition, *more, *request.words("--yes"), *own]
    with output.open("ab") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "translations_assets.cli.main", "train", *words],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=detached,
        )
    return _Run(partition, run, output, process, time.monotonic())


def _tell_detached(what: str, run: _Run) -> None:
    tell(f"{what} in the background (process {run.process.pid}); the output: {run.output}", err=False)


def _tell_ended(run: _Run, counted: str) -> None:
    state = _state(run)
    tell(f"{counted} {run.partition}: {state} after {duration(time.monotonic() - run.began)}", err=False)
    if state == "failed":
        typer.echo(f"{run.partition}: {_last_words(run.output)}", err=True)


def _last_words(output: Path) -> str:
    """Return a process's last words: the error, else its last line, and the path of the rest."""
    lines = output.read_text(encoding="utf-8", errors="replace").splitlines()
    begin = next((n for n in reversed(range(len(lines))) if lines[n].startswith("error: ")), len(lines) - 1)
    said = "\n".join(lines[max(begin, 0) :]).removeprefix("error: ") or "it said nothing"
    return f"{said}\nThe whole output: {output}"


def _state(run: _Run) -> str:
    """The end of a run, as far as its process tells."""
    return {exits.DONE: "done", exits.CANCELLED: "cancelled"}.get(run.process.returncode, "failed")
