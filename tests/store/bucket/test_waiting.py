"""Those who wait for a step on a bucket, when some of them die or cannot reach the service."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat

import pytest

from tests.store.machines import PERIOD, World
from tests.store.values import KEY, OTHER_KEY
from translations_assets.common.errors import StoreError, StoreUnreachable


def test_who_waits_counts_at_once_and_no_longer_than_it_waits(world: World) -> None:
    one, two, asking = world.machine(), world.machine(), world.machine()
    one.wait_for()
    one.wait_for()
    two.wait_for()
    two.wait_for(OTHER_KEY)
    assert asking.leases.waiters(KEY, 1) == 3
    assert asking.leases.waiters(OTHER_KEY, 1) == 1
    assert asking.leases.waiters(KEY, 2) == 0
    one.leave()
    assert asking.leases.waiters(KEY, 1) == 1
    two.leave()
    assert asking.leases.waiters(KEY, 1) == 0
    assert world.service.names() == []


def test_the_dead_count_for_three_periods_and_one_look_tells(world: World) -> None:
    dead, alive = world.machine(), world.machine(1e6)
    dead.wait_for()
    alive.wait_for()
    world.pass_time(3 * PERIOD - 1, alive)
    assert world.machine(-50.0).leases.waiters(KEY, 1) == 2
    world.pass_time(1, alive)
    assert world.machine(1e9).leases.waiters(KEY, 1) == 1


def test_who_may_not_write_leaves_nothing_and_tries_nothing_more(world: World) -> None:
    machine = world.machine()
    world.service.errors = repeat(StoreError("The account may not write."))
    before = len(world.service.requests)
    with pytest.raises(StoreError, match="may not write"):
        machine.wait_for()
    world.pass_time(4 * PERIOD, machine)
    asked = world.service.requests[before:]
    assert [request.split("/")[0] for request in asked] == ["write sessions"]


def test_what_the_dead_have_left_is_removed(world: World) -> None:
    dead, alive = world.machine(), world.machine()
    dead.wait_for()
    dead.wait_for(OTHER_KEY)
    dead.own()
    world.pass_time(10 * PERIOD)
    alive.wait_for()
    alive.own(OTHER_KEY)
    world.pass_time(PERIOD, alive)
    assert f"leases/{OTHER_KEY}.1" in world.service.names()
    alive.leave()
    assert world.service.names() == []


def test_who_waits_for_a_hundred_steps_renews_one_object(world: World) -> None:
    machine = world.machine()
    keys = [f"{number:064x}" for number in range(100)]
    for key in keys:
        machine.wait_for(key)
    world.pass_time(PERIOD, machine)  # the first renewal sweeps
    before = len(world.service.requests)
    world.pass_time(4 * PERIOD, machine)
    asked = world.service.requests[before:]
    assert len(asked) == 6
    assert {request.split("/")[0] for request in asked} == {"write sessions"}
    assert all(world.machine().leases.waiters(key, 1) == 1 for key in keys[::20])


def test_who_was_taken_for_dead_counts_again(world: World) -> None:
    paused, asking = world.machine(), world.machine()
    paused.wait_for()
    paused.wait_for(OTHER_KEY)
    world.pass_time(3 * PERIOD)
    assert asking.leases.waiters(KEY, 1) == 0
    asking.leases.sweep()
    assert world.service.names() == []
    world.pass_time(1, paused)
    assert asking.leases.waiters(KEY, 1) == asking.leases.waiters(OTHER_KEY, 1) == 1
    paused.leave()
    assert world.service.names() == []


def test_who_was_taken_for_dead_and_is_cut_off_again_counts_in_the_end(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    paused, asking = world.machine(), world.machine()
    paused.wait_for()
    world.pass_time(3 * PERIOD)
    assert asking.leases.waiters(KEY, 1) == 0
    write = world.service.write

    def write_heartbeats_only(name: str, data: bytes) -> None:
        if name.startswith("waiting/"):
            raise StoreUnreachable("The connection was lost.")
        write(name, data)

    with monkeypatch.context() as patch:
        patch.setattr(world.service, "write", write_heartbeats_only)
        world.pass_time(1, paused)
    assert asking.leases.waiters(KEY, 1) == 0
    world.pass_time(1, paused)
    assert asking.leases.waiters(KEY, 1) == 1


def test_who_cannot_leave_is_removed_later(world: World) -> None:
    machine, asking = world.machine(), world.machine()
    machine.wait_for(OTHER_KEY)
    with machine.leases.waiting(KEY, 1):
        world.service.away = True
    world.service.away = False
    assert asking.leases.waiters(KEY, 1) == 1
    world.pass_time(1, machine)
    assert asking.leases.waiters(KEY, 1) == 0
    assert asking.leases.waiters(OTHER_KEY, 1) == 1


def test_nobody_waits_without_the_service(world: World) -> None:
    machine = world.machine()
    world.service.away = True
    with pytest.raises(StoreUnreachable):
        machine.wait_for()
    world.service.away = False
    assert machine.leases.waiters(KEY, 1) == 0


def test_while_a_heartbeat_hangs_others_join_and_leave(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    machine, asking = world.machine(), world.machine()
    machine.wait_for(OTHER_KEY)
    world.pass_time(2 * PERIOD + 1)  # so that the heartbeat writes again what may have been removed
    sent, answered = threading.Event(), threading.Event()
    write = world.service.write

    def hang(name: str, data: bytes) -> None:
        if name.startswith("sessions/"):
            sent.set()
            assert answered.wait(30)
        write(name, data)

    with ThreadPoolExecutor(1) as pool, machine.leases.waiting(KEY, 1):
        monkeypatch.setattr(world.service, "write", hang)
        heartbeat = pool.submit(machine.leases.renew_waiting)
        assert sent.wait(30)
        with machine.leases.waiting(KEY, 2):
            assert asking.leases.waiters(KEY, 2) == 1
        machine.leave()
        assert asking.leases.waiters(OTHER_KEY, 1) == 0
        answered.set()
        heartbeat.result()
        assert asking.leases.waiters(OTHER_KEY, 1) == 0  # though it was among what was written again
        assert asking.leases.waiters(KEY, 1) == 1
    assert world.service.names() == []


def test_many_threads_wait_at_once(world: World) -> None:
    machine, asking = world.machine(), world.machine()
    inside, leave = threading.Barrier(17), threading.Event()

    def wait() -> None:
        with machine.leases.waiting(KEY, 1):
            inside.wait(30)
            leave.wait(30)

    with ThreadPoolExecutor(16) as pool:
        waits = [pool.submit(wait) for _ in range(16)]
        inside.wait(30)
        assert asking.leases.waiters(KEY, 1) == 16
        leave.set()
        for done in waits:
            done.result()
    assert world.service.names() == []
