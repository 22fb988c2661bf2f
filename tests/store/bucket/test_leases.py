"""Leases on a bucket: who owns a step when owners die, pause, or cannot reach the service."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.runners.scripts import eventually
from tests.store.fake_objects import FakeObjects, Service
from tests.store.machines import PERIOD, Machine, World
from tests.store.values import KEY, OTHER_KEY
from tests.virtual_clock import VirtualClock
from translations_assets.common.errors import StoreError, StoreUnreachable
from translations_assets.store.bucket.leases import GIVEN_UP_AFTER, Leases


def test_an_owner_that_lives_keeps_its_lease(world: World) -> None:
    owner, other = world.machine(5.0), world.machine(7_000.0)
    assert owner.own()
    for _ in range(100):
        world.pass_time(PERIOD, owner)
        assert not other.own()
    assert owner.lost == []
    owner.leave()
    assert other.own(), "a lease that was given back is free at once"


def test_a_lease_never_has_the_same_contents_twice(world: World) -> None:
    """Where generations are known by contents, a lease that is written as it was looks unchanged."""
    owner, seen = world.machine(), []
    assert owner.own()
    for _ in range(5):
        [name] = world.service.names()
        found = owner.objects.read(name)
        assert found
        seen.append(found[0])
        world.pass_time(PERIOD, owner)
    assert len({*seen}) == 5


def test_a_dead_owners_step_is_taken_over_after_three_periods_and_not_before(world: World) -> None:
    owner, other = world.machine(), world.machine(100.0)
    assert owner.own()
    world.pass_time(40, owner)
    assert not other.own(), "seen for the first time: it may just have been renewed"
    world.pass_time(3 * PERIOD - 1)
    assert not other.own()
    world.pass_time(1)
    assert other.own()


def test_who_looks_seldom_takes_over_all_the_same(world: World) -> None:
    owner, other = world.machine(), world.machine()
    assert owner.own()
    assert not other.own()
    world.pass_time(10 * PERIOD)
    assert other.own()


def test_a_renewal_between_two_looks_counts(world: World) -> None:
    owner, other = world.machine(), world.machine()
    assert owner.own()
    assert not other.own()
    world.pass_time(2 * PERIOD, owner)
    world.pass_time(2 * PERIOD)
    assert not other.own()


def test_a_paused_owner_finds_its_lease_lost_and_harms_nobody(world: World) -> None:
    """It goes on as if nothing had happened, when somebody else has the step."""
    owner, other = world.machine(), world.machine()
    assert owner.own()
    other.own()
    world.pass_time(3 * PERIOD, other)
    assert other.own()
    owner.leases.renew()
    owner.leases.watch()
    (reason,) = owner.lost
    assert "another worker has taken the step over" in reason
    with pytest.raises(StoreError, match="Nothing more of the step.*another worker has taken"):
        owner.leases.token(KEY, 1)
    owner.leave()
    world.pass_time(10 * PERIOD, other)
    assert other.works()
    assert other.lost == []


def test_the_lease_of_a_finished_step_goes_with_the_run_and_no_other(world: World) -> None:
    """Its owner was killed after the commit, before it could give the lease back."""
    killed, working, run = world.machine(), world.machine(), world.machine()
    assert killed.own()
    assert working.own(OTHER_KEY)
    run.clock.waits = lambda seconds: world.pass_time(seconds, working)
    run.leases.disown([(KEY, 1)])
    assert world.service.names("leases/") == [f"leases/{OTHER_KEY}.1"]


def test_a_living_owner_keeps_the_lease_of_its_finished_step(world: World) -> None:
    """It has just committed, and gives the lease back itself."""
    owner, run = world.machine(), world.machine()
    assert owner.own()
    run.clock.waits = lambda seconds: world.pass_time(seconds, owner)
    run.leases.disown([(KEY, 1)])
    assert owner.works()
    owner.leave()
    assert world.service.names("leases/") == []


def test_a_run_that_leaves_nothing_ends_with_one_request(world: World) -> None:
    run = world.machine()
    run.clock.waits = lambda seconds: pytest.fail("waits")
    run.leases.disown([(KEY, 1)])
    assert len(world.service.requests) == 1


def test_of_many_who_take_over_one_wins(world: World) -> None:
    owner = world.machine()
    assert owner.own()
    takers = [world.machine() for _ in range(8)]
    assert not any(taker.own() for taker in takers)
    world.pass_time(3 * PERIOD)
    start = threading.Barrier(len(takers))

    def take(taker: Machine) -> bool:
        start.wait()
        return taker.own()

    with ThreadPoolExecutor(len(takers)) as pool:
        assert sorted(pool.map(take, takers)) == [False] * 7 + [True]


def test_threads_of_one_process_exclude_one_another(world: World) -> None:
    machine = world.machine()
    assert machine.own()
    assert not machine.own()
    assert machine.own(OTHER_KEY)
    world.pass_time(5 * PERIOD)
    assert not machine.own(), "not even when it could not renew: it has not given the step back"


@pytest.mark.parametrize("before", range(int(PERIOD)))
def test_a_service_that_is_away_for_a_period_costs_no_lease(world: World, before: int) -> None:
    owner, other = world.machine(), world.machine()
    assert owner.own()
    world.pass_time(before, owner)
    world.service.away = True
    world.pass_time(PERIOD, owner)
    world.service.away = False
    world.pass_time(5, owner)
    assert owner.lost == []
    assert not other.own()


def test_an_owner_without_a_network_gives_up_before_anybody_can_take_over(world: World) -> None:
    owner, other = world.machine(), world.machine()
    assert owner.own()
    world.pass_time(10, owner)
    assert not other.own()
    owner.objects.cut.set()
    world.pass_time(2 * PERIOD - 1, owner)
    assert owner.lost == []
    world.pass_time(1, owner)
    (reason,) = owner.lost
    assert "could not be renewed for 30 s" in reason
    assert not other.own(), "there is still time to end the script"
    world.pass_time(PERIOD, owner)
    assert other.own()
    owner.objects.cut.clear()
    world.pass_time(2 * PERIOD, owner, other)
    assert len(owner.lost) == 1, "told once"
    owner.leave()
    assert other.works()


def test_an_owner_gives_up_although_a_renewal_hangs(world: World) -> None:
    """Watching has a thread of its own and asks nothing of the service."""
    owner = world.machine()
    assert owner.own()
    world.pass_time(1)
    asked = len(world.service.requests)
    world.pass_time(2 * PERIOD)
    owner.leases.watch()
    assert len(owner.lost) == 1
    assert len(world.service.requests) == asked


def test_a_renewal_whose_answer_was_lost_is_recognised(world: World) -> None:
    owner, other = world.machine(), world.machine()
    assert owner.own()
    world.pass_time(9, owner)
    world.service.answers_lost = 1
    world.pass_time(30, owner)
    assert owner.lost == []
    assert not other.own()
    owner.leave()
    assert world.service.names() == []


def test_an_answer_that_is_lost_does_not_lengthen_a_lease(world: World) -> None:
    """Others count from the renewal that worked, and so must the owner."""
    owner, other = world.machine(), world.machine()
    assert owner.own()
    world.pass_time(9, owner)
    world.service.answers_lost = 1
    world.pass_time(1, owner)
    world.service.away = True
    world.pass_time(19, owner)
    assert owner.lost == []
    world.pass_time(1, owner)
    assert len(owner.lost) == 1
    world.service.away = False
    assert not other.own()


def test_a_slow_renewal_counts_from_when_it_was_sent(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others count from when the service wrote it, at the earliest."""
    owner, put = world.machine(), world.service.put
    assert owner.own()

    def slow(*args: Any) -> int:
        generation = put(*args)
        world.pass_time(PERIOD)
        return generation

    with monkeypatch.context() as patch:
        patch.setattr(world.service, "put", slow)
        world.pass_time(PERIOD)
        owner.leases.renew()
    world.pass_time((GIVEN_UP_AFTER - 1) * PERIOD - 1)
    owner.leases.watch()
    assert owner.lost == []
    world.pass_time(2)
    owner.leases.watch()
    assert owner.lost


