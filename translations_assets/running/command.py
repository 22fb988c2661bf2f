"""The command line of a step, and the job made of a step whose inputs are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from translations_assets.graph.step import Arg, Output, RepoFile, Step, placed, roots
from translations_assets.records.manifest import Blob
from translations_assets.running.job import Job

if TYPE_CHECKING:
    from translations_assets.keys.key import KeyParts

INPUT_FOLDER = "in"
OUTPUT_FOLDER = "out"


def command(step: Step) -> tuple[str, ...]:
    """The script's options, paths relative to the work folder: `--text in/text/mono.zst … --output out`."""
    options: list[str] = []
    for name, value in step.args.items():
        options += _option(name, value)
    for name, handles in step.inputs.items():
        options += [_flag(name), *(f"{INPUT_FOLDER}/{name}/{root}" for root in roots(handles))]
    return (*options, "--output", OUTPUT_FOLDER)


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _option(name: str, value: Arg) -> list[str]:
    if value is None or value is False:
        return []
    if value is True:
        return [_flag(name)]
    if isinstance(value, (str, int, float)):
        # `--option=value`, so that a value that begins with a hyphen is not taken for an option
        return [f"{_flag(name)}={value}"]
    return [_flag(name), *value]


def make_job(
    step: Step,
    parts: KeyParts,
    contents: Mapping[Output | RepoFile, Blob],
    *,
    bundle: Blob,
    generation: int,
    attempt: int,
    reason: str,
    machine: str,
    provenance: Mapping[str, Any],
) -> Job:
    """One attempt of a step, given the contents of its inputs and repository files."""
    inputs = {
        f"{name}/{path}": contents[handle]
        for name, handles in step.inputs.items()
        for path, handle in placed(handles)
    }
    files = {path: vars(blob) for path, blob in inputs.items()}
    return Job(
        key=parts.digest,
        generation=generation,
        attempt=attempt,
        label=step.label,
        reason=reason,
        script=step.script,
        command=command(step),
        inputs=inputs,
        outputs=step.outputs,
        bundle=bundle,
        worker=step.worker,
        resumable=step.resumable,
        stage=step.stage,
        machine=machine,
        secrets=step.secrets,
        programs={name: parts.libraries[name] for name in step.programs},
        env=step.env,
        provenance={
            **parts.to_dict(),
            "stage": step.stage,
            "repeatable": step.repeatable,
            "files": files,
            **provenance,
        },
    )
