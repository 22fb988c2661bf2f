"""The key of a step: a hash of what can change its result.

A key covers the reached code, the arguments, the contents of the inputs, the names of the outputs, the
versions of the libraries and of programs of the system, Python's major.minor and the step's environment
variables. Labels, worker classes, attempts and where things run are not part of it.
"""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from translations_assets.common.errors import GraphError
from translations_assets.graph.step import GivenFile, LocalFile, Output, RepoFile, Step
from translations_assets.keys.accepted_files import read_accepted
from translations_assets.keys.code.accepted import Accepted, Change
from translations_assets.keys.local_files import FileDigests
from translations_assets.keys.programs import program_version
from translations_assets.keys.remembered import Remembered
from translations_assets.records.canonical import json_digest
from translations_assets.records.manifest import Blob, KeyParts

if TYPE_CHECKING:
    from translations_assets.keys.code.fingerprint import CodeBase, Fingerprint

# What a script runs as a program of a library, instead of importing it: the function that names it, in
# whichever module, → the name to import.
PROGRAMS = {"marian_command": "pymarian"}
LOCK = "requirements/main.lock"


class ScriptCode(NamedTuple):
    """The part of a script's code in keys: its fingerprint, and distribution → version of its libraries."""

    code: str
    libraries: Mapping[str, str]


