"""Leases between processes that are killed, paused, and race, with a short period and a server."""

from __future__ import annotations

import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from tests.patience import PATIENCE
from tests.runners.scripts import eventually
from tests.store.bucket.conftest import Adapter, Service
from tests.store.values import KEY
from translations_assets.store.bucket.leases import Leases

PERIOD = 1.5  # seconds
PREFIX = "processes/"

# Asks for a step until it is its own, then keeps it until it is lost, or stdin ends. Says so.
PROGRAM = f"""
import sys, threading, time
from tests.store.values import KEY
from translations_assets.store.bucket.leases import Leases
from translations_assets.store.gcs.objects import GcsObjects
from translations_assets.store.s3.objects import S3Objects
def lost(reason):
    print("lost:", reason, flush=True)
leases = Leases(OBJECTS, {PERIOD})
while True:
    with leases.lock(KEY, 1, lost) as owner:
        if owner:
            print("owner", flush=True)
            sys.stdin.read()
            break
    time.sleep(0.05)
print("left", flush=True)
"""

Process = subprocess.Popen[str]


@pytest.fixture
def objects(objects: Adapter) -> Adapter:
    """Where the leases are."""
    return replace(objects, prefix=PREFIX)


@pytest.fixture
def start(objects: Adapter) -> Iterator[Callable[[], Process]]:
    """Starts a process that wants the step; all are ended, whatever happens."""
    started: list[Process] = []

    def begin() -> Process:
        command = [sys.executable, "-c", PROGRAM.replace("OBJECTS", repr(objects))]
        started.append(Process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def said(process: Process) -> str:
    """The next line that a process says."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def has_said(processes: list[Process]) -> list[Process]:
    """Those of some processes that have said something which was not read yet."""
    outputs = {process.stdout: process for process in processes if process.stdout}
    return [outputs[output] for output in select.select(outputs, [], [], 0)[0]]


@pytest.fixture
def leases(objects: Adapter) -> Leases:
    """This process, which wants the step, too."""
    return Leases(objects, PERIOD)


@pytest.mark.slow
def test_a_killed_owners_step_is_taken_over(leases: Leases, start: Callable[[], Process]) -> None:
    owner = start()
    assert said(owner) == "owner"
    with ExitStack() as mine:
        assert not mine.enter_context(leases.lock(KEY, 1))
        owner.kill()
        killed = time.monotonic()
        assert eventually(lambda: mine.enter_context(leases.lock(KEY, 1)))
        assert time.monotonic() - killed > PERIOD, "its last renewal counted for three periods"


@pytest.mark.slow
def test_a_paused_owner_has_lost_its_step_when_it_goes_on(
    leases: Leases, service: Service, start: Callable[[], Process]
) -> None:
    owner = start()
    assert said(owner) == "owner"
    owner.send_signal(signal.SIGSTOP)
    lost: list[str] = []
    with ExitStack() as mine:
        assert eventually(lambda: mine.enter_context(leases.lock(KEY, 1, lost.append)))
        owner.send_signal(signal.SIGCONT)
        assert said(owner).startswith("lost: the ownership of the step was lost")
        assert owner.communicate(timeout=PATIENCE)[0].strip() == "left"
        assert leases.token(KEY, 1) > 0
        assert f"{PREFIX}leases/{KEY}.1" in service.names()
    assert lost == []
    assert [name for name in service.names() if name.startswith(PREFIX)] == []


@pytest.mark.slow
def test_of_two_who_wait_one_takes_over(
    leases: Leases, service: Service, start: Callable[[], Process]
) -> None:
    owner = start()
    assert said(owner) == "owner"
    takers = [start(), start()]
    looks = len(service.requests)
    assert eventually(lambda: len(service.requests) > looks + 20)
    owner.kill()
    for _ in takers:  # one after the other, never both
        assert eventually(lambda: has_said(takers) != [])
        time.sleep(PERIOD)
        (taker,) = has_said(takers)
        assert said(taker) == "owner"
        assert taker.communicate(timeout=PATIENCE)[0].strip() == "left"
        takers.remove(taker)