def test_a_lease_that_was_removed_is_lost(world: World) -> None:
    owner = world.machine()
    assert owner.own()
    for name in world.service.names():
        world.service.delete(name)
    world.pass_time(PERIOD, owner)
    assert len(owner.lost) == 1


def test_tokens_grow_from_owner_to_owner_and_stay_while_one_works(world: World) -> None:
    tokens = []
    for _ in range(3):
        owner = world.machine()
        assert owner.own()
        tokens.append(owner.leases.token(KEY, 1))
        world.pass_time(3 * PERIOD, owner)
        assert owner.leases.token(KEY, 1) == tokens[-1]
        assert world.machine().leases.token(KEY, 1) == 0
        owner.leave()
        assert owner.leases.token(KEY, 1) == 0
    assert tokens == sorted(set(tokens))


def test_a_takers_token_is_greater_than_that_of_a_dead_owner(world: World) -> None:
    dead, other = world.machine(), world.machine()
    assert dead.own()
    assert not other.own()
    world.pass_time(3 * PERIOD)
    assert other.own()
    dead_token = dead.leases.token(KEY, 1)  # it does not know yet
    assert other.leases.token(KEY, 1) > dead_token


def test_what_is_no_lease_is_taken_over_like_one(world: World) -> None:
    world.service.put(f"leases/{KEY}.1", b"\xff{")
    machine = world.machine()
    assert not machine.own()
    world.pass_time(3 * PERIOD)
    assert machine.own()


