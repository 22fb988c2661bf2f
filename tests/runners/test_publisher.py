"""Live numbers: whole lines, each once. Logs: in parts that grow with an attempt's age, unless it is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.memory_store import MemoryStore
from tests.runners.scripts import COPY, KEY, job
from tests.virtual_clock import VirtualClock
from translations_assets.background import Repeating
from translations_assets.errors import StoreUnreachable
from translations_assets.runners.publisher import Progress, Redaction, StepLog
from translations_assets.running.reading import reading

MINUTE, DAY = 60.0, 86_400.0


def test_a_line_is_reported_once_it_is_whole(tmp_path: Path) -> None:
    seen: list[Mapping[str, Any]] = []
    progress = Progress(tmp_path / "live", Redaction(()), seen.append)
    progress.forward()
    with (tmp_path / "live").open("w") as live:
        for text, expected in (
            ('{"update": 1}\n{"upd', [{"update": 1}]),
            ('ate": 2}\n', [{"update": 1}, {"update": 2}]),
            ("[1]\nwords\n", [{"update": 1}, {"update": 2}]),
        ):
            live.write(text)
            live.flush()
            progress.forward()
            assert seen == expected


class Training:
    """A script that writes a line each five seconds, and its worker, on a virtual clock."""

    def __init__(self, folder: Path) -> None:
        self.clock, self.store = VirtualClock(), MemoryStore()
        self.path, self.failures = folder / "log", list[str]()
        self.log = StepLog(self.path, self.store, job(self.store, COPY), Redaction(()), self.clock)
        Repeating("log", self.log.ship_due, 1.0, self.failures.append, clock=self.clock).start()
        Repeating("script", self.write, 5.0, self.failures.append, clock=self.clock).start()

    def write(self) -> None:
        with self.path.open("a") as file:
            file.write(f"{self.clock.now:.0f}\n")

    @property
    def parts(self) -> list[bytes]:
        return list(self.store.read_log(KEY, 1, 1))

    def oldest(self, seconds: float) -> float:
        """The longest time that a line was not stored, in some time from now on."""
        oldest, end = 0.0, self.clock.now + seconds
        while self.clock.now < end:
            self.clock.run(5)
            (last,) = self.store.read_log(KEY, 1, 1, -1)
            stored = float(last.split()[-1])
            oldest = max(oldest, self.clock.now - stored)
        return oldest


@pytest.fixture
def training(tmp_path: Path) -> Iterator[Training]:
    made = Training(tmp_path)
    yield made
    assert not made.failures


def test_parts_of_a_log_grow_with_its_age(training: Training) -> None:
    training.clock.run(MINUTE)
    assert training.oldest(3 * MINUTE) <= 10
    training.clock.run(DAY / 4)
    before = len(training.parts)
    assert 20 < training.oldest(5 * MINUTE) <= 2 * MINUTE + 5
    training.clock.run(DAY / 4)
    a_day_more = (len(training.parts) - before) * 4
    assert before + 6.75 * a_day_more < 6_000  # a week
    training.log.ship_all()
    lines = training.path.read_bytes()
    assert b"".join(training.parts) == lines
    assert lines.count(b"\n") > 8_000


def test_parts_are_short_while_somebody_reads_the_log(training: Training) -> None:
    training.clock.run(DAY / 8)
    with ExitStack() as reader:
        reader.enter_context(reading(training.store, KEY, 1))
        training.clock.run(35)
        assert training.oldest(10 * MINUTE) <= 10
    training.clock.run(35)
    assert training.oldest(5 * MINUTE) > MINUTE


def test_a_store_that_cannot_tell_who_reads_does_not_keep_the_log_from_it(
    training: Training, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(key: str, generation: int) -> int:
        raise StoreUnreachable("The bucket cannot be reached.")

    monkeypatch.setattr(training.store.owners, "waiters", away)
    training.clock.run(DAY / 8)
    assert training.oldest(5 * MINUTE) <= 2 * MINUTE + 5
