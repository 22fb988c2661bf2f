"""Live numbers in Weights & Biases: one run from the first point to the end, and no training that waits."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import wandb

from tests.tracked import Curve, curve_of
from tests.wandb_server import WandbServer, wandb_server, without_a_key
from translations_assets.running.events import Done, Event, Progress, Started, StepEvent
from translations_assets.tracking import live, wandb_runs
from translations_assets.tracking.live import LiveRuns, begin_live, end_live
from translations_assets.tracking.live_notes import LiveNote, live_place, read_note, write_note
from translations_assets.tracking.tracked import TrackedRun

LABEL, KEY, GENERATION = "train-student-en-eo", "a1b2", 1
POINTS: list[dict[str, Any]] = [
    {"kind": "train", "update": 10, "cost": 7.25, "learn_rate": None},
    {"kind": "train", "update": 20, "cost": 1e-7},
    {"kind": "valid", "update": 20, "chrf": 41.5},
    {"kind": "train", "update": 30, "cost": 3.0},
]
CURVE = curve_of(POINTS)


@pytest.fixture(autouse=True)
def own_wandb(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setattr(live, "SECONDS", 3600.0)  # a test sends when it says so, and nothing else beside it
    with without_a_key(monkeypatch, tmp_path):
        yield


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[WandbServer]:
    monkeypatch.setenv("WANDB_API_KEY", "0123456789" * 4)
    monkeypatch.setenv("WANDB_X_FILE_STREAM_TRANSMIT_INTERVAL", "1")  # seconds; 15 else
    with wandb_server() as server:
        monkeypatch.setenv("WANDB_BASE_URL", server.url)
        yield server
        wandb.teardown()


class Sending:
    """Live runs whose events a test makes.

    said  what was reported
    """

    def __init__(self, folder: Path) -> None:
        self.said: list[str] = []
        self.live = LiveRuns("en-eo", "en-eo.tiny", folder / "online" / "en-eo", self.said.append)
        self.tell(Started(pid=1), (KEY, GENERATION))

    def tell(self, what: Event, log: tuple[str, int] | None = None) -> None:
        step: Any = SimpleNamespace(label=LABEL)
        self.live(StepEvent(step, what, log))

    def train(self, points: Sequence[dict[str, Any]]) -> None:
        for point in points:
            self.tell(Progress(point))


def publish(folder: Path, monkeypatch: pytest.MonkeyPatch, curve: Curve = CURVE) -> None:
    """Publish the training at its end, as it stands in the store by then."""
    config = {"partition": "en-eo.tiny", "key": KEY, "generation": GENERATION, "arguments": {"seed": 1}}
    run = TrackedRun(LABEL, config, curve, {"updates": 30.0}, 1.0)
    monkeypatch.setattr(wandb_runs, "tracked_runs", lambda report: [run])
    session = SimpleNamespace(config=SimpleNamespace(pair="en-eo"), partition="en-eo.tiny")
    wandb_runs.publish(SimpleNamespace(session=session), folder, "online")  # type: ignore[arg-type]


def test_one_run_gets_the_live_numbers_and_the_end(
    server: WandbServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sending = Sending(tmp_path)
    sending.train(POINTS[:3])
    sending.live._sender.tick()  # as its thread does every few seconds
    until = time.monotonic() + 60
    while not any(server.history.values()) and time.monotonic() < until:
        time.sleep(0.1)
    assert [*server.curves().values()] == [CURVE[:1]]  # the second is whole only with the next
    sending.train(POINTS[3:])
    sending.tell(Done())
    sending.live.end()
    assert server.curves() == {LABEL: CURVE}
    publish(tmp_path, monkeypatch, [*CURVE, (40, {"train/cost": 2.5})])
    assert server.curves() == {LABEL: [*CURVE, (40, {"train/cost": 2.5})]}
    assert len(server.history) == 1
    assert sending.said == []


def test_a_training_that_goes_on_after_an_interruption(
    server: WandbServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its next attempt begins at a checkpoint, and some numbers come twice."""
    for points in (POINTS[:3], POINTS[1:]):
        sending = Sending(tmp_path)
        sending.train(points)
        sending.live.end()
    assert server.curves() == {LABEL: CURVE}
    publish(tmp_path, monkeypatch)
    assert (server.curves(), len(server.history)) == ({LABEL: CURVE}, 1)


