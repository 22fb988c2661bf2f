"""Differences between two given results of each step: the first causes, and the steps that only follow."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import yaml

from translations_assets.common.errors import CodeError, StoreError
from translations_assets.graph.graph import Graph
from translations_assets.graph.step import GivenFile, LocalFile, Output
from translations_assets.keys.code.compare import code_changes
from translations_assets.keys.code.fingerprint import CodeBase
from translations_assets.records.bundle import unpack
from translations_assets.records.manifest import Blob, KeyParts, Manifest
from translations_assets.running.protocols import Reading
from translations_assets.why.differences import (
    Change,
    ConfigChanges,
    InputChange,
    KeyPath,
    Rebuild,
    changes,
    input_changes,
    setting_lines,
    settings,
    version_lines,
)
from translations_assets.why.explain import OTHER_FORM

Kind: TypeAlias = Literal["data", "code", "option", "library", "repetition"]
KINDS: Sequence[Kind] = ("data", "code", "option", "library", "repetition")
DATASETS = "datasets"  # the section of a training config that chooses data
_PARSED = (".yml", ".yaml", ".json")


@dataclass(frozen=True)
class MadeSteps:
    """Steps with their results: those of a run, or of a partition at some time.

    results  label → the result's manifest, in the order of the graph
    config   the training config with its defaults; None where it is not known
    graph    its graph by today's code; None where that makes none of it
    """

    results: Mapping[str, Manifest]
    config: Mapping[str, Any] | None
    graph: Graph | None

    @cached_property
    def makers(self) -> dict[str, str]:
        """The digest of an output → the label of the step that made it."""
        return {blob.digest: label for label, made in self.results.items() for blob in made.outputs.values()}

    def handle(self, label: str, path: str) -> Output | GivenFile | None:
        """The input of a step that stands at a path, as the graph has it."""
        step = self.graph.by_label.get(label) if self.graph else None
        return step.files().get(path) if step else None

    def has_step(self, label: str) -> bool:
        """True if the training config has a step of this label, made or not."""
        return self.graph is not None and label in self.graph.by_label


class Reason(NamedTuple):
    """A reason why two results of a step differ, of its own: no other step's result is one."""

    kind: Kind
    text: str


@dataclass(frozen=True)
class Cause:
    """A reason, the steps that have it, and how many of them have the same outputs all the same."""

    kind: Kind
    text: str
    steps: Sequence[str]
    same_outputs: int


@dataclass(frozen=True)
class StepDifferences:
    """Labels of steps that differ, and the first causes.

    causes     by kind, in the order of the graph
    differing  steps with one or more causes of their own
    following  steps that differ only in inputs which other steps made
    added      steps that only the new config has; removed: only the old one
    only_new   results that only the new side has, of steps that both configs have; only_old likewise
    """

    causes: Sequence[Cause]
    differing: Sequence[str]
    following: Sequence[str]
    added: Sequence[str]
    removed: Sequence[str]
    only_new: Sequence[str]
    only_old: Sequence[str]
    compared: int


def compare_steps(store: Reading, old: MadeSteps, new: MadeSteps, rebuild: Rebuild) -> StepDifferences:
    """Compare the results of steps that have one label on both sides.

    `rebuild` makes the graph of another training config.
    """
    comparing = _Comparing(store, old, new, rebuild)
    found: dict[Reason, list[str]] = {}
    differing, following = list[str](), list[str]()
    both = [label for label in new.results if label in old.results]
    for label in both:
        reasons = comparing.reasons(label)
        if reasons is None:
            continue
        (differing if reasons else following).append(label)
        for reason in dict.fromkeys(reasons):
            found.setdefault(reason, []).append(label)
    causes = [
        Cause(*reason, labels, sum(_same_outputs(old.results[one], new.results[one]) for one in labels))
        for reason, labels in sorted(found.items(), key=lambda item: KINDS.index(item[0].kind))
    ]
    only_new = [label for label in new.results if label not in old.results]
    only_old = [label for label in old.results if label not in new.results]
    return StepDifferences(
        causes=causes,
        differing=differing,
        following=following,
        added=[label for label in only_new if not old.has_step(label)],
        removed=[label for label in only_old if not new.has_step(label)],
        only_new=[label for label in only_new if old.has_step(label)],
        only_old=[label for label in only_old if new.has_step(label)],
        compared=len(both),
    )


def _same_outputs(old: Manifest, new: Manifest) -> bool:
    return dict(old.outputs) == dict(new.outputs)


