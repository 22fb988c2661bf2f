"""A job: a step whose inputs are known, with its command line, ready to be run by a worker anywhere; and how
its attempt ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from translations_assets.graph.step import Arg, Step, WorkerClass, roots
from translations_assets.records.checked import Record
from translations_assets.records.manifest import Blob, KeyParts, Manifest, Provenance


@dataclass(frozen=True)
class Job(Record):
    """One attempt of a step. The worker needs this, the store and an environment with the libraries; no code.

    command  options of the script; paths are relative to the work folder: inputs below `in/`, output `out`
    inputs   path below `in/` → contents
    outputs  names of files that must stand in `out` afterwards, not empty
    bundle   tar of the reached source code, unpacked to `code/`, the script's only import path besides the
             environment's libraries
    secrets  names of variables that the worker passes on from its own environment
    programs program of the system that the script runs → the version that the key stands for
    machine  kind of machine that the training config asks for, `spot` or `standard`; empty: the deployment's
    """

    key: str
    generation: int
    attempt: int
    label: str
    script: str
    command: tuple[str, ...]
    inputs: Mapping[str, Blob]
    outputs: tuple[str, ...]
    bundle: Blob
    worker: WorkerClass
    resumable: bool = False
    stage: str = ""
    machine: str = ""
    secrets: tuple[str, ...] = ()
    programs: Mapping[str, str] = field(default_factory=dict)
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def step(self) -> tuple[str, int]:
        """The result to make, key and generation: the same for every attempt."""
        return self.key, self.generation


@dataclass(frozen=True)
class Outcome(Record):
    """The end of an attempt.

    done       the manifest that counts (perhaps another worker's)
    failed     the script's own fault: bad input, a bug; another attempt would fail as well
    temporary  the machine, the network, the store: worth another attempt (exit 75, killed, out of memory …)
    cancelled  ended because it was asked for

    unreachable: temporary, and it was the store that could not be reached, not the step's own machine
    uncounted: temporary, and none of the step's attempts: a queue took its place back, as it may do often
    """

    kind: Literal["done", "failed", "temporary", "cancelled"]
    manifest: Manifest | None = None
    message: str = ""
    log_tail: str = ""
    unreachable: bool = False
    uncounted: bool = False


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
    inputs: Mapping[str, Blob],
    *,
    bundle: Blob,
    generation: int,
    attempt: int,
    machine: str,
    provenance: Provenance,
) -> Job:
    """One attempt of a step, given the contents of the files that it reads; `provenance` is the run's."""
    return Job(
        key=parts.digest,
        generation=generation,
        attempt=attempt,
        label=step.label,
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
        provenance=replace(
            provenance, parts=parts, stage=step.stage, repeatable=step.repeatable, files=inputs
        ),
    )
