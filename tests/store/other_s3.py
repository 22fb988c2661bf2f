"""LocalStack's S3: a second service of other hands, which is no part of moto; a process of its own.

LOCALSTACK_PYTHON names the Python of an environment of tests/store/s3-server.lock.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from deploy.local.postgres import free_port
from deploy.local.processes import ending, wait_for
from tests.patience import PATIENCE

PYTHON = "LOCALSTACK_PYTHON"
_SETTINGS = {
    "SERVICES": "s3",
    "EAGER_SERVICE_LOADING": "1",
    "STRICT_SERVICE_LOADING": "1",
    "GATEWAY_SERVER": "hypercorn",
    # It asks nothing of others
    "DNS_ADDRESS": "0",
    "DISABLE_EVENTS": "1",
    "SKIP_SSL_CERT_DOWNLOAD": "1",
}


@contextmanager
def serve() -> Iterator[str]:
    """The service's address, until the end of the block; all that it keeps is gone then."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        port = free_port()
        command = [os.environ[PYTHON], str(Path(__file__).with_name("other_s3_main.py"))]
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "TMPDIR": folder,
            "FILESYSTEM_ROOT": folder,
            "GATEWAY_LISTEN": f"127.0.0.1:{port}",
            **_SETTINGS,
        }
        with ending(command, log=Path(folder) / "log", env=variables, cwd=folder) as server:
            wait_for(lambda: _answers(port), server, "LocalStack", PATIENCE)
            yield f"http://127.0.0.1:{port}"


def _answers(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/_localstack/health", timeout=PATIENCE) as answer:
            return bool(answer.status == 200)
    except (URLError, ConnectionError):
        return False
