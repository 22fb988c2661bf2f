"""Let processes use one bucket while much goes wrong, and tell whether what they saw is linearizable.

python -m tests.linear --histories 200
python -m tests.linear --histories 200 --service s3
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal, get_args

from tests.linear.checker import Model, Operation, explained, least
from tests.linear.models import Lease, Refs, Step
from tests.store import gcs_server, s3_server
from tests.store.faults import Fault, Kind

Service = Literal["gs", "s3"]
SERVERS: Mapping[Service, Callable[[str], AbstractContextManager[Any]]] = {
    "gs": gcs_server.serve,
    "s3": s3_server.serve,
}
BUCKET = "tests"
PROCESSES = 4
OPERATIONS = 20  # of each process in a history
PERIOD = 0.4  # seconds, of leases
SECONDS = 120.0  # that a history may take
_FAULTS: Sequence[Kind] = ("status", "status", "lost answer", "lost answer", "lost request", "slow")
_WHERE = ("", "", "leases", "steps", "refs", "DELETE")


@dataclass
class Process:
    """A client, and the lines that it has printed in this history."""

    process: subprocess.Popen[str]
    lines: list[list[Any]] = field(default_factory=list)
    has_ended: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        """Note all that it prints."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if not line.endswith("\n"):
                break  # it was killed
            self.lines.append(json.loads(line))
            if not self.lines[-1]:
                self.has_ended.set()
        self.has_ended.set()

    def ask(self, line: Mapping[str, Any]) -> None:
        """Have it carry out a part of a history."""
        self.lines.clear()
        self.has_ended.clear()
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()

    @property
    def is_alive(self) -> bool:
        """True if it can be asked."""
        return self.process.poll() is None

    def end(self) -> None:
        """End it."""
        self.process.kill()
        with suppress(BrokenPipeError), self.process:  # closes what stands between, and waits
            self._reader.join()


@dataclass
class Figures:
    """Figures of some histories."""

    histories: int = 0
    operations: Counter[str] = field(default_factory=Counter)
    unknown: int = 0
    happened: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def told(self) -> str:
        """Say all in a line."""
        done, wrong = (
            ", ".join(f"{kind} {number:,}" for kind, number in sorted(counted.items()))
            for counted in (self.operations, self.happened)
        )
        return (
            f"{self.histories} histories of {PROCESSES} processes, "
            f"{sum(self.operations.values()):,} operations ({done}), "
            f"{self.unknown:,} without an answer; went wrong: {wrong}; "
            f"{len(self.wrong)} not linearizable"
        )


