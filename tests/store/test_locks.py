"""Lock files: one holder, swept safely while others make new ones."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from translations_assets.store.locks import acquire, acquire_new, is_held, release


def test_one_holder_at_a_time(tmp_path: Path) -> None:
    first = acquire(tmp_path / "lock")
    assert first is not None
    assert acquire(tmp_path / "lock") is None
    release(tmp_path / "lock", first)
    assert not (tmp_path / "lock").exists()
    again = acquire(tmp_path / "lock")
    assert again is not None
    release(tmp_path / "lock", again)


def test_looking_makes_and_takes_nothing(tmp_path: Path) -> None:
    assert not is_held(tmp_path / "lock")
    assert not (tmp_path / "lock").exists()
    held = acquire(tmp_path / "lock")
    assert held is not None
    assert is_held(tmp_path / "lock")
    release(tmp_path / "lock", held)
    assert not is_held(tmp_path / "lock")


def test_a_new_lock_is_never_one_that_a_sweeper_has_removed(tmp_path: Path) -> None:
    """Sweepers take and remove whatever is free while others make new files: each of those stays whole."""

    def sweep(_: int) -> None:
        for name in os.listdir(tmp_path):
            if (descriptor := acquire(tmp_path / name)) is not None:
                release(tmp_path / name, descriptor)

    def make(_: int) -> bool:
        path, descriptor = acquire_new(tmp_path)
        try:
            return os.path.samestat(os.stat(path), os.fstat(descriptor))
        finally:
            release(path, descriptor)

    with ThreadPoolExecutor(8) as pool:
        sweeps = [pool.submit(sweep, number) for number in range(400)]
        assert all(pool.map(make, range(800)))
        for done in sweeps:
            done.result()


def test_many_threads_take_one_lock_in_turn(tmp_path: Path) -> None:
    """The file is removed by each holder: nobody may hold one that is no longer there."""
    holders: list[int] = []
    most: list[int] = []

    def work(number: int) -> None:
        while (descriptor := acquire(tmp_path / "lock")) is None:
            pass
        holders.append(number)
        most.append(len(holders))
        holders.remove(number)
        release(tmp_path / "lock", descriptor)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(100)))
    assert most == [1] * 100
