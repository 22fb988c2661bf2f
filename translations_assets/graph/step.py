"""A step: one run of one script of `pipeline/`, with fixed arguments, named inputs and named outputs.

Steps are values: building them runs nothing and needs neither a store nor Dagster. What a step will produce
is handed on as an `Output` (one file) or a `Folder` (several files under one roof, such as a model with its
vocabularies), and becomes an input of the next step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal, TypeAlias

Arg: TypeAlias = "str | int | float | bool | Sequence[str] | None"
WorkerClass = Literal["cpu", "large-cpu", "gpu", "large-gpu"]


@dataclass(frozen=True)
class RepoFile:
    """A file of the repository that a script reads (a Marian YAML, a filter list), relative to its root."""

    path: str

    @property
    def name(self) -> str:
        """The file's name, under which the script finds it."""
        return PurePosixPath(self.path).name


@dataclass(frozen=True)
class LocalFile:
    """A file of this machine, with its absolute path; by its contents, never its path, part of a key.

    It is put into the store when a step is to read it, so that the step runs anywhere.
    """

    path: str
    name: str = "text"  # under which the script finds it; a file's own would be part of the key


@dataclass(frozen=True)
class Output:
    """Handle to one file that a step will produce."""

    step: Step
    name: str


@dataclass(frozen=True)
class Folder:
    """Handle to several files that a script finds in one folder, by name."""

    files: Mapping[str, Output]

    def __hash__(self) -> int:
        return hash(tuple(self.files.items()))


GivenFile: TypeAlias = "RepoFile | LocalFile"  # files that no step makes
Handle: TypeAlias = "Output | Folder | GivenFile"
Input: TypeAlias = "Handle | Sequence[Handle]"
_SINGLE = (Output, Folder, RepoFile, LocalFile)  # what is a handle, and not several


@dataclass(frozen=True, eq=False)
class Step:
    """One script invocation; two steps are the same step when they are the same object.

    script      module to run, `pipeline.translate.split`
    label       name for people, unique in a graph; not part of the key
    args        option → value; True is a flag, False and None leave the option out, a list gives several
    inputs      option → handle, or several; placed read-only for the script
    outputs     names of the files that the script must leave in its output folder, none of them empty
    worker      what the step needs; the deployment maps it to a machine; not part of the key
    resumable   the script saves checkpoint sets and goes on from them
    repeatable  the same inputs give the same bytes (training does not)
    attempts    how often the engine tries when the machine, not the script, failed
    secrets     names of environment variables that the script is given when the worker has them; their values
                are never part of the key, nor of a log, manifest or command line
    aliases     what people call datasets that the arguments and the script's numbers know by their keys; not
                part of the key
    programs    programs of the system that the script runs (`perl`); their versions are part of the key
    """

    script: str
    label: str
    stage: str
    args: Mapping[str, Arg]
    inputs: Mapping[str, Input]
    outputs: tuple[str, ...]
    worker: WorkerClass = "cpu"
    resumable: bool = False
    repeatable: bool = True
    attempts: int = 3
    secrets: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Output:
        """The handle to one of the step's outputs; KeyError when the step does not declare it."""
        if name not in self.outputs:
            raise KeyError(f"{self.label} has no output {name!r}; it has {', '.join(self.outputs)}")
        return Output(self, name)

    def folder(self, *names: str) -> Folder:
        """A folder of some of the step's outputs (of all, when no names are given)."""
        return Folder({name: self[name] for name in names or self.outputs})

    def upstream(self) -> Iterator[Step]:
        """The steps whose outputs this one reads, each once, in the order of the inputs."""
        seen = dict.fromkeys(output.step for _, _, output in self.input_outputs())
        return iter(seen)

    def files(self) -> dict[str, Output | GivenFile]:
        """Path below the inputs' folder (`text/mono.zst`) → handle of every file that the step reads."""
        return {
            f"{name}/{path}": handle
            for name, handles in self.inputs.items()
            for path, handle in placed(handles)
        }

    def input_outputs(self) -> Iterator[tuple[str, str, Output]]:
        """(input name, path below the input's folder, output) of every file made by another step."""
        for name, handles in self.inputs.items():
            for path, handle in placed(handles):
                if isinstance(handle, Output):
                    yield name, path, handle

    def __repr__(self) -> str:
        return f"<Step {self.label}>"


def placed(handles: Input) -> Iterator[tuple[str, Output | GivenFile]]:
    """Yield the location of each file below the input's own folder, in the order of the command line.

    A single file stands under its name; a folder's files in a folder `0`; of several handles the n-th in
    folder `n` (so that two files with one name do not clash).

    >>> text = graph.step("write-a")["text.txt"]
    >>> [path for path, _ in placed(text)], [path for path, _ in placed([text, text])]
    (['text.txt'], ['0/text.txt', '1/text.txt'])
    """
    several = not isinstance(handles, _SINGLE)
    for number, handle in enumerate(as_list(handles)):
        if isinstance(handle, Folder):
            for name, output in handle.files.items():
                yield f"{number}/{name}", output
        else:
            yield (f"{number}/{handle.name}" if several else handle.name), handle


def roots(handles: Input) -> list[str]:
    """List the names for an input on the command line: one path below its folder for each handle."""
    several = not isinstance(handles, _SINGLE)
    return [
        str(number) if isinstance(handle, Folder) else f"{number}/{handle.name}" if several else handle.name
        for number, handle in enumerate(as_list(handles))
    ]


def as_list(handles: Input) -> list[Handle]:
    """The handles of an input that may be a single one."""
    return [handles] if isinstance(handles, _SINGLE) else list(handles)