class Histories:
    """Makes histories with a service's server, and judges them."""

    def __init__(
        self, service: Service, server: gcs_server.GcsServer | s3_server.S3Server, seed: int
    ) -> None:
        self._service, self._server, self._random = service, server, Random(seed)
        self._processes: list[Process] = []
        self.figures = Figures()

    def make(self) -> dict[str, list[Operation]]:
        """Make one: object → its operations."""
        for one in self._processes:
            if not one.is_alive:
                one.end()
        self._processes = [one for one in self._processes if one.is_alive]
        self._processes += [self._start() for _ in range(PROCESSES - len(self._processes))]
        url = f"{self._service}://{BUCKET}/{self._random.getrandbits(48):x}"
        for number, one in enumerate(self._processes):
            asked = {"url": url, "name": f"p{number}", "seed": self._random.getrandbits(32)}
            one.ask({**asked, "period": PERIOD, "operations": OPERATIONS})
        self._disturb()
        self._server.faults.clear()
        return _by_object(self._processes)

    def judge(self, history: Mapping[str, list[Operation]]) -> None:
        """Count a history, and note what cannot be explained."""
        self.figures.histories += 1
        for name, operations in history.items():
            self.figures.operations.update(one.kind for one in operations)
            self.figures.unknown += sum(not one.is_known for one in operations)
            model = self._model(name)
            if explained(operations, model) is None:
                told = "\n".join(f"    {one}" for one in least(operations, model))
                self.figures.wrong.append(f"{name} cannot be explained:\n{told}")

    def close(self) -> None:
        """End the clients."""
        for one in self._processes:
            one.end()

    def _model(self, name: str) -> Model:
        kind = name.partition("/")[0]
        # S3's tokens are seconds: of two owners in one the first has given its lease back
        models: Mapping[str, Model] = {
            "steps": Step(),
            "refs": Refs(),
            "leases": Lease(PERIOD, self._service == "gs"),
        }
        return models[kind]

    def _start(self) -> Process:
        made = subprocess.Popen(
            [sys.executable, "-m", "tests.linear.client"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **self._server.environment},
        )
        return Process(made)

    def _disturb(self) -> None:
        """Let things go wrong until all have ended."""
        random, limit = self._random, time.monotonic() + SECONDS
        while working := [one for one in self._processes if not one.has_ended.is_set()]:
            if time.monotonic() > limit:
                raise TimeoutError(f"{len(working)} processes have not ended after {SECONDS:.0f} s.")
            chance = random.random()
            if chance < 0.02:
                random.choice(working).process.kill()
                self.figures.happened["killed"] += 1
            elif chance < 0.06:
                self._pause(random.choice(working))
            elif chance < 0.5:
                self._add_fault()
            time.sleep(random.uniform(0.02, 0.2))

    def _pause(self, one: Process) -> None:
        """Stop a process for a while, perhaps for longer than its leases last."""
        self.figures.happened["stopped"] += 1
        one.process.send_signal(signal.SIGSTOP)
        seconds = self._random.uniform(0.1, 8 * PERIOD)
        threading.Timer(seconds, one.process.send_signal, (signal.SIGCONT,)).start()

    def _add_fault(self) -> None:
        random = self._random
        kind = random.choice(_FAULTS)
        self.figures.happened[kind] += 1
        fault = Fault(
            kind,
            times=random.randint(1, 3),
            requests=random.choice(_WHERE),
            status=random.choice((500, 503)),
            seconds=random.uniform(0.05, 1.0),
        )
        with self._server.lock:
            self._server.faults.append(fault)


def _by_object(processes: list[Process]) -> dict[str, list[Operation]]:
    """The operations that processes have told of, by object."""
    history = defaultdict[str, list[Operation]](list)
    for process in processes:
        returned = {line[0]: line[1:] for line in process.lines if len(line) == 3}
        for number, name, kind, who, argument, called in (line for line in process.lines if len(line) == 6):
            result, moment = returned.get(number, (None, float("inf")))
            if kind == "acquire":
                result, owner = result or (None, "")
                who = owner or f"{who}, call {number}"
            argument = tuple(argument) if isinstance(argument, list) else argument
            history[name].append(Operation(who, kind, argument, result, called, moment))
    return {
        name: [one for one in operations if one.is_known or one.kind not in ("latest", "refs")]
        for name, operations in history.items()
    }


@contextmanager
def histories_of(service: Service, seed: int) -> Iterator[Histories]:
    """What makes and judges histories, with a new server."""
    with SERVERS[service](BUCKET) as server:
        made = Histories(service, server, seed)
        try:
            yield made
        finally:
            made.close()


def main() -> None:
    """Print the figures; the exit code is 1 when a history cannot be explained."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--histories", type=int, default=50, help="how many")
    parser.add_argument("--service", choices=get_args(Service), default="gs", help="Google's or Amazon's")
    parser.add_argument("--seed", type=int, default=1, help="of what goes wrong")
    args = parser.parse_args()
    begun = time.monotonic()
    with histories_of(args.service, args.seed) as histories:
        for _ in range(args.histories):
            histories.judge(histories.make())
        found = histories.figures
    print(found.told(), f"{(time.monotonic() - begun) / 60:.1f} minutes", sep="; ")
    print(*found.wrong, sep="\n")
    sys.exit(bool(found.wrong))


if __name__ == "__main__":
    main()
