"""The first code in a step's Python: ties its life to its worker's and its imports to its bundle.

    python launcher.py LIFE_LINE MODULE [OPTION ...]

Run by its path, with the standard library alone: a step may have an environment of its own. LIFE_LINE is the
descriptor of the reading end of a pipe whose other end only the worker holds.
"""

from __future__ import annotations

import fcntl
import os
import runpy
import select
import signal
import sys
from types import TracebackType


def main() -> None:
    """Become the script: same process, its own arguments, `__main__`."""
    life_line, module, *options = sys.argv[1:]
    die_with_worker(int(life_line))
    sys.path[:] = bundle_first(sys.path, os.environ["PYTHONPATH"])
    sys.modules["translations_assets"] = None  # type: ignore[assignment]  # importing it fails
    sys.argv = [module, *options]
    sys.excepthook = print_of_script
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def print_of_script(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print what ends the script, with the frames of its own code and of what that calls."""
    while trace and trace.tb_frame.f_code.co_filename in (__file__, "<frozen runpy>"):
        trace = trace.tb_next
    sys.__excepthook__(kind, error.with_traceback(trace), trace)


def die_with_worker(life_line: int) -> None:
    """Have the kernel kill this process's group when the worker's end of the pipe closes, however it ends.

    A signal-driven descriptor (fcntl(2), F_SETSIG) reaches children and grandchildren, needs no watching
    process or thread, and works while the script is busy in C code.
    """
    fcntl.fcntl(life_line, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(life_line, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(life_line, fcntl.F_SETFL, fcntl.fcntl(life_line, fcntl.F_GETFL) | os.O_ASYNC)
    os.set_inheritable(life_line, False)
    poll = select.poll()
    poll.register(life_line, select.POLLIN)
    if poll.poll(0):  # the worker ended before the signal was asked for
        os.killpg(0, signal.SIGKILL)


def bundle_first(path: list[str], code: str) -> list[str]:
    """The import path without this file's folder and without any checkout of the repository.

    An editable install puts the checkout on every interpreter's path: a module that is missing from the
    bundle would silently be taken from there.
    """
    here = os.path.dirname(os.path.abspath(__file__))
    return [code, *(folder for folder in path if folder not in (code, here) and not _is_checkout(folder))]


def _is_checkout(folder: str) -> bool:
    installed = os.path.basename(folder) in ("site-packages", "dist-packages")
    return not installed and os.path.isfile(os.path.join(folder, "pipeline", "__init__.py"))


if __name__ == "__main__":
    main()
