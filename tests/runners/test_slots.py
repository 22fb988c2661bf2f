"""Slots: never more than there are, never a deadlock, freed by whoever ends."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.runners.scripts import held
from translations_assets.common.errors import TranslationsError
from translations_assets.runners.slots import Slots

NEVER = threading.Event()


def test_slots_are_named_and_freed(tmp_path: Path) -> None:
    slots = Slots(tmp_path, 2, ["0", "1"])
    for _ in range(2):
        with held(slots, 2, 1, NEVER) as grant:
            assert grant is not None
            assert (grant.cpus, grant.gpus) == (("0", "1"), ("0",))
            assert len(grant.descriptors) == 3


def test_no_more_are_held_than_there_are(tmp_path: Path) -> None:
    """Three `Slots` of one folder stand for three processes: locks bind those as well."""
    several = [Slots(tmp_path, 3, []) for _ in range(3)]
    guard, now, most = threading.Lock(), 0, 0

    def work(number: int) -> None:
        nonlocal now, most
        need = 3 if number % 4 == 0 else 1
        with held(several[number % 3], need, 0, NEVER) as grant:
            assert grant is not None
            with guard:
                now += need
                most = max(most, now)
            time.sleep(0.005)
            with guard:
                now -= need

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(work, range(48)))
    assert (now, most) == (0, 3)


def test_requests_for_all_slots_do_not_block_each_other(tmp_path: Path) -> None:
    several = [Slots(tmp_path, 4, ["0", "1"]) for _ in range(4)]

    def work(number: int) -> bool:
        with held(several[number % 4], 4, 2 * (number % 2), NEVER) as grant:
            return grant is not None

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(work, range(64), timeout=60))


def test_a_large_request_is_not_overtaken_for_ever(tmp_path: Path) -> None:
    """Small requests come in endlessly, here and in another process; one for all slots gets through."""
    mine, others = Slots(tmp_path, 2, []), Slots(tmp_path, 2, [])
    stop = threading.Event()

    def keep_busy(slots: Slots) -> None:
        while not stop.is_set():
            with held(slots, 1, 0, stop):
                time.sleep(0.01)

    with ThreadPoolExecutor(6) as pool:
        for slots in (mine, mine, mine, others, others):
            pool.submit(keep_busy, slots)
        time.sleep(0.1)
        late = threading.Timer(20, stop.set)
        late.start()
        with held(mine, 2, 0, stop) as grant:
            got_it = grant is not None
        late.cancel()
        stop.set()
    assert got_it


def test_cancelling_ends_the_wait(tmp_path: Path) -> None:
    slots, cancel = Slots(tmp_path, 1, []), threading.Event()
    with held(slots, 1, 0, NEVER):
        threading.Timer(0.1, cancel.set).start()
        with held(slots, 1, 0, cancel) as grant:
            assert grant is None
    with held(slots, 1, 0, NEVER) as grant:
        assert grant is not None


def test_who_waits_for_a_gpu_keeps_no_cpu_slot(tmp_path: Path) -> None:
    slots, cancel = Slots(tmp_path, 1, ["0"]), threading.Event()
    with ThreadPoolExecutor(1) as pool, held(slots, 0, 1, NEVER):
        waiting = pool.submit(lambda: held(slots, 1, 1, cancel).__enter__())
        time.sleep(0.1)
        with held(slots, 1, 0, NEVER) as grant:
            assert grant is not None
        assert not waiting.done()
        cancel.set()
        assert waiting.result(timeout=PATIENCE) is None


def test_a_slot_lives_as_long_as_the_process_that_inherited_it(tmp_path: Path) -> None:
    """The runner is killed; its worker, here a `sleep`, still holds the slot."""
    program = f"""
import os, pathlib, subprocess, threading
from tests.runners.scripts import held
from translations_assets.runners.slots import Slots
with held(Slots(pathlib.Path({str(tmp_path)!r}), 1, []), 1, 0, threading.Event()) as grant:
    worker = subprocess.Popen(["sleep", "600"], pass_fds=grant.descriptors, stdout=subprocess.DEVNULL)
    print(worker.pid, flush=True)
    os.kill(os.getpid(), 9)
"""
    runner = subprocess.run(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, timeout=PATIENCE
    )
    worker = int(runner.stdout)
    slots = Slots(tmp_path, 1, [])
    cancel = threading.Event()
    threading.Timer(0.3, cancel.set).start()
    with held(slots, 1, 0, cancel) as grant:
        assert grant is None
    os.kill(worker, 9)
    got_it = threading.Event()
    threading.Timer(PATIENCE, got_it.set).start()
    with held(slots, 1, 0, got_it) as grant:
        assert grant is not None


def test_slots_are_freed_although_a_forked_child_has_inherited_them(tmp_path: Path) -> None:
    """Another thread may fork while they are held: its child's copy must not keep the lock."""
    slots, late = Slots(tmp_path, 1, ["0"]), threading.Event()
    with held(slots, 1, 1, NEVER) as grant:
        assert grant is not None
        copies = [os.dup(descriptor) for descriptor in grant.descriptors]
    timer = threading.Timer(PATIENCE, late.set)
    timer.start()
    with held(slots, 1, 1, late) as grant:
        assert grant is not None
    timer.cancel()
    for copy in copies:
        os.close(copy)


def test_a_slot_that_another_process_frees_is_seen(tmp_path: Path) -> None:
    mine, others = Slots(tmp_path, 1, []), Slots(tmp_path, 1, [])
    acquired = threading.Event()

    def hold() -> None:
        with held(mine, 1, 0, NEVER):
            acquired.set()

    with ThreadPoolExecutor(1) as pool:
        with held(others, 1, 0, NEVER):
            pool.submit(hold)
            assert not acquired.wait(0.3)
        assert acquired.wait(PATIENCE)


def test_a_state_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TranslationsError, match="Choose another"):
        Slots(tmp_path / "file" / "state", 1, [])
