"""A PostgreSQL server of our own, by the system's programs: on 127.0.0.1, in a folder of its own."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deploy.local.processes import LocalError, ending, wait_for

USER = "dagster"
_FOLDERS = Path("/usr/lib/postgresql")  # Debian keeps the programs out of PATH, a folder a version
_SECONDS = 60.0


@dataclass(frozen=True)
class Postgres:
    """A server that runs: its port, the password of its user `dagster`."""

    port: int
    password: str


def programs() -> Path:
    """The folder of PostgreSQL's programs. Raises LocalError when it is not installed."""
    on_path = shutil.which("initdb")
    folders = sorted(_FOLDERS.glob("*/bin"), key=lambda path: int(path.parent.name))
    found = [Path(on_path).resolve().parent] if on_path else folders
    if not found:
        raise LocalError("PostgreSQL is missing. On Debian or Ubuntu: apt-get install postgresql")
    return found[-1]


@contextmanager
def postgres(folder: Path) -> Iterator[Postgres]:
    """A fresh server with its data in a new folder, until the end of the block."""
    bin, password, port = programs(), secrets.token_urlsafe(24), free_port()
    folder.mkdir(mode=0o700)
    (folder / "password").write_text(password, encoding="utf-8")
    user = _user_for(folder)
    settings = ["--auth=scram-sha-256", f"--pwfile={folder / 'password'}", "--encoding=UTF8", "--locale=C"]
    _run([str(bin / "initdb"), "-D", str(folder / "data"), "-U", USER, "--no-sync", *settings], user)
    (folder / "password").unlink()
    command = [str(bin / "postgres"), "-D", str(folder / "data"), "-p", str(port), "-k", str(folder)]
    # Nothing of it outlives the block: no need to wait for the disk
    command += ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]
    with ending(command, log=folder.with_suffix(".log"), signal="SIGINT", **user) as server:
        database = {**os.environ, "PGPASSWORD": password}
        create = ["-h", "127.0.0.1", "-p", str(port), "-U", USER]
        ready = [str(bin / "pg_isready"), "-q", *create[:4]]
        wait_for(lambda: subprocess.run(ready, check=False).returncode == 0, server, "PostgreSQL", _SECONDS)
        _run([str(bin / "createdb"), *create, "dagster"], {"env": database})
        yield Postgres(port, password)


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _user_for(folder: Path) -> dict[str, Any]:
    """Who runs the server, as arguments of Popen: never root, which it refuses; the folder becomes theirs."""
    if os.getuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    for path in (folder, *folder.iterdir()):
        os.chown(path, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": [], "cwd": "/"}


def _run(command: list[str], options: dict[str, Any]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        raise LocalError(f"{Path(command[0]).name} failed: {done.stderr.strip() or done.stdout.strip()}")