class _Comparing:
    """Compares results of steps one by one; remembers what it read."""

    def __init__(self, store: Reading, old: MadeSteps, new: MadeSteps, rebuild: Rebuild) -> None:
        self._store, self._old, self._new = store, old, new
        known = old.config is not None and new.config is not None
        self._config = ConfigChanges(old.config or {}, new.config or {}, rebuild) if known else None
        self._code: dict[tuple[str, str, str], list[str]] = {}

    def reasons(self, label: str) -> list[Reason] | None:
        """The step's own reasons; none where it follows others only. None for one result, or equal ones."""
        old, new = self._old.results[label], self._new.results[label]
        if old.key != new.key:
            return [*self._of_keys(label, old, new)]
        if old.generation == new.generation or _same_outputs(old, new):
            return None
        again = f"made again with the same key: generation {old.generation} → {new.generation}"
        return [Reason("repetition", again)]

    def _of_keys(self, label: str, old: Manifest, new: Manifest) -> Iterator[Reason]:
        before, after = old.provenance.parts, new.provenance.parts
        if not before.code or not after.code:
            yield Reason("code", OTHER_FORM)
            return
        keys, explained = self._responsible(label, settings(before), settings(after))
        own = [*self._of_settings(keys, before, after, explained)]
        if before.code != after.code and before.script == after.script:
            own += [Reason("code", line) for line in self._code_changes(old, new)]
        own += [Reason("library", line) for line in version_lines(before, after)]
        follows = False
        for change in input_changes(before.inputs, after.inputs):
            if change.is_change and self._maker(label, change):
                follows = True
            elif change.is_change or not (keys and _is_explained(change, explained)):
                own += self._of_file(label, change, old, new)
        yield from own
        if not own and not follows:
            yield Reason("code", OTHER_FORM)

    def _of_settings(
        self, keys: Sequence[Change], before: KeyParts, after: KeyParts, explained: Collection[KeyPath]
    ) -> Iterator[Reason]:
        for change in keys:
            kind: Kind = "data" if change.path[0] == DATASETS else "option"
            yield from (Reason(kind, line) for line in change.lines())
        for line in setting_lines(settings(before), settings(after), explained):
            yield Reason("option" if line.startswith("argument ") else "code", line)
        for variable in changes(before.env, after.env, ("environment",)):
            yield from (Reason("option", line) for line in variable.lines())

    def _responsible(
        self, label: str, before: Mapping[KeyPath, Any], after: Mapping[KeyPath, Any]
    ) -> tuple[list[Change], set[KeyPath]]:
        return self._config.responsible(label, before, after) if self._config else ([], set())

    def _maker(self, label: str, change: InputChange) -> str | None:
        """The label of the step that made an input; None for a file that no step makes."""
        known = self._new.makers.get(change.new) or self._old.makers.get(change.old)
        handle = self._handle(label, change.path)
        return known or (handle.step.label if isinstance(handle, Output) else None)

    def _handle(self, label: str, path: str) -> Output | GivenFile | None:
        return self._new.handle(label, path) or self._old.handle(label, path)

    def _of_file(self, label: str, change: InputChange, old: Manifest, new: Manifest) -> Iterator[Reason]:
        """Say how a file differs that no step makes, or that there is more or less of."""
        handle, maker = self._handle(label, change.path), self._maker(label, change)
        name = change.path if handle is None or isinstance(handle, Output) else handle.path
        if change.is_change:
            blobs = [made.provenance.files.get(change.path) for made in (old, new)]
            lines = _parsed_changes(self._store, change.path, *blobs)
            kind: Kind = "option" if change.path.endswith(_PARSED) else "data"
            if isinstance(handle, LocalFile):
                kind = "data"
            yield from (Reason(kind, f"{name}: {line}") for line in lines or ["other contents"])
        elif change.old or change.new:
            by = f", made by {maker}" if maker else ""
            yield Reason("data", f"input {name} {'added' if change.new else 'removed'}{by}")
        else:
            yield Reason("data", f"input {change.path}: the same files in another order")

    def _code_changes(self, old: Manifest, new: Manifest) -> list[str]:
        """The functions, classes and constants that differ between two results' code."""
        script = new.provenance.parts.script
        which = script, old.bundle.digest, new.bundle.digest
        if which not in self._code:
            lines = self._compare_code(script, old.bundle, new.bundle)
            self._code[which] = lines or [f"{script}: code changed"]
        return self._code[which]

    def _compare_code(self, script: str, old: Blob, new: Blob) -> list[str]:
        """Nothing where code was collected as garbage, or cannot be read."""
        try:
            with tempfile.TemporaryDirectory() as folder:
                bases = []
                for name, bundle in (("old", old), ("new", new)):
                    unpack(self._store.read_blob(bundle), Path(folder) / name)
                    bases.append(CodeBase(Path(folder) / name))
                return code_changes(bases[0], bases[1], script)
        except (StoreError, CodeError, OSError, ValueError):
            return []


def _is_explained(change: InputChange, explained: Collection[KeyPath]) -> bool:
    """True if keys of the config say why there is more or less of an input, or another order of it."""
    option = change.path.partition("/")[0]
    is_order = not change.old and not change.new
    return is_order or any(path[0] == "input" and path[1].partition("/")[0] == option for path in explained)


def _parsed_changes(store: Reading, path: str, old: Blob | None, new: Blob | None) -> list[str]:
    """The values that differ in a YAML or JSON file; nothing for other files, and where one is gone."""
    if not path.endswith(_PARSED) or old is None or new is None:
        return []
    try:
        values = [yaml.safe_load(store.read_blob(blob)) for blob in (old, new)]
    except (StoreError, yaml.YAMLError):
        return []
    return [line for change in changes(*values) for line in change.lines()]
