"""Machines that share a bucket, each with a clock and a network of its own."""

from __future__ import annotations

from contextlib import ExitStack

from tests.store.fake_objects import Clock, FakeObjects, Service
from tests.store.values import KEY
from translations_assets.store.bucket.leases import Leases

PERIOD = 15.0


class Machine:
    """A process on a machine of its own, with a clock and a network of its own; it renews when told to."""

    def __init__(self, service: Service, clock: float) -> None:
        self.service, self.clock = service, Clock(clock)
        self.objects = FakeObjects(service)
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
        """True if the step is still ours, so far as we know."""
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
