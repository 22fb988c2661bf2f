"""Output of a run's steps, in files that the UI shows, and on the terminal as before."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import psutil
from dagster import DagsterEvent

from translations_assets.defs.engine_events import engine_event

_COPY_SECONDS = 10.0


def with_captured_output(
    context: Any, steps: Sequence[str], events: Iterator[DagsterEvent]
) -> Iterator[DagsterEvent]:
    """Pass a run's events on while standard output and error also go to files that the UI shows.

    A capture that fails is reported in an event and does not fail the run.
    """
    manager = context.instance.compute_log_manager
    log_key = manager.build_log_key_for_run(context.run_id, "output")
    with ExitStack() as capture:
        try:
            with _no_interrupts():
                log = capture.enter_context(manager.capture_logs(log_key))
            yield DagsterEvent.capture_logs(context, steps, log_key, log)
        except Exception as error:
            yield _capture_failed(context, error)
        yield from events
        try:
            let_copies_end()
            capture.close()
        except Exception as error:
            yield _capture_failed(context, error)


def let_copies_end() -> None:
    """Wait, some seconds at most, until the processes that copy captured output have read it all.

    They are `tail`s, which Dagster ends at once: what they have not copied by then is lost (its issue 23336).
    """
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    end = time.monotonic() + _COPY_SECONDS
    for child in psutil.Process().children():
        with suppress(psutil.Error, OSError):
            if child.name() == "tail":
                copied = os.stat(child.cmdline()[-1])
                while not _has_read(child.pid, copied) and time.monotonic() < end:
                    time.sleep(0.01)


def _has_read(pid: int, file: os.stat_result) -> bool:
    """True if a process has a file open and has read all of it, or if that cannot be seen."""
    folder = f"/proc/{pid}"
    if not os.path.isdir(folder):
        return True
    for descriptor in os.listdir(f"{folder}/fd"):
        if os.path.samestat(os.stat(f"{folder}/fd/{descriptor}"), file):
            with open(f"{folder}/fdinfo/{descriptor}", encoding="utf-8") as info:
                return int(info.readline().removeprefix("pos:")) >= file.st_size
    return False


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Processes that are started in this context never see Ctrl-C, which a terminal sends to all of a run's.

    Those that copy captured output would end at once, with a traceback, and what is said later would be lost;
    they are ended with the capture. An interrupt of this process is delivered when the context is left.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _capture_failed(context: Any, error: Exception) -> DagsterEvent:
    message = f"The output of the run is not captured completely: {type(error).__name__}: {error}"
    return engine_event(context, message)