class KeyMaker:
    """Computes keys for the code, the files and the lock of one repository, as they are when first asked for.

    Safe for use by several threads.

    root      the folder that holds `pipeline/` and `requirements/`
    files     knows the files of this machine that configs name, which count as they are at each time
    memory    a folder of `Remembered`; None: every process analyses the code anew
    accepted  changes of code that count as accepted besides those in the repository's file
    """

    def __init__(
        self,
        root: Path,
        files: FileDigests | None = None,
        memory: Path | None = None,
        accepted: Sequence[Change] = (),
    ) -> None:
        self.root = root
        self._accepted = accepted
        self._files = files or FileDigests()
        self._remembered = Remembered(root, memory)
        self._known: dict[str, ScriptCode] = {}
        self._repo_files: dict[str, tuple[str, bytes]] = {}
        self._lock = threading.RLock()

    @cached_property
    def _code(self) -> CodeBase:
        # imported only where the code is taken apart: what is remembered takes a hundredth of the time
        from translations_assets.keys.code.fingerprint import CodeBase

        written = read_accepted(self.root).changes
        return CodeBase(self.root, Accepted([*written, *self._accepted]))

    def fingerprint(self, script: str) -> Fingerprint:
        """The fingerprint of the code that a script reaches."""
        with self._lock:
            return self._code.fingerprint(script)

    def bundle(self, script: str) -> bytes:
        """The code that a script reaches, as a deterministic tar."""
        with self._lock:
            return self._code.bundle_bytes(script)

    def libraries(self, script: str) -> Mapping[str, str]:
        """Distribution → version of everything that a script's reached code imports."""
        return self._find(script).libraries

    def _find(self, script: str) -> ScriptCode:
        with self._lock:
            if script not in self._known:
                found = self._remembered.once(lambda: self._analyse(script), "script", script)
                self._known[script] = ScriptCode(*found)
            return self._known[script]

    def _analyse(self, script: str) -> ScriptCode:
        fingerprint = self._code.fingerprint(script)
        names = {part.partition(":")[2] for part in fingerprint.parts}
        programs = {program for name, program in PROGRAMS.items() if name in names}
        return ScriptCode(fingerprint.digest, self._resolve(fingerprint.imports | programs))

    @cached_property
    def _resolve(self) -> Callable[[Iterable[str]], Mapping[str, str]]:
        from translations_assets.keys.code.libraries import Lock, resolve

        return partial(resolve, Lock.read(self.root / LOCK))

    def parts(self, step: Step, inputs: Mapping[Output, Blob]) -> KeyParts:
        """The parts of a step's key, given the contents of its inputs.

        Raises KeyError when the contents of an input are not given, GraphError for a missing repository file.

        >>> parts = keys.parts(graph.step("write-a"), {})
        >>> parts.args, parts.inputs, parts.libraries
        ({'word': 'one'}, {}, {'numpy': '2.2.6'})
        >>> parts.digest == keys.parts(graph.step("write-b"), {}).digest
        False
        """
        return self._parts(step, {output: blob.digest for output, blob in inputs.items()})

    def known_parts(self, step: Step, inputs: Mapping[Output, Blob]) -> KeyParts:
        """The parts as far as they are known: the digest of an input that is not there yet is ""."""
        digests = {output: "" for _, _, output in step.input_outputs()}
        return self._parts(step, digests | {output: blob.digest for output, blob in inputs.items()})

    def recipe(self, step: Step) -> str:
        """The key of the step with the names of its inputs in place of their contents.

        It changes with code, config, files and libraries, and never with the results of other steps.
        """
        names = {output: f"{output.step.label}:{output.name}" for _, _, output in step.input_outputs()}
        return self._parts(step, names).digest

    def code_changes(self, script: str, old: CodeBase) -> list[str]:
        """What changed in the code that a script reaches since another state of it, for people."""
        from translations_assets.keys.code.compare import code_changes

        with self._lock:
            return code_changes(old, self._code, script)

    def _parts(self, step: Step, contents: Mapping[Output, str]) -> KeyParts:
        return KeyParts(
            script=step.script,
            code=self._find(step.script).code,
            args=dict(step.args),
            inputs={path: self._digest(handle, contents) for path, handle in step.files().items()},
            outputs=step.outputs,
            libraries={
                **self.libraries(step.script),
                **{name: program_version(name) for name in step.programs},
            },
            python=f"{sys.version_info.major}.{sys.version_info.minor}",
        )

    def _digest(self, handle: Output | GivenFile, contents: Mapping[Output, str]) -> str:
        if isinstance(handle, LocalFile):
            return self._files.digest(handle.path)
        return self.repo_file(handle) if isinstance(handle, RepoFile) else contents[handle]

    def repo_file(self, file: RepoFile) -> str:
        """The digest of a repository file: of its parsed contents for YAML and JSON, else of its bytes."""
        return self._read(file)[0]

    def repo_bytes(self, file: RepoFile) -> bytes:
        """The contents that the digest is of, even if the file has changed since."""
        return self._read(file)[1]

    def _read(self, file: RepoFile) -> tuple[str, bytes]:
        with self._lock:
            if file.path not in self._repo_files:
                path = self.root / file.path
                data = _file_bytes(path)
                self._repo_files[file.path] = self._file_digest(path, data), data
            return self._repo_files[file.path]

    def _file_digest(self, path: Path, data: bytes) -> str:
        content = hashlib.sha256(data).hexdigest()
        if path.suffix not in {".yml", ".yaml", ".json"}:
            return content
        form = f"{path.suffix} {content}"
        digest: str = self._remembered.once(lambda: _parsed_digest(path, data) or content, "file", form)
        return digest


def _file_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise GraphError(f"A stage names the file {path}, which cannot be read: {error.strerror}.") from error


def _parsed_digest(path: Path, data: bytes) -> str:
    """The digest of what a YAML or JSON file says; empty when JSON cannot say it."""
    import yaml  # which takes a tenth of a short command's time

    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        is_json = path.suffix == ".json"
        value = json.loads(data) if is_json else yaml.load(data, Loader=loader)  # noqa: S506 - a safe one
        return json_digest(value) if _has_names_only(value) else ""
    except (yaml.YAMLError, ValueError) as error:
        raise GraphError(f"A stage names the file {path}, which is no YAML or JSON: {error}") from error
    except TypeError:  # a date, keys of several types
        return ""


def _has_names_only(value: Any) -> bool:
    """True if all keys are texts: JSON would write the key 1 as a text."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _has_names_only(inner) for key, inner in value.items())
    return not isinstance(value, list) or all(map(_has_names_only, value))
