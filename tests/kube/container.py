"""A pod's container as a local process: its environment, its folders, its process and its log."""

from __future__ import annotations

import base64
import os
import re
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.kube.logs import ContainerLog
from tests.kube.objects import Object
from tests.kube.processes import Contained

_VARIABLE = re.compile(r"\$\((\w+)\)")
_LAST_WORDS = "/dev/termination-log"
_FIELD = re.compile(r"metadata\.(labels|annotations)\['(.+)'\]")

_MOST_LAST_WORDS = 4096
_FALLBACK = (2048, 80)  # size and lines of a termination message that is the log's end

ReadSecret = Callable[[str], Mapping[str, str] | None]


class ConfigError(Exception):
    """A container that cannot be made as its pod asks, in the kubelet's words."""


class Container:
    """A container of a pod, running.

    folder  its own, below that of its pod: the process's current one
    node    the folder of its node, for what lives there
    """

    def __init__(
        self, pod: Object, container: Object, folder: Path, node: Path, read_secret: ReadSecret
    ) -> None:
        (folder / "tmp").mkdir(parents=True)
        self._last_words = folder / "last-words"
        self._last_words.touch()
        mounts = _mounts(pod, container, folder.parent, node)  # a pod's containers share its volumes
        mounts[container.get("terminationMessagePath", _LAST_WORDS)] = self._last_words
        environment = _environment(pod, container, folder, mounts, read_secret)
        self.log = ContainerLog(folder / "log")
        self._process = Contained(_command(container, environment, mounts), folder, environment)
        self._ended = threading.Event()

    def follow(self) -> int:
        """Copy what it writes to its log until it ends; its exit code."""
        for line in self._process.stream:
            self.log.write(line)
        code = self._process.wait()
        self._process.close()
        self.log.end()
        self._ended.set()
        return code

    def last_words(self, code: int, policy: str) -> str:
        """The message that a kubelet reports with the container's end."""
        said = self._last_words.read_text(encoding="utf-8", errors="replace")[:_MOST_LAST_WORDS]
        return said or (self.log.last(*_FALLBACK) if code and policy == "FallbackToLogsOnError" else "")

    def stop(self, grace: float) -> None:
        """SIGTERM, and all is killed when it has not ended after so many seconds."""
        if grace > 0:
            self._process.terminate()
            self._ended.wait(grace)
        self.kill()

    def kill(self) -> None:
        """End it and all that it started at once; what it wrote until now is in the log afterwards."""
        self._process.kill()
        self._ended.wait()


def _command(container: Object, environment: Mapping[str, str], mounts: Mapping[str, Path]) -> list[str]:
    words = [*container.get("command", ()), *container.get("args", ())]
    expanded = [_VARIABLE.sub(lambda match: environment.get(match[1], match[0]), word) for word in words]
    return [_inside(word, mounts) for word in expanded]


def _environment(
    pod: Object, container: Object, folder: Path, mounts: Mapping[str, Path], read_secret: ReadSecret
) -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}"
    environment = {
        "PATH": path,
        "HOME": str(folder),
        "TMPDIR": str(folder / "tmp"),
        "HOSTNAME": pod["metadata"]["name"],
    }
    for variable in container.get("env") or ():
        value = _value(variable, pod, read_secret)
        if value is not None:
            environment[variable["name"]] = _inside(value, mounts)
    return environment


def _value(variable: Object, pod: Object, read_secret: ReadSecret) -> str | None:
    source = variable.get("valueFrom") or {}
    if field := source.get("fieldRef"):
        return _field(pod, field["fieldPath"])
    if reference := source.get("secretKeyRef"):
        return _secret(reference, read_secret)
    return str(variable.get("value") or "")


def _field(pod: Object, path: str) -> str:
    if match := _FIELD.match(path):
        return str(pod["metadata"].get(match[1], {}).get(match[2], ""))
    value: Object | str = pod
    for part in path.split("."):
        value = value.get(part, "") if isinstance(value, dict) else ""
    return str(value)


def _secret(reference: Object, read_secret: ReadSecret) -> str | None:
    values, name, key = read_secret(reference["name"]), reference["name"], reference["key"]
    if values is not None and key in values:
        return base64.b64decode(values[key]).decode()
    if reference.get("optional"):
        return None
    missing = f'secret "{name}" not found' if values is None else f"couldn't find key {key} in Secret {name}"
    raise ConfigError(missing)


def _mounts(pod: Object, container: Object, folder: Path, node: Path) -> dict[str, Path]:
    """Path in the container → the folder here that stands for it."""
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or ()}
    mounts = {}
    for mount in container.get("volumeMounts") or ():
        volume = volumes[mount["name"]]
        if host := volume.get("hostPath"):
            target = node / host["path"].strip("/")
        elif claim := volume.get("persistentVolumeClaim"):
            target = node.parent / "claims" / claim["claimName"]
        else:
            target = folder / "volumes" / mount["name"]
        target.mkdir(parents=True, exist_ok=True)
        mounts[mount["mountPath"].rstrip("/")] = target
    return mounts


def _inside(text: str, mounts: Mapping[str, Path]) -> str:
    """A path below a mount as the path here; any other text as it is."""
    for path, target in mounts.items():
        if text == path or text.startswith(path + "/"):
            return str(target) + text.removeprefix(path)
    return text
