"""Leases of machines that sleep, whose monotonic clocks stand still meanwhile."""

from __future__ import annotations

import pytest

from tests.store.machines import PERIOD, World


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


@pytest.mark.parametrize("is_taken", [True, False])
def test_a_machine_that_slept_can_ask_at_once(world: World, is_taken: bool) -> None:
    owner, other = world.machine(), world.machine()
    assert owner.own()
    owner.leases.confirm()
    assert len(world.service.requests) == 2, "nobody has slept"
    other.own()
    world.pass_time(3 * PERIOD)
    owner.clock.now, owner.clock.slept = 0.0, 3 * PERIOD
    assert not is_taken or other.own()
    owner.leases.confirm()
    assert len(owner.lost) == is_taken
    asked = len(world.service.requests)
    owner.leases.confirm()
    assert len(world.service.requests) == asked
