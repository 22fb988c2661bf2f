"""Address and credentials of a cluster's API server; credentials are read again when it refuses them."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubernetes.client import Configuration

    from translations_assets.config.deployment import Kubernetes

_log = logging.getLogger(__name__)


class Access:
    """The client's settings, as a kubeconfig or a pod's service account gives them.

    Tokens are rotated while a run goes on: a kubelet replaces the file of a service account, a program that
    a kubeconfig names gives another one. The client itself reads a kubeconfig's file once.

    load  reads all of it anew
    """

    def __init__(self, load: Callable[[], Configuration]) -> None:
        self._load = load
        self._lock = threading.Lock()
        self.settings = load()

    @property
    def token(self) -> str:
        """The token that the server gets now; empty for other kinds of credentials."""
        keys = self.settings.api_key
        return str(keys.get("BearerToken") or keys.get("authorization") or "")

    def renew(self, refused: str) -> bool:
        """Read again as whom to ask, as the server has refused this token; whether there is another one.

        Of many threads that were refused at once, the first one reads. A kubeconfig that names another
        server by now is left alone: its token is none of this server's business.
        """
        with self._lock:
            if self.token == refused:
                self._read()
            return self.token != refused

    def _read(self) -> None:
        try:
            found = self._load()
        except Exception as error:  # half written just now: the client raises anything then
            _log.warning("The credentials for the cluster cannot be read: %s", error)
            return
        if found.host == self.settings.host:
            self.settings.refresh_api_key_hook = found.refresh_api_key_hook  # the old one restores the token
            self.settings.api_key = found.api_key


def access_to(kubernetes: Kubernetes, kubeconfig: Path | None) -> Access:
    """The access by a kubeconfig's context; in a pod and without either, the pod's own.

    Raises ConfigException, OSError or ValueError when there is no usable kubeconfig.
    """
    from kubernetes import config
    from kubernetes.client import Configuration

    def load() -> Configuration:
        settings, context = Configuration(), kubernetes.context
        if "KUBERNETES_SERVICE_HOST" in os.environ and not context and not kubeconfig:
            config.load_incluster_config(client_configuration=settings, try_refresh_token=False)
        else:
            config.load_kube_config(str(kubeconfig) if kubeconfig else None, context, settings)
        return settings

    return Access(load)
