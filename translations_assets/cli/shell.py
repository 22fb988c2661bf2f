"""`translations shell`: a step's work folder, for a person."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import typer

from translations_assets.cli import common
from translations_assets.cli.common import Label, Partition, Set
from translations_assets.common.errors import TranslationsError
from translations_assets.common.settings import file_folders, state_folder
from translations_assets.graph.step import GivenFile, Output, RepoFile, Step
from translations_assets.project import this_project
from translations_assets.records.manifest import Blob, Provenance
from translations_assets.runners.environment import script_environment
from translations_assets.runners.machine import cpu_count, find_gpus, script_memory, workspace
from translations_assets.runners.wire import Request
from translations_assets.runners.work_folder import WorkFolder, unpack
from translations_assets.running.job import Job, make_job
from translations_assets.running.session import Session
from translations_assets.store.contents import digest_file

SCRIPT = "run.sh"


@common.reads
def shell(
    partition: Partition,
    label: Label,
    execute: Annotated[
        str | None, typer.Option("--command", metavar="CMD", help="Run this instead of a shell.")
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the folder afterwards.")] = False,
    overrides: Set = None,
) -> None:
    """Open a shell in a step's work folder, with its code, copies of its inputs, and its command."""
    session = common.reading_session(partition, overrides)
    step = common.find_step(session.graph, partition, label)
    common.results_of(session, [*step.upstream()])
    with _folder(label, keep) as folder:
        job, own = _job(session, step)
        _place(session, job, own, folder)
        environment = _environment(job, folder)
        script = _script(job, environment)
        path = folder.path / SCRIPT
        path.write_text(script, encoding="utf-8")
        path.chmod(0o755)
        typer.echo(f"{label} in {folder.path}. To run it: ./{SCRIPT}, which is\n\n{script}", err=True)
        del environment["HOME"]  # the person's holds the settings of the shell
        code = _run(execute, folder.path, {**os.environ, **environment})
    raise typer.Exit(code)


@contextmanager
def _folder(label: str, keep: bool) -> Iterator[WorkFolder]:
    """A work folder that no worker sweeps, in the state folder: the store's file system by default."""
    root = state_folder() / "shell"
    try:
        root.mkdir(parents=True, exist_ok=True)
        parent = Path(tempfile.mkdtemp(dir=root))
        folder = WorkFolder(parent / label.replace("/", "-"))
        folder.make()
    except OSError as error:
        raise TranslationsError(f"No work folder can be made in {root}: {error}") from error
    try:
        yield folder
    finally:
        if keep:
            typer.echo(f"The folder is kept: {folder.path}", err=True)
        else:
            shutil.rmtree(parent, ignore_errors=True)


def _job(session: Session, step: Step) -> tuple[Job, dict[Blob, bytes | Path]]:
    """The step as a job, and the contents of what the store need not have: code and given files."""
    keys, inputs = session.keys, session.results.inputs(step)
    own: dict[Blob, bytes | Path] = {}

    def blob_of(data: bytes) -> Blob:
        blob = Blob(sha256(data).hexdigest(), len(data))
        own[blob] = data
        return blob

    def contents_of(handle: Output | GivenFile) -> Blob:
        if isinstance(handle, Output):
            return inputs[handle]
        if isinstance(handle, RepoFile):
            return blob_of(keys.repo_bytes(handle))
        blob = digest_file(Path(handle.path).resolve())
        own[blob] = Path(handle.path)
        return blob

    parts = keys.parts(step, inputs)
    latest = session.store.latest(parts.digest)
    job = make_job(
        step,
        parts,
        {path: contents_of(handle) for path, handle in step.files().items()},
        bundle=blob_of(keys.bundle(step.script)),
        generation=latest.generation + 1 if latest else 1,
        attempt=1,
        machine="",
        provenance=Provenance(),
    )
    return job, own


def _place(session: Session, job: Job, own: Mapping[Blob, bytes | Path], folder: WorkFolder) -> None:
    """Place code and inputs as the worker does, but as files of the person's own."""
    bundle = folder.path / "bundle.tar"
    _write(own[job.bundle], bundle)
    unpack(bundle, folder.code, f"of {job.label}")
    bundle.unlink()
    for path, blob in job.inputs.items():
        target = folder.inputs / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if blob in own:
            _write(own[blob], target)
        else:
            common.copy_blob(session.store, blob, target)
    if job.resumable:
        session.store.place_checkpoints(job.key, job.generation, folder.checkpoints)


def _write(contents: bytes | Path, target: Path) -> None:
    if isinstance(contents, Path):
        shutil.copyfile(contents, target)
    else:
        target.write_bytes(contents)


def _environment(job: Job, folder: WorkFolder) -> dict[str, str]:
    """Make the script's environment, as a worker of this machine with all its slots would."""
    gpus = find_gpus(os.environ) if job.worker in ("gpu", "large-gpu") else []
    if job.worker == "gpu":
        gpus = gpus[:1]
    threads = 1 if job.worker == "cpu" else cpu_count()
    request = Request(
        job=job,
        store=this_project().store.url,
        work=str(folder.path.parent),
        threads=threads,
        gpus=tuple(gpu.id for gpu in gpus),
        workspace=workspace(gpus),
        memory=script_memory() * threads // cpu_count(),
        files=file_folders(),
    )
    return script_environment(request, folder, os.environ)


def _script(job: Job, environment: Mapping[str, str]) -> str:
    """A shell script that runs the step in its folder with nothing but its own environment."""
    variables = [
        f'{name}="${name}"' if name in job.secrets else f"{name}={shlex.quote(value)}"
        for name, value in environment.items()
    ]
    words = [sys.executable, "-m", job.script, *job.command]
    lines = ["exec env -i", *variables, " ".join(map(shlex.quote, words))]
    return '#!/bin/sh\ncd "$(dirname "$0")" || exit\n' + " \\\n    ".join(lines) + "\n"


def _run(execute: str | None, folder: Path, environment: Mapping[str, str]) -> int:
    """Run a command, or the person's shell; return its exit code."""
    words = ["/bin/sh", "-c", execute] if execute is not None else [os.environ.get("SHELL") or "/bin/sh"]
    before = signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C is for what runs in the shell
    try:
        code = subprocess.run(words, cwd=folder, env=environment, check=False).returncode
    except OSError as error:
        raise TranslationsError(f"{words[0]} cannot be started: {error}. Set SHELL.") from error
    finally:
        signal.signal(signal.SIGINT, before)
    return code if code >= 0 else 128 - code
