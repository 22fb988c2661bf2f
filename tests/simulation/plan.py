"""The plan of a simulation: who does what when, and what goes wrong, all drawn from a seed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Literal, TypeAlias, get_args

from tests.simulation.service import FAULTS, Fault

People = Literal["run", "start", "other space", "cancel", "gc", "pin", "unpin", "verify"]
Trouble = Literal[
    "kill run", "kill worker", "kill machine", "pause machine", "sleep machine", "set clock", "fill disk"
]
Kind: TypeAlias = People | Trouble

PEOPLE: tuple[People, ...] = (*get_args(People), "run", "run", "gc")  # some are more frequent
TROUBLE: tuple[Trouble, ...] = get_args(Trouble)
MEETINGS: tuple[tuple[Kind, Kind], ...] = (("gc", "pin"), ("gc", "run"), ("gc", "gc"), ("run", "other space"))
MET = 12.0  # seconds within which they meet
PHASES = 3  # with days between them, after which results are old
REQUESTS = 600  # of a schedule, about


@dataclass(frozen=True)
class Happening:
    """Something that happens.

    phase   whose days it is in
    at      seconds after the phase's begin
    chance  between 0 and 1: decides on whom it falls
    seconds for which it lasts
    """

    phase: int
    at: float
    kind: Kind
    chance: float
    seconds: float = 0.0


@dataclass(frozen=True)
class Plan:
    """The plan of a schedule.

    clocks  of each machine: seconds ahead, and rate
    slow    share of scripts that take minutes
    bad     share of scripts that fail
    """

    seed: int
    clocks: tuple[tuple[float, float], ...]
    happenings: tuple[Happening, ...]
    faults: Mapping[int, Fault] = field(default_factory=dict)
    slow: float = 0.1
    bad: float = 0.05

    def script_seconds(self, random: Random) -> float:
        """The time that a script takes."""
        return random.uniform(60.0, 300.0) if random.random() < self.slow else random.uniform(0.5, 30.0)

    def script_code(self, random: Random) -> int:
        """The exit code of a script."""
        return random.choice((1, 75, -9, -15)) if random.random() < self.bad else 0

    def smaller(self) -> Iterator[Plan]:
        """The plans without one of the things that happen, or go wrong."""
        for one in self.happenings:
            yield replace(self, happenings=tuple(other for other in self.happenings if other != one))
        for at in self.faults:
            yield replace(self, faults={other: fault for other, fault in self.faults.items() if other != at})


def _time(random: Random, moment: float) -> float:
    """A time within two minutes; half of them soon after one moment, as what meets is what matters."""
    return moment + random.uniform(0, 15) if random.random() < 0.5 else random.uniform(0, 120)


def draw(seed: int) -> Plan:
    """Draw the plan of a seed."""
    random = Random(seed)
    machines = random.randint(2, 3)
    clocks = tuple((random.uniform(-200, 200), random.uniform(0.97, 1.03)) for _ in range(machines))
    happenings = [Happening(0, random.uniform(0, 5), "run", random.random())]
    for phase in range(random.randint(1, PHASES)):
        people = [random.choice(PEOPLE) for _ in range(random.randint(1, 4))]
        trouble = [random.choice(TROUBLE) for _ in range(random.choice((0, 0, 1, 1, 2, 3)))]
        moment = random.uniform(0, 100)
        happenings += [
            Happening(phase, _time(random, moment), kind, random.random(), random.expovariate(1 / 90))
            for kind in (*people, *trouble)
        ]
        if random.random() < 0.5:
            happenings += [
                Happening(phase, moment + random.uniform(0, within), kind, random.random())
                for kind, within in zip(random.choice(MEETINGS), (1.0, MET), strict=True)
            ]
    number = random.choice((0, 1, 2, 4, 8, 16, 32))
    faults = {random.randrange(REQUESTS): random.choice(FAULTS) for _ in range(number)}
    ordered = tuple(sorted(happenings, key=lambda one: (one.phase, one.at)))
    bad = random.choice((0.0, 0.0, 0.1))
    return Plan(seed, clocks, ordered, faults, slow=random.choice((0.0, 0.1, 0.3)), bad=bad)
