"""Child processes that never outlive the script that started them."""

import ctypes
import os
import signal

PR_SET_PDEATHSIG = 1  # linux/prctl.h

# Loaded before any fork: in the child between fork and exec no library may be loaded.
_libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent() -> None:
    """Let the kernel kill this process (SIGKILL) when its parent dies; for `preexec_fn` and forked children.

    A script that is killed with SIGKILL cannot stop its children; without this they would go on, and hold
    the GPU. Linux only (prctl(2), PR_SET_PDEATHSIG).
    """
    parent = os.getppid()
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it died before the call
        os.kill(os.getpid(), signal.SIGKILL)


def kill_group(group: int) -> None:
    """End every process of a group at once; nothing happens when the group is gone."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return
