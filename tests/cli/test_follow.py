"""What is shown of a run on a server: its events as the server gives them, not what their lines say."""

from __future__ import annotations

from typing import Any

import pytest

from tests.running.conftest import demo_graph
from translations_assets.cli.follow import Follower
from translations_assets.running.engine import StepEvent


def logged(kind: str, label: str, line: str = "", **others: str) -> dict[str, Any]:
    """An event of the log that tells of a step."""
    texts = {"event": kind, "step": label, **others}
    entries = [{"label": name, "text": text} for name, text in texts.items()]
    return {"__typename": "EngineEvent", "message": line, "metadataEntries": entries, "error": None}


@pytest.fixture
def seen() -> list[StepEvent]:
    return []


@pytest.fixture
def follower(seen: list[StepEvent]) -> Follower:
    return Follower(demo_graph(), seen.append)


def kinds(seen: list[StepEvent]) -> list[tuple[str, str]]:
    return [(event.kind, event.step.label) for event in seen]


def test_steps_are_known_by_metadata_and_not_by_lines(follower: Follower, seen: list[StepEvent]) -> None:
    follower.emit(logged("started", "write-a", "strange words"))
    follower.emit({"__typename": "LogMessageEvent", "message": "write-a: done"})
    follower.emit({"__typename": "EngineEvent", "message": "write-a: done", "metadataEntries": []})
    follower.emit(logged("retry", "write-a", message="No network."))
    assert kinds(seen) == [("started", "write-a"), ("retry", "write-a")]
    assert seen[1].detail == {"message": "No network."}


def test_what_did_not_run_was_cached(follower: Follower, seen: list[StepEvent]) -> None:
    follower.emit(logged("done", "write-a"))
    stage = seen[0].step.stage
    follower.emit({"__typename": "MaterializationEvent", "assetKey": {"path": [stage]}})
    assert kinds(seen) == [("done", "write-a"), ("cached", "write-b")]


def test_numbers_are_progress(follower: Follower, seen: list[StepEvent]) -> None:
    entries = [{"label": "join: update", "intValue": 7}, {"label": "other", "text": "no number"}]
    follower.emit({"__typename": "ObservationEvent", "metadataEntries": entries})
    assert kinds(seen) == [("progress", "join")]
    assert seen[0].detail == {"update": 7}


def test_steps_of_another_graph_are_passed_over(follower: Follower, seen: list[StepEvent]) -> None:
    follower.emit(logged("started", "unknown"))
    assert seen == []


@pytest.mark.parametrize(("failed", "words"), [(True, ""), (False, "The config is wrong.")])
def test_a_failure_is_explained_once(follower: Follower, failed: bool, words: str) -> None:
    if failed:
        follower.emit(logged("failed", "write-a", message="The step write-a failed"))
    for _ in range(2):
        follower.emit({"__typename": "RunFailureEvent", "error": {"message": "The config is wrong.\n"}})
    assert follower.explain() == words