def test_a_server_that_was_away_gets_what_it_has_missed(
    server: WandbServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wandb_runs, "SECONDS", 2)
    first = Sending(tmp_path)
    first.train(POINTS[:1])
    first.live.end()
    monkeypatch.setenv("WANDB_BASE_URL", "http://127.0.0.1:9")
    wandb.teardown()
    second = Sending(tmp_path)
    second.train(POINTS[1:])
    second.live._sender.tick()
    monkeypatch.setenv("WANDB_BASE_URL", server.url)
    second.live._sender.tick()
    second.live.end()
    assert len(second.said) == 1
    assert (server.curves(), len(server.history)) == ({LABEL: CURVE}, 1)


def test_a_run_that_lacks_numbers_is_not_the_whole_training(
    server: WandbServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The training began on another machine: all of it is told to a run of its own."""
    sending = Sending(tmp_path)
    sending.train(POINTS[1:])
    sending.live.end()
    publish(tmp_path, monkeypatch)
    assert sorted(map(len, server.history.values())) == [2, 3]


def test_what_the_server_lost_is_not_taken_for_told(
    server: WandbServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine went down after the note was written, and before the server had the numbers."""
    first = Sending(tmp_path)
    first.train(POINTS[:1])
    first.live.end()
    place = live_place(tmp_path / "online" / "en-eo", LABEL, KEY, GENERATION)
    (identity,) = server.names
    assert read_note(place) == LiveNote(identity, updates=1, last=10)
    write_note(place, LiveNote(identity, updates=2, last=20))
    second = Sending(tmp_path)
    second.train(POINTS[3:])
    second.live.end()
    publish(tmp_path, monkeypatch)
    assert sorted(map(len, server.history.values())) == [2, 3]


def test_a_server_that_is_away_costs_a_training_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_API_KEY", "0123456789" * 4)
    monkeypatch.setenv("WANDB_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setattr(wandb_runs, "SECONDS", 2)
    sending = Sending(tmp_path)
    begun = time.monotonic()
    sending.train(POINTS * 1000)
    assert time.monotonic() - begun < 2.0
    for _ in range(2):
        sending.live._sender.tick()  # the same is told once
    assert len(sending.said) == 1
    assert sending.said[0].startswith(f"It did not take {LABEL}. ")
    sending.live.end()
    assert time.monotonic() - begun < 60.0


def test_without_a_key_that_is_told(tmp_path: Path) -> None:
    sending = Sending(tmp_path)
    sending.train(POINTS)
    sending.live._sender.tick()
    assert [said.partition(",")[0] for said in sending.said] == ["No key of Weights & Biases was found"]
    sending.live.end()


@pytest.mark.parametrize("mode", ["offline", "disabled"])
def test_nothing_is_sent_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    """All is in the files that are written at the end."""
    monkeypatch.setenv("WANDB_MODE", mode)
    monkeypatch.setattr(wandb, "init", None)
    sending = Sending(tmp_path)
    sending.train(POINTS)
    sending.live._sender.tick()
    sending.live.end()
    assert sending.said == []
    assert not (tmp_path / "online").exists()


def test_only_trainings_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wandb, "init", None)
    sending = Sending(tmp_path)
    sending.train([{"lines": 4000}, {"kind": "train", "update": "soon"}])
    sending.live._sender.tick()
    assert sending.live._trainings == {}
    begin_live("run-1", sending.live)
    end_live("run-1")
    end_live("run-1")
    assert len(sending.said) == 1  # no key
