"""A process that uses a store as told, and writes down when it has called what, and what came back.

Reads a line for each history, `{"url", "name", "seed", "period", "operations"}`, and prints lines of
operations: of a call `[number, object, kind, who, argument, seconds]`, of its return `[number, result,
seconds]`, left out where it is not known what came of it, and `[]` at the end of the history.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import logging
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

from tests.store.values import manifest
from translations_assets.common.errors import StoreError
from translations_assets.records.manifest import Ref
from translations_assets.store.bucket.leases import Leases, _Lease
from translations_assets.store.bucket.store import BucketStore
from translations_assets.store.gcs.objects import GcsObjects
from translations_assets.store.s3.objects import S3Objects

PATIENCE = 2.0  # seconds for which a request is repeated
HELD = 1.5  # seconds for which a lease is held, at most
OBJECTS = 2  # of each kind
GENERATIONS = 2


class Told:
    """Prints operations; safe for use by several threads."""

    def __init__(self) -> None:
        self._lock, self._numbers = threading.Lock(), itertools.count()

    def call(self, name: str, kind: str, who: str, argument: Any, act: Callable[[], Any]) -> Any:
        """Do an operation; None when it is not known what came of it."""
        number = next(self._numbers)
        self.line([number, name, kind, who, argument, time.monotonic()])
        try:
            result = act()
        except StoreError:
            return None
        if result is not None:
            self.line([number, result, time.monotonic()])
        return result

    def line(self, line: list[Any]) -> None:
        """Print a line at once."""
        with self._lock:
            print(json.dumps(line), flush=True)


class _Leases(Leases):
    """Leases that tell how they are acquired, renewed and released."""

    def __init__(self, objects: Any, period: float, told: Told, name: str) -> None:
        super().__init__(objects, period)
        self._told, self._name = told, name

    def _acquire(self, key: str, generation: int, lost: Callable[[str], None] | None) -> _Lease | None:
        """Acquire it: its token and owner, 0 when another holds it."""
        acquired: list[_Lease] = []

        def act() -> list[Any]:
            if lease := super(_Leases, self)._acquire(key, generation, lost):
                acquired.append(lease)
                return [lease.token, lease.owner.decode()]
            return [0, ""]

        self._told.call(f"leases/{key}.{generation}", "acquire", self._name, None, act)
        return acquired[0] if acquired else None

    def _renew(self, lease: _Lease) -> None:
        """Renew it: true when that worked, false when another holds it."""
        before = lease.renewed

        def act() -> bool | None:
            super(_Leases, self)._renew(lease)
            if "another worker" in lease.reason:
                return False
            return True if lease.renewed != before else None

        self._told.call(lease.name, "renew", lease.owner.decode(), None, act)

    def _release(self, lease: _Lease) -> None:
        """Release it, then or later: an answer is not waited for."""

        def act() -> None:
            super(_Leases, self)._release(lease)

        self._told.call(lease.name, "release", lease.owner.decode(), None, act)


class Client:
    """Uses the store of one history."""

    def __init__(self, told: Told, asked: dict[str, Any]) -> None:
        self._told, self._name, self._random = told, asked["name"], Random(asked["seed"])
        kind = S3Objects if asked["url"].startswith("s3") else GcsObjects
        objects = kind.at(asked["url"])
        objects = replace(objects, patience=PATIENCE, pauses=(0.02, 0.2))
        self._leases = _Leases(objects, asked["period"], told, self._name)
        self._store = BucketStore(objects, self._leases)
        self._numbers = itertools.count()

    def work(self, operations: int) -> None:
        """Do some operations."""
        choices = (self._commit, self._commit, self._latest, self._add, self._refs, self._hold, self._hold)
        for _ in range(operations):
            self._random.choice(choices)(self._random.randrange(OBJECTS))

    def _call(self, name: str, kind: str, argument: Any, act: Callable[[], Any]) -> Any:
        return self._told.call(name, kind, self._name, argument, act)

    def _commit(self, number: int) -> None:
        generation, name = self._random.randint(1, GENERATIONS), f"{self._name}-{next(self._numbers)}"
        made = manifest({}, key=_key(number), generation=generation, label=name)
        self._call(f"steps/{number}", "commit", [generation, name], lambda: self._store.commit(made).label)

    def _latest(self, number: int) -> None:
        def act() -> list[Any]:
            found = self._store.latest(_key(number))
            return [found.generation, found.label] if found else []

        self._call(f"steps/{number}", "latest", None, act)

    def _add(self, number: int) -> None:
        name = f"{self._name}-{next(self._numbers)}"

        def act() -> bool:
            step = {"step": (_key(number), 1)}
            self._store.add_ref(Ref("ann", "en-ru", f"stage{number}", name, time.time(), step, {}))
            return True

        self._call(f"refs/{number}", "add", name, act)

    def _refs(self, number: int) -> None:
        def act() -> list[str]:
            return sorted(ref.run for ref in self._store.refs("ann", "en-ru", f"stage{number}"))

        self._call(f"refs/{number}", "refs", None, act)

    def _hold(self, number: int) -> None:
        """Hold a lease for a while, or see that another does."""
        with self._leases.lock(_key(number), 1) as is_ours:
            time.sleep(self._random.uniform(0, HELD if is_ours else HELD / 5))


def _key(number: int) -> str:
    return hashlib.sha256(b"%d" % number).hexdigest()


def main() -> None:
    """Work until stdin ends."""
    logging.getLogger("translations_assets").setLevel(logging.CRITICAL)
    told = Told()
    for line in sys.stdin:
        asked = json.loads(line)
        Client(told, asked).work(asked["operations"])
        told.line([])


if __name__ == "__main__":
    main()
