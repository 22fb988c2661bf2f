"""Child processes that never outlive the script that started them."""

import ctypes
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType

from pipeline.common.script import EX_TEMPFAIL

PR_SET_PDEATHSIG = 1  # linux/prctl.h

# Loaded before any fork: in the child between fork and exec no library may be loaded.
_libc = ctypes.CDLL(None, use_errno=True)


def dying_with_parent() -> Callable[[], None]:
    """For a child of this process to call first: the kernel kills it (SIGKILL) when this process dies.

    It is a `preexec_fn`, and an initializer of pools. A script that is killed with SIGKILL cannot stop its
    children; without this they would go on, and hold the GPU. Linux only (prctl(2), PR_SET_PDEATHSIG).
    """
    return partial(_die_with, os.getpid())


def _die_with(parent: int) -> None:
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it died before the call
        os.kill(os.getpid(), signal.SIGKILL)


@contextmanager
def put_off(number: signal.Signals) -> Iterator[None]:
    """Let a signal wait until the block has ended: what its handler raises would break what is at work there.

    Only the main thread is interrupted by handlers, so that nothing is done in others. A fork that gets the
    signal meanwhile ends.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    owner, waiting = os.getpid(), False

    def wait(number: int, frame: FrameType | None) -> None:
        nonlocal waiting
        if os.getpid() != owner:
            os._exit(EX_TEMPFAIL)
        waiting = True

    before = signal.signal(number, wait)
    try:
        yield
    finally:
        signal.signal(number, before)
        if waiting:
            signal.raise_signal(number)


def kill_group(group: int) -> None:
    """End every process of a group at once; nothing happens when the group is gone."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return
