"""Leases on a bucket: who owns a step when owners die, pause, or cannot reach the service."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import pytest

from tests.runners.scripts import eventually
from tests.store.fake_objects import Clock, FakeObjects, Service
from tests.store.values import KEY, OTHER_KEY
from translations_assets.steps.errors import StoreError, StoreUnreachable
from translations_assets.store.gcs.beat import Beat
from translations_assets.store.gcs.leases import Leases

PERIOD = 15.0


class Machine:
    """A process on a machine of its own, with a clock and a network of its own; it renews when told to."""

    def __init__(self, service: Service, clock: float) -> None:
        self.service, self.clock = service, Clock(clock)
        self.objects = FakeObjects("bucket", service=service)
        self.leases = Leases(self.objects, PERIOD, self.clock)
        self.lost: list[str] = []
        self._life = ExitStack()

    def own(self, key: str = KEY) -> bool:
        """Become the owner, until `leave`."""
        return self._life.enter_context(self.leases.lock(key, 1, self.lost.append))

    def wait_for(self, key: str = KEY) -> None:
        """Wait for a step, until `leave`."""
        self._life.enter_context(self.leases.waiting(key, 1))

    def leave(self) -> None:
        """End in order."""
        self._life.close()

    def works(self) -> bool:
        """Whether the step is still ours, so far as we know."""
        return self.leases.token(KEY, 1) > 0


class World:
    """Machines whose clocks all move, whatever they show."""

    def __init__(self) -> None:
        self.service = Service()
        self.machines: list[Machine] = []

    def machine(self, clock: float = 0.0) -> Machine:
        """Another machine."""
        self.machines.append(Machine(self.service, clock))
        return self.machines[-1]

    def pass_time(self, seconds: float, *running: Machine) -> None:
        """Time passes everywhere; the processes that run do what their threads do, each second."""
        for _ in range(round(seconds)):
            self.service.now += 1
            for machine in self.machines:
                machine.clock.now += 1
            for machine in running:
                machine.leases.renew()
                machine.leases.renew_waiting()
                machine.leases.watch()


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """An empty bucket, and no threads; whoever still owns something at the end gives it back."""
    monkeypatch.setattr(Beat, "start", lambda beat: None)
    world = World()
    yield world
    world.service.away = False
    for machine in world.machines:
        with suppress(StoreError):
            machine.leave()


def test_an_owner_that_lives_keeps_its_lease(world: World) -> None:
    owner, other = world.machine(5.0), world.machine(7_000.0)
    assert owner.own()
    for _ in range(100):
        world.pass_time(PERIOD, owner)
        assert not other.own()
    assert owner.lost == []
    owner.leave()
    assert other.own(), "a lease that was given back is free at once"


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


def test_a_machine_that_slept_finds_out_by_its_first_renewal(world: World) -> None:
    """Its monotonic clock stood still."""
    owner, other = world.machine(), world.machine()
    assert owner.own()
    other.own()
    world.pass_time(3 * PERIOD)
    owner.clock.now = 0.0
    assert other.own()
    owner.clock.now += PERIOD
    owner.leases.watch()
    assert owner.lost == []
    owner.leases.renew()
    assert len(owner.lost) == 1


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


def test_a_lease_that_was_removed_is_lost(world: World) -> None:
    owner = world.machine()
    assert owner.own()
    world.service.found.clear()
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
    owner, other = (Leases(FakeObjects("bucket", service=service), 1.5) for _ in range(2))
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
    put = world.service.put

    def put_heartbeats_only(name: str, data: bytes) -> int:
        if name.startswith("waiting/"):
            raise StoreUnreachable("The connection was lost.")
        return put(name, data)

    with monkeypatch.context() as patch:
        patch.setattr(world.service, "put", put_heartbeats_only)
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
