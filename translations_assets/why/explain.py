"""Reasons for running a step: differences between its key's parts and the nearest earlier artifact.

The same reasons stand in `translations explain` and `plan`, in manifests, and in the UI. The code that made
an artifact, which the store keeps as a bundle, is compared with the code as it is now.
"""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from translations_assets.common.errors import CodeError, StoreError
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.step import GivenFile, LocalFile, Output, Step
from translations_assets.keys.code.fingerprint import CodeBase
from translations_assets.keys.key import KeyMaker
from translations_assets.records.bundle import unpack
from translations_assets.records.checked import mapping
from translations_assets.records.manifest import Blob, KeyParts, Manifest
from translations_assets.running.plan import Plan
from translations_assets.running.resolve import StepState
from translations_assets.why.differences import (
    DIGITS,
    Change,
    ConfigChanges,
    InputChange,
    KeyPath,
    Rebuild,
    changes,
    input_changes,
    setting_lines,
    settings,
    short,
    version_lines,
)
from translations_assets.why.history import History

CANDIDATES = 20  # earlier artifacts that a step is compared with
COMPARED = 4000  # of all steps together, when many are explained
OTHERS = 100  # artifacts of a stage of which one may be a training's result


def candidates(steps: int) -> int:
    """With how many earlier artifacts each of so many steps is compared."""
    return max(1, min(CANDIDATES, COMPARED // max(1, steps)))


SHORT = 5  # lines of a short explanation
NO_EARLIER = "no earlier artifact"
OTHER_FORM = "keys have another form"


@dataclass(frozen=True)
class Explanation:
    """The nearest earlier artifact of a step, None when there is none, and what differs from it."""

    earlier: Manifest | None
    differences: tuple[str, ...]

    @property
    def reasons(self) -> tuple[str, ...]:
        """The differences, the first few of many."""
        if self.earlier is None:
            return (NO_EARLIER,)
        more = len(self.differences) - SHORT
        rest = (f"and {more} more differences",) if more > 1 else self.differences[SHORT:]
        return (*self.differences[:SHORT], *rest)


class Explainer:
    """Explains steps of one training config; remembers what it read. Safe for use by several threads.

    rebuild  makes the graph of another training config
    """

    def __init__(self, config: TrainingConfig, keys: KeyMaker, history: History, rebuild: Rebuild) -> None:
        self._config, self._keys, self._history, self._rebuild = config, keys, history, rebuild
        self._code: dict[tuple[str, str], list[str]] = {}  # of a script and a bundle: what has changed since
        self._configs: dict[str, ConfigChanges | None] = {}
        self._now: dict[str, Any] | None = None
        self._files: dict[tuple[str, str], list[str]] = {}
        self._lock = threading.RLock()

    def explain(self, step: Step, parts: KeyParts, most: int = CANDIDATES) -> Explanation:
        """Compare a step's key, as far as it is known, with its nearest earlier artifact.

        That is the one with the fewest differences among the likeliest `most`; of several the newest. What
        only runs with overrides have used, experiments, counts where there is nothing else.
        """
        found = self._history.earlier(step, parts.digest, most)
        if not found:
            return Explanation(None, ())
        published = self._history.published(step)
        usual = [
            other
            for other in found
            if not other.provenance.options.overrides or (other.key, other.generation) in published
        ]
        nearest = min(
            usual or found, key=lambda other: (_distance(other.provenance.parts, parts), -other.ended)
        )
        return self.compare(step, parts, nearest)

    def compare(self, step: Step, parts: KeyParts, earlier: Manifest) -> Explanation:
        """Compare a step's key, as far as it is known, with an artifact."""
        if not earlier.provenance.parts.code:
            return Explanation(earlier, (OTHER_FORM,))
        with self._lock:
            return Explanation(earlier, tuple(self._lines(step, earlier, parts)))

    def explain_plan(self, plan: Plan) -> Plan:
        """The plan with the reasons of the steps that run because nothing has their key."""
        made = plan.results()
        new = [planned for planned in plan.steps if planned.status == "run" and not planned.manifest]
        known = {
            one.step: known_parts(self._keys, one.step, made)
            for one in new
            if one.key or not one.step.repeatable
        }
        most = candidates(len(known))
        return plan.with_reasons(
            {
                step: reasons
                for step, parts in known.items()
                if (reasons := self.explain(step, parts, most).reasons)
            }
        )

    def _lines(self, step: Step, earlier: Manifest, new: KeyParts) -> Iterator[str]:
        old = earlier.provenance.parts
        before, after = settings(old), settings(new)
        keys, explained = self._responsible(earlier, before, after)
        lines = [line for change in keys for line in change.lines()]
        lines += setting_lines(before, after, explained)
        if old.code != new.code and old.script == new.script:
            lines += self._code_changes(step.script, earlier)
        options = {_option(path[1]) for path in explained if path[0] == "input"}  # whose files are others
        inputs = input_changes(old.inputs, new.inputs)
        seen = [change for change in inputs if change.is_change or _option(change.path) not in options]
        files = step.files()
        lines += (line for change in seen for line in self._file_lines(change, files, earlier))
        lines += version_lines(old, new)
        lines += _input_lines(seen, files)
        if not lines and all(new.inputs.values()):
            lines = [OTHER_FORM]
        yield from lines

    def _code_changes(self, script: str, earlier: Manifest) -> list[str]:
        """List the changes in a script's code, symbol by symbol, since an artifact was made."""
        which = script, earlier.bundle.digest
        if which not in self._code:
            self._code[which] = self._compare_code(script, earlier.bundle) or [f"{script}: code changed"]
        return self._code[which]

    def _compare_code(self, script: str, bundle: Blob) -> list[str]:
        try:
            with tempfile.TemporaryDirectory() as folder:
                unpack(self._history.store.read_blob(bundle), Path(folder))
                return self._keys.code_changes(script, CodeBase(Path(folder)))
        except (StoreError, CodeError, OSError, ValueError):
            return []  # the earlier code is missing or cannot be read: no more is known than that it differs

    def _responsible(
        self, earlier: Manifest, before: Mapping[KeyPath, Any], after: Mapping[KeyPath, Any]
    ) -> tuple[list[Change], set[KeyPath]]:
        blob = earlier.provenance.config
        if before == after or blob is None:
            return [], set()
        if blob.digest not in self._configs:
            self._configs[blob.digest] = self._config_changes(blob)
        changed = self._configs[blob.digest]
        return changed.responsible(earlier.label, before, after) if changed else ([], set())

    def _config_changes(self, blob: Blob) -> ConfigChanges | None:
        try:
            earlier = mapping(json.loads(self._history.store.read_blob(blob)))
        except (StoreError, ValueError):
            return None  # it was collected as garbage, or damaged, or is no config: the arguments tell
        if self._now is None:
            self._now = self._config.model_dump(mode="json", by_alias=True)
        return ConfigChanges(earlier, self._now, self._rebuild)

    def _file_lines(
        self, change: InputChange, files: Mapping[str, Output | GivenFile], earlier: Manifest
    ) -> list[str]:
        """Describe the change in a file that no step makes."""
        handle = files.get(change.path)
        if handle is None or isinstance(handle, Output) or not change.is_change:
            return []
        if (handle.path, change.old) not in self._files:
            blob = earlier.provenance.files.get(change.path)
            lines = self._file_changes(handle, blob) if blob else []
            self._files[handle.path, change.old] = lines or [f"{handle.path}: changed"]
        return self._files[handle.path, change.old]

    def _file_changes(self, file: GivenFile, blob: Blob) -> list[str]:
        if isinstance(file, LocalFile) or not file.path.endswith((".yml", ".yaml", ".json")):
            return []
        try:
            old, new = self._history.store.read_blob(blob), self._keys.repo_bytes(file)
            found = changes(*(yaml.safe_load(text) for text in (old, new)))
        except (StoreError, yaml.YAMLError):
            return []
        return [f"{file.path}: {line}" for change in found for line in change.lines()]


def known_parts(keys: KeyMaker, step: Step, made: Mapping[Step, Manifest]) -> KeyParts:
    """The parts of a step's key, given the results of the steps before it that are known."""
    known = {
        output: made[output.step].outputs[output.name]
        for _, _, output in step.input_outputs()
        if output.step in made
    }
    return keys.known_parts(step, known)


def settled(plan: Plan, keys: KeyMaker, history: History) -> Plan:
    """The plan with `run` in place of `maybe` for trainings that were never made like this.

    No earlier artifact of such a step (without any: no other of its stage) has its code, arguments, libraries
    and known inputs. Only steps that cannot be repeated byte by byte are looked at: these are few, and what
    plans cost.
    """
    made = plan.results()

    def runs(planned: StepState) -> bool:
        if planned.status != "maybe" or planned.step.repeatable or planned.key is not None:
            return False
        parts = known_parts(keys, planned.step, made)
        earlier = history.earlier(planned.step, "", CANDIDATES)
        others = islice(history.of_stage(planned.step.stage), OTHERS)
        return not any(_may_be(parts, found.provenance.parts) for found in earlier or others)

    return Plan(tuple(replace(one, status="run") if runs(one) else one for one in plan.steps))


def _may_be(parts: KeyParts, other: KeyParts) -> bool:
    """True if a key that is known in parts may turn out to be another one."""
    if replace(parts, inputs={}) != replace(other, inputs={}) or parts.inputs.keys() != other.inputs.keys():
        return False
    return all(digest in ("", other.inputs[path]) for path, digest in parts.inputs.items())


def _option(path: str) -> str:
    return path.partition("/")[0]


def _distance(old: KeyParts, new: KeyParts) -> int:
    """In how many of its parts a key differs."""
    before, after = settings(old), settings(new)
    differing = [path for path in {*before, *after} if before.get(path) != after.get(path)]
    lines = [*input_changes(old.inputs, new.inputs), *version_lines(old, new)]
    return len(differing) + len(lines) + int(old.code != new.code)


def _input_lines(found: list[InputChange], files: Mapping[str, Output | GivenFile]) -> Iterator[str]:
    """Describe changed inputs; files that no step makes, with contents on both sides, are left out."""
    for change in found:
        handle = files.get(change.path)
        if handle and not isinstance(handle, Output) and change.is_change:
            continue
        by = f" by {handle.step.label}" if isinstance(handle, Output) else ""
        if change.is_change:
            name = handle.name if handle else change.path
            yield f"input {name}: made again{by} ({change.old[:DIGITS]} → {change.new[:DIGITS]})"
        elif change.new:
            yield f"input {short(change.path)} added{', made' + by if by else ''}"
        elif change.old:
            yield f"input {short(change.path)} removed"
        else:
            yield f"input {change.path}: the same files in another order"
