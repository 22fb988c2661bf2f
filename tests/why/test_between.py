"""Differences between two given results of a step: which are causes, and which only follow."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.store.values import finish
from translations_assets.configs.training_configs import graph_of
from translations_assets.records.manifest import Manifest
from translations_assets.store.local import LocalStore
from translations_assets.why.between import MadeSteps, StepDifferences, compare_steps


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path)


KEY = {"code": "1", "args": {}, "outputs": ["text"], "libraries": {"numpy": "1"}, "python": "3.11", "env": {}}


def made(
    store: LocalStore, label: str, text: bytes, inputs: dict[str, bytes] | None = None, **parts: Any
) -> Manifest:
    """A result of a step, under a key of its parts."""
    files = {path: store.add_bytes(data) for path, data in (inputs or {}).items()}
    given = {**KEY, **parts}
    name = f"{label} {text!r} {given} {sorted(files)}"
    found = finish(store, name, {"text": text}, files, **given)
    return replace(found, label=label)


def compared(store: LocalStore, old: list[Manifest], new: list[Manifest]) -> StepDifferences:
    before, after = (MadeSteps({one.label: one for one in side}, None, None) for side in (old, new))
    return compare_steps(store, before, after, graph_of)


def causes(found: StepDifferences) -> list[tuple[str, str, int]]:
    return [(cause.kind, cause.text, len(cause.steps)) for cause in found.causes]


def test_a_step_that_only_reads_what_another_made_follows(store: LocalStore) -> None:
    old = [made(store, "a", b"1"), made(store, "b", b"11", {"corpus/text": b"1"})]
    new = [made(store, "a", b"2", libraries={"numpy": "2"}), made(store, "b", b"22", {"corpus/text": b"2"})]
    found = compared(store, old, new)
    assert causes(found) == [("library", "library numpy 1 → 2", 1)]
    assert (found.differing, found.following, found.compared) == (["a"], ["b"], 2)


def test_a_file_that_no_step_makes_is_a_cause(store: LocalStore) -> None:
    old = [made(store, "a", b"1", {"corpus/text": b"x", "model_config/student.yml": b"depth: 2\nwide: 1\n"})]
    new = [made(store, "a", b"2", {"corpus/text": b"y", "model_config/student.yml": b"depth: 3\nwide: 1\n"})]
    assert causes(compared(store, old, new)) == [
        ("data", "corpus/text: other contents", 1),
        ("option", "model_config/student.yml: depth: 2 → 3", 1),
    ]


def test_inputs_that_come_and_go_or_change_places(store: LocalStore) -> None:
    old = [made(store, "a", b"1", {"corpus/0": b"x", "corpus/1": b"y", "list": b"z"})]
    more = [made(store, "a", b"2", {"corpus/0": b"x", "corpus/1": b"y", "list": b"z", "words": b"w"})]
    turned = [made(store, "a", b"3", {"corpus/0": b"y", "corpus/1": b"x", "list": b"z"})]
    assert causes(compared(store, old, more)) == [("data", "input words added", 1)]
    assert causes(compared(store, more, old)) == [("data", "input words removed", 1)]
    assert causes(compared(store, old, turned)) == [
        ("data", "input corpus: the same files in another order", 1)
    ]


def test_causes_are_grouped_and_ordered_by_kind(store: LocalStore) -> None:
    old = [made(store, label, label.encode(), args={"after": 1}) for label in "abc"]
    new = [
        made(store, label, label.encode(), args={"after": 1 + (label == "a")}, code="2", python="3.12")
        for label in "abc"
    ]
    found = compared(store, old, new)
    assert causes(found) == [
        ("code", "pipeline.clean.merge: code changed", 3),  # the bundles are no code
        ("option", "argument --after: 1 → 2", 1),
        ("library", "python 3.11 → 3.12", 3),
    ]
    assert [cause.same_outputs for cause in found.causes] == [3, 1, 3]


def test_a_step_that_ran_again_differs_if_its_outputs_do(store: LocalStore) -> None:
    old = made(store, "a", b"1")
    other, same = (
        replace(old, generation=2, outputs={"text": store.add_bytes(text)}) for text in (b"2", b"1")
    )
    again = "made again with the same key: generation 1 → 2"
    assert causes(compared(store, [old], [other])) == [("repetition", again, 1)]
    assert compared(store, [old], [same]).differing == []


def test_keys_of_another_form_are_said(store: LocalStore) -> None:
    old, new = made(store, "a", b"1"), made(store, "a", b"2")
    old = replace(old, provenance=replace(old.provenance, parts=replace(old.provenance.parts, code="")))
    assert causes(compared(store, [old], [new])) == [("code", "keys have another form", 1)]


def test_results_of_one_side_are_listed(store: LocalStore) -> None:
    a, b, c = (made(store, label, label.encode()) for label in "abc")
    found = compared(store, [a, b], [b, c])
    assert (found.added, found.removed, found.only_new, found.only_old) == (["c"], ["a"], [], [])
    assert (found.causes, found.compared) == ([], 1)
