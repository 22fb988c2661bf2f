"""Faults on demand, for servers that stand for a service of objects."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "status", "lost request", "lost answer", "cut body", "cut answer", "flipped answer", "slow", "none"
]


@dataclass
class Fault:
    """Fault in some requests.

    kind      an answer of status `status`, with `retry_after` if there is one; the connection ends before the
              work is done, or before its answer is sent, or after `after` bytes of the request's or answer's
              body; a bit of the answer is wrong; the answer comes late
    seconds   how long a body's beginning is waited over before the connection ends, or an answer is late
    times     with how many requests
    code      the service's word for a status, where it has words
    requests  with which: "METHOD path?query range" is searched for this expression
    """

    kind: Kind
    times: int = 1
    requests: str = ""
    status: int = 503
    code: str = ""
    retry_after: str = ""
    after: int = 0
    seconds: float = 0.0


class Faulty:
    """The part of a server that notes its requests; `faults` are what will go wrong with the next ones."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.requests: list[str] = []
        self.faults: list[Fault] = []

    def fault(self, request: str) -> Fault | None:
        """Return a request's fault, and note that it was sent."""
        with self.lock:
            self.requests.append(request)
            for fault in self.faults:
                if fault.times and re.search(fault.requests, request):
                    fault.times -= 1
                    return fault
        return None
