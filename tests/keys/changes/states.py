"""A copy of the repository that can be changed, and plans over a store in which everything is finished.

The graphs are those of the configs of the project and of one with every provider of data, and a step for each
script that none of them runs: so every script in `pipeline/` is planned.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from unittest.mock import patch

from tests.memory_store import MemoryStore
from tests.stages.configs import FULL
from translations_assets.common.settings import repository_root
from translations_assets.config.load import load_config, parse_config
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import build_graph
from translations_assets.graph.step import Folder, Input, LocalFile, Output, RepoFile, Step, as_list
from translations_assets.keys.code import modules
from translations_assets.keys.code.accepted import FILE
from translations_assets.keys.code.fingerprint import CodeBase
from translations_assets.keys.code.modules import Module
from translations_assets.keys.key import KeyMaker
from translations_assets.records.manifest import Manifest, Provenance
from translations_assets.running.plan import make_plan
from translations_assets.running.resolve import Status
from translations_assets.stages import STAGES

ROOT = repository_root()
LOCK = "requirements/main.lock"
CODE = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(ROOT.glob("pipeline/**/*.py"))
}


def module_name(file: str) -> str:
    """The module in a file."""
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


SCRIPTS = [module_name(file) for file, text in CODE.items() if '\nif __name__ == "__main__":' in text]


@contextmanager
def shared_parsing() -> Iterator[None]:
    """Parse each text of a file once, whatever stood there meanwhile: plans take a third of the time.

    Copies of a repository share it, too: what is known of a module's text is only its path another.
    """
    parse, parsed = modules._parse, dict[tuple[str, str], Module]()
    placed = dict[tuple[Path, str], Module]()

    def once(name: str, path: Path, is_package: bool) -> Module:
        text = path.read_text(encoding="utf-8")
        if (name, text) not in parsed:
            parsed[name, text] = parse(name, path, is_package)
        if (path, text) not in placed:
            placed[path, text] = replace(parsed[name, text], path=path)
        return placed[path, text]

    with patch.object(modules, "_parse", once):
        yield


class Repository:
    """A copy of scripts, files and lock; `steps` are planned, all finished as the copy was at first.

    No change is accepted in it yet.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        for path in [*ROOT.glob("pipeline/**/*"), *ROOT.glob("requirements/*.lock")]:
            if path.is_file() and "__pycache__" not in path.parts and path != ROOT / FILE:
                self._write(path.relative_to(ROOT).as_posix(), path.read_bytes())
        self.steps = _all_steps()
        self.code = CodeBase(root)
        self.store = MemoryStore()
        _record(self.steps, KeyMaker(root), self.store)

    def _write(self, name: str, data: bytes) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    @contextmanager
    def changed(self, files: Mapping[str, str]) -> Iterator[None]:
        """Files with other texts, for a while; new ones are removed afterwards."""
        before = {name: _bytes(self.root / name) for name in files}
        for name, text in files.items():
            self._write(name, text.encode())
        try:
            yield
        finally:
            for name, data in before.items():
                (self.root / name).unlink() if data is None else self._write(name, data)

    def plan(self, files: Mapping[str, str], steps: Iterable[Step] = ()) -> dict[str, Status]:
        """Label → status after some files were changed, of other steps if any are given."""
        with self.changed(files):
            keys = KeyMaker(self.root)
            if not any(name.endswith(".py") for name in files):
                keys.__dict__["_code"] = self.code
            plan = make_plan(steps or self.steps, keys, self.store)
        return {planned.step.label: planned.status for planned in plan.steps}

    def expected(self, concerned: Callable[[Step], bool], steps: Iterable[Step] = ()) -> dict[str, Status]:
        """Expected plan when exactly the concerned steps have other keys."""
        statuses: dict[str, Status] = {}
        for step in steps or self.steps:
            waits = any(statuses[up.label] != "cached" for up in step.upstream())
            statuses[step.label] = "maybe" if waits else "run" if concerned(step) else "cached"
        return statuses

    @cached_property
    def bundles(self) -> dict[str, Mapping[str, str]]:
        """Script → what runs: file → text."""
        return {script: self.code.bundle(script) for script in SCRIPTS}

    def running(self, file: str, statement: ast.stmt) -> set[str]:
        """The scripts in whose bundles a top-level statement stands."""
        return {s for s in SCRIPTS if _signature(statement) in self._kept.get((s, file), ())}

    @cached_property
    def _kept(self) -> dict[tuple[str, str], set[tuple[object, ...]]]:
        return {
            (script, file): {_signature(statement) for statement in ast.parse(text).body}
            for script, bundle in self.bundles.items()
            for file, text in bundle.items()
        }


def _signature(statement: ast.stmt) -> tuple[object, ...]:
    """Key of top-level statements in a bundle, which keeps the lines: one left out is a number."""
    constant = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    kind = ast.Assign if isinstance(statement, ast.AnnAssign) else type(statement)
    return kind, statement.lineno, constant


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _all_steps() -> list[Step]:
    configs = {path.stem: load_config(path) for path in sorted(ROOT.glob("configs/*.yml"))}
    configs["full"] = parse_config(FULL, "full.yml")
    steps = [step for name, config in configs.items() for step in graph_steps(config, name)]
    others = [script for script in SCRIPTS if script not in {step.script for step in steps}]
    return steps + [Step(script, script, "others", {}, {}, ("out.txt",)) for script in others]


def graph_steps(config: TrainingConfig, prefix: str) -> list[Step]:
    """The steps of a config's graph, with labels that differ from those of other graphs."""
    made: dict[Step, Step] = {}
    for step in build_graph(config, STAGES).steps:
        made[step] = replace(step, label=f"{prefix}/{step.label}", inputs=_moved(step.inputs, made))
    return list(made.values())


def _moved(inputs: Mapping[str, Input], made: Mapping[Step, Step]) -> dict[str, Input]:
    return {name: _handle(handle, made) for name, handle in inputs.items()}


def _handle(handle: Input, made: Mapping[Step, Step]) -> Input:
    if isinstance(handle, Output):
        return made[handle.step][handle.name]
    if isinstance(handle, Folder):
        return Folder({name: made[output.step][output.name] for name, output in handle.files.items()})
    if isinstance(handle, RepoFile | LocalFile):
        return handle
    return [one for each in handle for one in as_list(_handle(each, made))]


def _record(steps: Iterable[Step], keys: KeyMaker, store: MemoryStore) -> None:
    made: dict[Step, Manifest] = {}
    for step in steps:
        inputs = {output: made[output.step].outputs[output.name] for _, _, output in step.input_outputs()}
        outputs = {name: store.add_bytes(f"{step.label} {name}".encode()) for name in step.outputs}
        made[step] = store.commit(
            Manifest(
                key=keys.parts(step, inputs).digest,
                generation=1,
                outputs=outputs,
                label=step.label,
                reason="recorded",
                bundle=store.add_bytes(b""),
                provenance=Provenance(),
                attempt=1,
                host="",
                started=0.0,
                ended=0.0,
            )
        )
