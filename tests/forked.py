"""Commands in processes that are forked from one that has imported their program, and computed keys, already.

Most tests run many short commands, and most of a short command's processor time is its imports and the normal
form of the scripts' code. Apart from those, a forked command is as one that is started: its own process with
its own arguments, environment, folder and files, which ends as Python ends.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, NoReturn

from tests.session import ALIVE, once
from tests.shared_home import make_home, share_home
from tests.shared_keys import compute_keys, share_keys
from translations_assets import cli

# What runs import, too; some modules of the definitions look at the environment, and are left to each run
_DEFS = ("captured_output", "endings", "executor", "metadata", "quality", "tables", "webhook")
_RUNNING = (
    *("dagster._core.workspace.autodiscovery", "rich.live"),
    *(f"translations_assets.defs.{name}" for name in _DEFS),
    *(
        f"translations_assets.{name}"
        for name in ("report.facts", "running.engine", "why.explain", "why.forecast")
    ),
)
# Program → the function that it calls, and what else is imported beforehand
PROGRAMS = {
    "dagster": (
        "dagster._cli:main",
        "translations_assets.cli.main",
        "translations_assets.checks.gates",
        *_RUNNING,
    ),
    # sacremoses alone computes for a third of a second when it is imported
    "script": ("tests.forked:become_script", "numpy", "requests", "sacremoses", "sentencepiece", "yaml"),
    "translations": (
        "tests.forked:become_command",
        "translations_assets.cli.main",
        *(f"translations_assets.cli.{module.name}" for module in pkgutil.iter_modules(cli.__path__)),
        "translations_assets.configs.generate",
        *(f"translations_assets.{name}" for name in ("project", "store.open")),
        "translations_assets.checks.gates",
        "translations_assets.runners.local",
        *_RUNNING,
    ),
}
_ROOT = Path(__file__).parents[1]
_MOST_BYTES = 1 << 17  # of a request
_starting = threading.Lock()  # for tests that run commands in threads


def run(
    command: Sequence[str], environment: Mapping[str, str], folder: Path, text: str | None, seconds: float
) -> subprocess.CompletedProcess[str]:
    """Run a command of PROGRAMS as `subprocess.run` does. Raises TimeoutError after so many seconds."""
    program, *words = command
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        given, output, errors = files
        given.write((text or "").encode())
        given.seek(0)
        connection = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
        connection.settimeout(seconds)
        connection.connect("\0" + _server(program))
        request = json.dumps([words, dict(environment), str(folder)]).encode()
        socket.send_fds(connection, [request], [file.fileno() for file in files])
        code = int(connection.recv(16))
        return subprocess.CompletedProcess([*command], code, _text(output), _text(errors))


def run_script(
    module: str, arguments: Sequence[object], environment: Mapping[str, object], text: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `python -m MODULE` here, at most five minutes, with variables besides this process's."""
    variables = {**os.environ, **{name: str(value) for name, value in environment.items()}}
    return run(["script", module, *map(str, arguments)], variables, Path.cwd(), text, 300)


def become_command() -> None:
    """Be `translations`; or with `-c` the code that follows, which Python would be given."""
    if sys.argv[1:2] != ["-c"]:
        importlib.import_module("translations_assets.cli.main").main()
        return
    code, *arguments = sys.argv[2:]
    sys.argv = ["-c", *arguments]
    exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})


def become_script() -> None:
    """Run the module that the command line names, as `python -m` does, with what PYTHONPATH adds."""
    module, *arguments = sys.argv[1:]
    sys.argv = [module, *arguments]
    sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    with contextlib.suppress(ModuleNotFoundError):
        importlib.import_module("sitecustomize")
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


def _server(program: str) -> str:
    """The address of the process that a program's commands are forked from; it ends with the session."""
    with _starting:
        return (once(f"forked-{program}", partial(_start, program)) / "address").read_text()


def _start(program: str, folder: Path) -> None:
    address = f"{__name__}.{folder.name}.{folder.parent.name}"
    with (folder.parent / ALIVE).open("rb") as alive:
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.forked", program, address],
            cwd=_ROOT,
            stdin=alive,
            stdout=subprocess.PIPE,
        )
    assert server.stdout is not None
    with server.stdout as said:
        assert said.readline() == b"ready\n"
    server.returncode = 0  # nobody waits for its end
    (folder / "address").write_text(address)


def _serve(program: str, address: str) -> Callable[[], None]:
    """Fork a process for each request, in which this returns what is to be called; end once stdin does."""
    main, *others = PROGRAMS[program]
    module, _, name = main.partition(":")
    call: Callable[[], None] = getattr(importlib.import_module(module), name)
    for other in others:
        importlib.import_module(other)
    vars(os)["fsync"] = lambda descriptor: None  # as in tests/conftest.py
    if program != "script":
        make_home()
        share_home()
        compute_keys(_ROOT / "configs" / "en-eo.demo.yml")
        share_keys()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind("\0" + address)  # of no file
        listener.listen(64)
        os.write(1, b"ready\n")
        while _first_readable(listener, 0) is listener:
            connection, _ = listener.accept()
            with connection:
                if os.fork() == 0 and _is_command(connection, program):
                    return call
    sys.exit()


def _is_command(connection: socket.socket, program: str) -> bool:
    """Fork once more: True in the process that is to be the command; the other sends how that ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    request, descriptors, _, _ = socket.recv_fds(connection, _MOST_BYTES, 3)
    words, environment, folder = json.loads(request)
    command = os.fork()
    if command == 0:
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)
        sys.argv = [str(Path(sys.executable).with_name(program)), *words]
        return True
    ended = os.pidfd_open(command)
    if _first_readable(ended, connection) is connection:  # who asked is no longer there, or waits no longer
        os.kill(command, signal.SIGKILL)
    _, status = os.waitpid(command, 0)
    with contextlib.suppress(OSError):
        connection.send(b"%d" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def _end(call: Callable[[], None]) -> NoReturn:
    """Call, and end as Python does, but for taking memory apart: half of the time of a short command."""
    code: object = None
    try:
        call()
    except SystemExit as end:
        code = end.code
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    if isinstance(code, str):
        print(code, file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else code is not None)


def _first_readable(*files: int | socket.socket) -> object:
    """The first of the files that can be read from, or is closed at its other end."""
    with selectors.DefaultSelector() as selector:
        for file in files:
            selector.register(file, selectors.EVENT_READ)
        return selector.select()[0][0].fileobj


if __name__ == "__main__":
    _end(_serve(*sys.argv[1:]))
