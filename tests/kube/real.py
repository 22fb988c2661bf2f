"""A real API server, its controllers and etcd, from programs that somebody has built (1.20 or later)."""

from __future__ import annotations

import secrets
import socket
import ssl
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import urllib3

from tests.kube.api import ReadLog
from tests.kube.logs import LogQuery
from tests.kube.objects import ApiError
from tests.kube.processes import Contained
from tests.kube.rest import Access, Rest
from tests.kube.serving import Handler, Server

PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager")
_START_SECONDS = 60.0
_CONTROLLERS = "job,garbagecollector,podgc,namespace,ttl-after-finished"


class RealApi:
    """The processes. etcd keeps its memory while the API server is stopped.

    binaries  folder with the programs
    folder    for files
    """

    def __init__(self, binaries: Path, folder: Path) -> None:
        self._binaries, self._folder = binaries, folder
        self._ports = dict(zip((*PROGRAMS, "peers"), _free_ports(4), strict=True))
        self._running: dict[str, Contained] = {}
        self._rest: Rest | None = None
        self.access = Access(self._url, secrets.token_hex(16), folder / "certificates" / "apiserver.crt")
        self._write_tokens(self.access.token)
        (folder / "kubeconfig").write_text(self.access.kubeconfig())
        _openssl("genrsa", "-out", folder / "accounts.key", "2048")
        self._run("etcd", *self._etcd_options())
        self.start()
        self._run("kube-controller-manager", *self._controllers_options())

    @property
    def _url(self) -> str:
        return f"https://127.0.0.1:{self._ports['kube-apiserver']}"

    def start(self) -> None:
        """Start the API server and wait until it is ready."""
        self._run("kube-apiserver", *self._api_options())
        deadline = time.monotonic() + _START_SECONDS
        while not self._is_ready():
            if time.monotonic() > deadline:
                raise RuntimeError(f"the API server is not ready: see {self._folder / 'kube-apiserver.log'}")
            time.sleep(0.1)

    def stop(self) -> None:
        """Kill the API server."""
        self._running.pop("kube-apiserver").close()

    def know(self, *tokens: str) -> None:
        """Answer those who have one of some tokens, and nobody else; it starts anew for that."""
        self._write_tokens(*tokens)
        self.stop()
        self.start()

    def _write_tokens(self, *tokens: str) -> None:
        rows = [f'{token},admin,admin,"system:masters"\n' for token in tokens]
        (self._folder / "tokens.csv").write_text("".join(rows))

    def close(self) -> None:
        """End for good."""
        for process in reversed(self._running.values()):
            process.close()
        self._running.clear()
        if self._rest:
            self._rest.close()

    def _is_ready(self) -> bool:
        try:
            self._rest = self._rest or Rest(self.access)
            self._rest.call("GET", "/api/v1/namespaces/default")
        except (ApiError, OSError, urllib3.exceptions.HTTPError):
            return False
        return True

    def _run(self, program: str, *options: str) -> None:
        command = [str(self._binaries / program), *options]
        log = self._folder / f"{program}.log"
        self._running[program] = Contained(command, self._folder, {"PATH": "/usr/bin:/bin"}, log)

    def _etcd_options(self) -> list[str]:
        clients = f"http://127.0.0.1:{self._ports['etcd']}"
        return [
            f"--data-dir={self._folder / 'etcd'}",
            f"--listen-client-urls={clients}",
            f"--advertise-client-urls={clients}",
            f"--listen-peer-urls=http://127.0.0.1:{self._ports['peers']}",
            "--unsafe-no-fsync",
        ]

    def _api_options(self) -> list[str]:
        key = self._folder / "accounts.key"
        return [
            f"--etcd-servers=http://127.0.0.1:{self._ports['etcd']}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={self._ports['kube-apiserver']}",
            "--insecure-port=0",
            f"--cert-dir={self._folder / 'certificates'}",
            "--endpoint-reconciler-type=none",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--authorization-mode=AlwaysAllow",
            f"--token-auth-file={self._folder / 'tokens.csv'}",
            "--service-account-issuer=https://127.0.0.1",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            "--disable-admission-plugins=ServiceAccount",
            "--feature-gates=TTLAfterFinished=true",
            "--kubelet-preferred-address-types=InternalIP",
        ]

    def _controllers_options(self) -> list[str]:
        return [
            f"--kubeconfig={self._folder / 'kubeconfig'}",
            "--bind-address=127.0.0.1",
            f"--secure-port={self._ports['kube-controller-manager']}",
            "--port=0",
            "--leader-elect=false",
            f"--controllers={_CONTROLLERS}",
            "--feature-gates=TTLAfterFinished=true",
            "--kube-api-qps=200",
            "--kube-api-burst=400",
        ]


class LogServer(Server):
    """The kubelet's own server, which the API server asks for logs."""

    def __init__(self, folder: Path, read_log: ReadLog) -> None:
        key, certificate = folder / "kubelet.key", folder / "kubelet.crt"
        subject = ("-nodes", "-days", "2", "-subj", "/CN=127.0.0.1")
        _openssl("req", "-x509", "-newkey", "rsa:2048", "-keyout", key, "-out", certificate, *subject)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate, key)
        self.read_log = read_log
        super().__init__(_LogHandler, tls=tls)


class _LogHandler(Handler):
    server: LogServer

    def serve(self, body: bytes) -> None:
        url = urlsplit(self.path)
        what, namespace, pod, container, *_ = [*url.path.strip("/").split("/"), "", "", ""]
        try:
            if what != "containerLogs":
                raise ApiError(404, "NotFound", f"{url.path} is not served here")
            log = self.server.read_log(
                namespace, pod, LogQuery.from_query({**dict(parse_qsl(url.query)), "container": container})
            )
        except ApiError as error:
            self.send_json(error.code, error.status())
        else:
            self.stream("text/plain", log)


def _free_ports(number: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for item in sockets:
            item.bind(("127.0.0.1", 0))
        return [item.getsockname()[1] for item in sockets]


def _openssl(*arguments: Any) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=60)
