"""A worker process, seen from its orchestrator."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from translations_assets.runners.wire import Busy, Detached, Reply, Request, pack_request, unpack_reply
from translations_assets.running.job import JobEvent, Outcome

_ROOT = Path(__file__).parents[2]  # where `translations_assets` is imported from
_CANCEL_SECONDS = 8.0  # from letting a worker go to its SIGKILL; it gives its script 6
_LOOK_SECONDS = 0.2


class WorkerProcess:
    """A worker, to which we hold the life line: when we let go of it, the worker ends or goes on for others.

    slots   descriptors of the slots, which the worker holds as well
    errors  file for what it writes to standard error
    leave   called before the worker is let go, so that it does not count us among those who wait for the step
    """

    def __init__(self, slots: Sequence[int], errors: IO[bytes], leave: Callable[[], None]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "translations_assets.runners.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            pass_fds=slots,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(_import_path()), "PYTHONSAFEPATH": "1"},
            start_new_session=True,  # Ctrl-C in a terminal is for us, who then cancel in order
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._life_line, self._output = self._process.stdin, self._process.stdout
        self._errors, self._leave = errors, leave
        self._deadline: float | None = None

    def run(
        self, request: Request, cancel: threading.Event, on_event: Callable[[JobEvent], None]
    ) -> Outcome | Busy | Detached:
        """Have it make an attempt, hand on its events, and say how that ended."""
        last = None
        try:
            self._send(request)
            last = self._follow(cancel, on_event)
        except BaseException:
            self._let_go()
            last = self._follow(cancel, lambda event: None)
            raise
        finally:
            self._close(detached=isinstance(last, Detached))
        return last or self._died()

    def _send(self, request: Request) -> None:
        with suppress(BrokenPipeError):  # it died at once: seen when its replies are read
            self._life_line.write(pack_request(request))
            self._life_line.flush()

    def _follow(
        self, cancel: threading.Event, on_event: Callable[[JobEvent], None]
    ) -> Outcome | Busy | Detached | None:
        """Hand on events until its last word; None when it died without."""
        for line in self._lines(cancel):
            reply: Reply = unpack_reply(line)
            if not isinstance(reply, JobEvent):
                return reply
            on_event(reply)
        return None

    def _lines(self, cancel: threading.Event) -> Iterator[bytes]:
        """Its lines until it closes its output. Let go when cancelled; killed when that takes too long."""
        descriptor = self._output.fileno()
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        rest = b""
        while True:
            if cancel.is_set():
                self._let_go()
            if self._deadline is not None and time.monotonic() > self._deadline:
                self._process.kill()
            if poll.poll(_LOOK_SECONDS * 1000):
                piece = os.read(descriptor, 1 << 16)
                if not piece:
                    return
                *whole, rest = (rest + piece).split(b"\n")
                yield from whole

    def _let_go(self) -> None:
        if self._deadline is None:
            self._deadline = time.monotonic() + _CANCEL_SECONDS
            self._leave()
            with suppress(OSError):
                self._life_line.close()

    def _close(self, *, detached: bool) -> None:
        """See it end, unless it goes on without us."""
        if detached:
            threading.Thread(target=self._process.wait, name="reap", daemon=True).start()
        else:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_CANCEL_SECONDS)
            self._process.kill()
            self._process.wait()
        with suppress(OSError):
            self._life_line.close()
        self._output.close()

    def _died(self) -> Outcome:
        """What it means that it ended without a word."""
        code = self._process.returncode
        self._errors.seek(0)
        tail = self._errors.read().decode(errors="replace")[-4096:]
        if code < 0:
            return Outcome("temporary", message=f"the worker was killed (signal {-code})", log_tail=tail)
        return Outcome("failed", message=f"the worker did not work (exit code {code})", log_tail=tail)


def _import_path() -> list[str]:
    earlier = os.environ.get("PYTHONPATH")
    return [str(_ROOT), earlier] if earlier else [str(_ROOT)]
