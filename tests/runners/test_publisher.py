"""Live numbers: whole lines, each once. Logs: in parts that grow with an attempt's age, unless it is read."""

from __future__ import annotations

import os
import shutil
import tracemalloc
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.memory_store import MemoryStore
from tests.runners.scripts import COPY, KEY, job
from tests.virtual_clock import VirtualClock
from translations_assets.common.background import Repeating
from translations_assets.common.errors import StoreUnreachable
from translations_assets.runners.publisher import CheckpointWatch, LiveNumbers, Redaction, StepLog
from translations_assets.runners.wire import unpack_reply
from translations_assets.running.events import Progress
from translations_assets.running.reading import reading
from translations_assets.store.contents import clone

MINUTE, DAY = 60.0, 86_400.0


def test_a_line_is_reported_once_it_is_whole(tmp_path: Path) -> None:
    seen: list[Mapping[str, Any]] = []
    progress = LiveNumbers(tmp_path / "live", Redaction(()), seen.append)
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
        self.log = StepLog(self.path, self.store, job(self.store, COPY), Redaction(()), clock=self.clock)
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


class LosesAnAnswer(MemoryStore):
    """A store that is reached no more when it has stored the third part of a log, and is back at once."""

    def append_log(
        self, key: str, generation: int, attempt: int, part: int, data: bytes, replies: bytes = b""
    ) -> None:
        is_stored = self.log_part(key, generation, attempt, part) is not None
        super().append_log(key, generation, attempt, part, data, replies)
        if part == 2 and not is_stored:
            raise StoreUnreachable("The bucket cannot be reached.")


def test_a_part_that_was_stored_without_an_answer_holds_up_neither_log_nor_replies(tmp_path: Path) -> None:
    store, path = LosesAnAnswer(), tmp_path / "log"
    log = StepLog(path, store, job(store, COPY), Redaction(()))
    for number in range(5):
        with path.open("a") as file:
            file.write(f"line {number}\n")
        log.reply(Progress({"update": number}))
        with suppress(StoreUnreachable):
            log.ship_all()
    assert b"".join(store.read_log(KEY, 1, 1)) == path.read_bytes()
    parts = [store.log_part(KEY, 1, 1, number) for number in range(5)]
    said = [line for part in parts if part for line in part[1].splitlines()[1:]]
    assert [unpack_reply(line)[1] for line in said] == [Progress({"update": number}) for number in range(5)]


def make_set(sets: Path, number: int) -> None:
    new = sets / f".{number:06}"
    (new / "best").mkdir(parents=True)
    (new / "model.npz").write_text(f"weights {number}")
    (new / "best" / "model.npz").write_text(f"best {number}")
    new.rename(sets / f"{number:06}")


class Busy(MemoryStore):
    """A store that takes so long for a set that its script saves two more, and removes this one."""

    def __init__(self, sets: Path) -> None:
        super().__init__()
        self.sets, self.saves = sets, iter([(2, 3), (4, 5)])

    def add_checkpoint(self, key: str, generation: int, name: str, folder: Path) -> None:
        for number in next(self.saves, ()):
            make_set(self.sets, number)
            if number > 2:
                shutil.rmtree(self.sets / f"{number - 2:06}")
        super().add_checkpoint(key, generation, name, folder)


def test_a_set_is_stored_whole_though_its_script_removes_it_meanwhile(tmp_path: Path) -> None:
    sets = tmp_path / "sets"
    sets.mkdir()
    store = Busy(sets)
    watched = job(store, COPY, resumable=True)
    watch = CheckpointWatch(sets, store, watched, StepLog(tmp_path / "log", store, watched, Redaction(())))
    make_set(sets, 1)
    watch.commit_new()
    assert store.checkpoints(KEY, 1) == ["000001"]
    assert sorted(path.name for path in sets.iterdir()) == ["000002", "000003"]
    watch.commit_new()  # while the first is stored, both are removed
    watch.commit_new()
    assert store.place_checkpoints(KEY, 1, tmp_path / "placed") == ["000004", "000005"]
    assert (tmp_path / "placed/000005/model.npz").read_text() == "weights 5"
    assert (tmp_path / "placed/000005/best/model.npz").read_text() == "best 5"
    assert (tmp_path / "log").read_text().count("stored checkpoint set") == 4


def test_a_set_that_is_gone_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sets, store = tmp_path / "sets", MemoryStore()
    sets.mkdir()
    watched = job(store, COPY, resumable=True)
    watch = CheckpointWatch(sets, store, watched, StepLog(tmp_path / "log", store, watched, Redaction(())))
    make_set(sets, 1)
    make_set(sets, 2)

    def remove_first(source: Path, target: Path, link: bool) -> None:
        if source.parent.name == "000001":
            shutil.rmtree(sets / "000001")
        clone(source, target, link)

    monkeypatch.setattr("translations_assets.runners.publisher.clone", remove_first)
    watch.commit_new()
    assert store.checkpoints(KEY, 1) == ["000002"]


@pytest.mark.parametrize("shift", range(0, 40, 3))
def test_the_last_lines_of_a_long_log_hold_no_part_of_a_secret(tmp_path: Path, shift: int) -> None:
    """Wherever in a secret what is read of the log begins."""
    secret, store = "hf_0123456789_abcdefghijklm", MemoryStore()
    log = StepLog(tmp_path / "log", store, job(store, COPY), Redaction([secret]))
    (tmp_path / "log").write_text(f"{secret} " * 100_000 + "x" * shift + "\nthe end\n")
    shown = log.tail()
    assert not any(secret[start : start + 4] in shown for start in range(len(secret) - 3))
    assert shown.endswith(f"*** {'x' * shift}\nthe end")


def test_of_a_large_log_the_end_alone_is_read(tmp_path: Path) -> None:
    store = MemoryStore()
    log = StepLog(tmp_path / "log", store, job(store, COPY), Redaction(()))
    with (tmp_path / "log").open("wb") as file:
        file.truncate(1 << 26)  # takes no room on the disk
        file.seek(0, os.SEEK_END)
        file.write(b"\nthe end\n")
    tracemalloc.start()
    try:
        assert log.tail().splitlines()[-1] == "the end"
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
