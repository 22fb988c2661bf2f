"""A deployment on this machine, thrown away at its end: `make ui-deployed`.

PostgreSQL, a bucket's stand-in, a code server, Dagster's web server and daemon, as on a cluster; steps run as
local processes. Everything listens on 127.0.0.1 and ends with Ctrl-C. With a command after `--` that command
runs in it, and no web server: `python -m deploy.local -- translations train en-eo.demo --yes`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from deploy.local.postgres import free_port, postgres
from deploy.local.processes import LocalError, ending, tail, wait_for

ROOT = Path(__file__).resolve().parents[2]
BUCKET = "translations"
_BIN = Path(sys.executable).parent
_YEAR_SECONDS = 365 * 24 * 3600
_START_SECONDS = 300.0
_WORKSPACE = """\
load_from:
  - grpc_server: {{host: 127.0.0.1, port: {port}, location_name: translations-assets}}
"""


@contextmanager
def deployment(folder: Path) -> Iterator[dict[str, str]]:
    """PostgreSQL and the bucket; the environment in which everything uses them."""
    with postgres(folder / "postgres") as database, _bucket(folder) as url:
        home = folder / "dagster"
        home.mkdir()
        shutil.copy(Path(__file__).with_name("dagster.yaml"), home)
        environment = {
            **os.environ,
            "DAGSTER_HOME": str(home),
            "DAGSTER_PG_PASSWORD": database.password,
            "DAGSTER_PG_PORT": str(database.port),
            "STORAGE_EMULATOR_HOST": url,
            "TRANSLATIONS_STORE": f"gs://{BUCKET}/store",
            "TRANSLATIONS_STATE": str(folder / "state"),
            "TRANSLATIONS_SPACE": "local",
        }
        environment.pop("TRANSLATIONS_DEPLOYMENT", None)
        # Tables are made once, before several processes ask for them
        prepare = [sys.executable, "-m", "translations_assets.instance.home"]
        subprocess.run(prepare, cwd=ROOT, env=environment, check=True)
        yield environment


@contextmanager
def _bucket(folder: Path) -> Iterator[str]:
    """The stand-in for Google Cloud Storage that the tests use: in memory; it ends when its input does."""
    command = [sys.executable, "-m", "tests.store.gcs_server", BUCKET, str(_YEAR_SECONDS)]
    pipe, log = subprocess.PIPE, folder / "bucket.log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=errors, start_new_session=True
        )
    with process:
        assert process.stdin
        assert process.stdout
        line = process.stdout.readline()
        if not line:
            raise LocalError(f"The bucket did not start. `make install-dev` installs it.\n{tail(log)}")
        try:
            yield str(json.loads(line)["url"])
        finally:
            process.stdin.close()


@contextmanager
def web_server(
    folder: Path, environment: Mapping[str, str], port: int
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Code server, web server and daemon; the web server's address and process."""
    code_port, url = free_port(), f"http://127.0.0.1:{port}"
    workspace, log = folder / "workspace.yaml", folder / "web.log"
    workspace.write_text(_WORKSPACE.format(port=code_port), encoding="utf-8")
    variables = {**environment, "TRANSLATIONS_SERVER": url}
    code = ["code-server", "start", "-h", "127.0.0.1", "-p", str(code_port)]
    code += ["-m", "translations_assets.definitions"]
    web = ["-h", "127.0.0.1", "-p", str(port), "-w", str(workspace)]
    with (
        _server("dagster", code, folder / "code.log", variables),
        _server("python", ["-m", "translations_assets.ui.web_server", *web], log, variables) as server,
        _server("dagster-daemon", ["run", "-w", str(workspace)], folder / "daemon.log", variables),
    ):
        try:
            wait_for(lambda: _answers(url), server, "The web server", _START_SECONDS)
        except LocalError as error:
            raise LocalError(f"{error}\n{tail(log)}") from error
        yield url, server


def _server(
    program: str, arguments: list[str], log: Path, variables: Mapping[str, str]
) -> AbstractContextManager[subprocess.Popen[bytes]]:
    return ending([str(_BIN / program), *arguments], log=log, cwd=ROOT, env=variables)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/server_info", timeout=5):
            return True
    except (urllib.error.URLError, OSError):
        return False


def main() -> int:
    """Run the web server until Ctrl-C, or a command; its exit code."""
    parser = argparse.ArgumentParser(prog="python -m deploy.local", description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=3000, help="of the web server (default: %(default)s)")
    parser.add_argument("command", nargs="*", help="a command to run in the deployment, after `--`")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with tempfile.TemporaryDirectory(prefix="translations-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o711)  # PostgreSQL may run as somebody else
        try:
            with deployment(folder) as environment:
                if options.command:
                    return _run(options.command, environment)
                return _serve(folder, environment, options.port)
        except LocalError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            return 0


def _run(command: list[str], environment: Mapping[str, str]) -> int:
    path = f"{_BIN}{os.pathsep}{environment.get('PATH', '')}"
    return subprocess.run(command, env={**environment, "PATH": path}, check=False).returncode


def _serve(folder: Path, environment: Mapping[str, str], port: int) -> int:
    print(f"Starting; logs are in {folder} …", flush=True)
    with web_server(folder, environment, port) as (url, server):
        print(f"The UI is at {url}. Ctrl-C ends it, and throws everything away.", flush=True)
        server.wait()
        raise LocalError(f"The web server ended.\n{tail(folder / 'web.log')}")


if __name__ == "__main__":
    sys.exit(main())