def test_the_step_of_an_owner_that_is_long_dead_is_taken_at_once(world: World) -> None:
    owner = world.machine()
    assert owner.own()
    world.pass_time(10 * PERIOD - 1)
    assert not world.machine(1e9).own()
    world.pass_time(1)
    assert world.machine(-1e9).own()


def test_a_look_tells_what_taking_would_and_changes_nothing(world: World) -> None:
    owner, onlooker = world.machine(), world.machine(50.0)
    assert not onlooker.leases.is_owned(KEY, 1)
    assert owner.own()
    before = world.service.names()
    for _ in range(10):
        world.pass_time(PERIOD, owner)
        assert onlooker.leases.is_owned(KEY, 1)
    assert owner.leases.is_owned(KEY, 1)
    assert world.service.names() == before
    assert onlooker.leases.is_owned(KEY, 1), "it died now, and may as well be about to renew"
    world.pass_time(3 * PERIOD)
    assert not onlooker.leases.is_owned(KEY, 1)
    assert not world.machine().leases.is_owned(OTHER_KEY, 1)


def test_a_look_at_a_step_that_nobody_owns_is_one_request(world: World) -> None:
    machine = world.machine()
    assert not machine.leases.is_owned(KEY, 1)
    assert world.service.requests == [f"stat leases/{KEY}.1"]


def test_a_step_cannot_be_owned_without_the_service(world: World) -> None:
    world.service.away = True
    machine = world.machine()
    with pytest.raises(StoreUnreachable):
        machine.own()
    world.service.away = False
    assert machine.own()


def test_a_lease_that_cannot_be_given_back_lapses(world: World) -> None:
    owner, other = world.machine(), world.machine()
    assert owner.own()
    world.service.away = True
    owner.leave()
    world.service.away = False
    assert not other.own()
    world.pass_time(3 * PERIOD, owner)
    assert other.own()


def test_threads_renew_by_themselves_and_end_when_nothing_is_owned() -> None:
    """By real clocks: an owner outlives many periods."""
    service, before = Service(), set(threading.enumerate())
    owner, other = (Leases(FakeObjects(service), 1.5) for _ in range(2))
    lost: list[str] = []

    def renewed() -> bool:
        with other.lock(KEY, 1) as second:
            assert not second
        return service.requests.count(f"replace leases/{KEY}.1") > 4

    with owner.lock(KEY, 1, lost.append) as first, owner.waiting(KEY, 1):
        assert first
        assert eventually(renewed)
    assert lost == []
    assert service.names() == []
    assert eventually(lambda: set(threading.enumerate()) <= before)


# On a virtual clock


def unforeseen(times: int | None) -> Iterator[Exception]:
    """Errors that no request raises, so many or for ever."""
    return itertools.repeat(ValueError("strange"), *(() if times is None else (times,)))


@pytest.mark.parametrize("times", [1, 5, None])
def test_renewing_goes_on_after_what_was_not_foreseen(
    times: int | None, caplog: pytest.LogCaptureFixture
) -> None:
    service, clock, lost = Service(), VirtualClock(), list[str]()
    leases = Leases(FakeObjects(service), PERIOD, clock)
    with leases.waiting(OTHER_KEY, 1), leases.lock(KEY, 1, lost.append) as owner:
        assert owner
        clock.run(PERIOD)
        service.errors = unforeseen(times)
        clock.run(3 * PERIOD)
        assert bool(lost) == (times is None), "it is given up by the thread that watches"
        reports = [record.message for record in caplog.records if "ValueError" in record.message]
        assert len(reports) == (1 if times == 1 else 2), "once for each thread"
        service.errors = iter(())
    clock.run(PERIOD)
    assert service.names("leases/") == []
    assert service.names("waiting/") == []
    assert set(clock.names) == {"leases"}
