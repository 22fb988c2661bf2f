"""The versions of the libraries that code imports, with all that they require, read from a lock file.

The lock is what `uv pip compile --universal --generate-hashes` writes: one version of a distribution for each
case that a marker tells apart, and under it, as `# via`, what requires it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from packaging.markers import Marker

from translations_assets.common.errors import CodeError
from translations_assets.keys.code.syntax import words

# Import names that differ from the distribution's.
DISTRIBUTIONS = {
    "PIL": "pillow",
    "dateutil": "python-dateutil",
    "fasttext": "fasttext-wheel",
    "google": "protobuf",
    "MeCab": "mecab-python3",
    "mecab_ko": "mecab-ko",
    "ruamel": "ruamel-yaml",
    "yaml": "pyyaml",
}

# The standard library of every Python from 3.10 on, so that a fingerprint does not depend on the interpreter.
_STANDARD = sys.stdlib_module_names | words(
    "aifc annotationlib asynchat asyncore audioop binhex cgi cgitb chunk compression crypt distutils imghdr "
    "imp lib2to3 mailcap msilib nis nntplib ossaudiodev pipes smtpd sndhdr spwd sunau telnetlib tomllib uu "
    "xdrlib"
)

_PYTHON = {"python_full_version": ".".join(map(str, (*sys.version_info[:2], 0)))}

_PIN = re.compile(
    r"^(?P<name>[A-Za-z0-9._-]+)(?:\[[^]]*])?==(?P<version>[^\s;\\]+)\s*(?:;\s*(?P<marker>[^\\]*?))?\s*\\?$"
)
_VIA = re.compile(r"^\s+#\s+(?:via\s+)?(?P<parent>[A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^]]*])?\s*$")
_SKIPPED = re.compile(r"^\s*(#.*|--hash=.*|--.*)?$")


def is_standard_library(module: str) -> bool:
    """True if a top-level module comes with Python."""
    return module in _STANDARD


def normal_name(distribution: str) -> str:
    """A distribution's name in the form that the index compares (PEP 503)."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


@dataclass(frozen=True)
class Pin:
    """One version of a distribution, when it applies (a PEP 508 marker), and what requires it."""

    name: str
    version: str
    marker: str
    required_by: list[str]


class Lock:
    """A parsed lock file."""

    def __init__(self, pins: Iterable[Pin], name: str = "the lock") -> None:
        self.name = name
        self._versions: dict[str, set[str]] = {}  # for this Python and platform
        self._required: dict[str, set[str]] = {}
        for pin in pins:
            versions = self._versions.setdefault(pin.name, set())
            if not pin.marker or Marker(pin.marker).evaluate(_PYTHON):
                versions.add(pin.version)
            for parent in pin.required_by:
                self._required.setdefault(parent, set()).add(pin.name)

    @classmethod
    def read(cls, path: Path) -> Lock:
        """Read a lock file; raises CodeError for a line that pins nothing by version."""
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise CodeError(
                f"The lock {path} cannot be read: {error.strerror}. Make it with `uv pip compile`."
            ) from error
        return cls(_read_pins(lines, path), path.name)

    def __contains__(self, distribution: str) -> bool:
        return distribution in self._versions

    def version(self, distribution: str) -> str | None:
        """The version of a distribution for this Python and platform, None when it is not needed there."""
        versions = self._versions[distribution]
        if len(versions) > 1:
            found = ", ".join(sorted(versions))
            raise CodeError(
                f"{self.name} has several versions of {distribution} for this platform: {found}. "
                "Make the lock again."
            )
        return next(iter(versions), None)

    def required_by(self, distribution: str) -> set[str]:
        """What a distribution requires, by name."""
        return self._required.get(distribution, set())


def _read_pins(lines: Iterable[str], path: Path) -> list[Pin]:
    pins: list[Pin] = []
    for number, line in enumerate(lines, start=1):
        pin, via = _PIN.match(line), _VIA.match(line)
        if pin:
            marker = (pin["marker"] or "").strip()
            pins.append(Pin(normal_name(pin["name"]), pin["version"], marker, []))
        elif via and pins:
            pins[-1].required_by.append(normal_name(via["parent"]))
        elif not _SKIPPED.match(line):
            raise CodeError(
                f"{path}, line {number} is not `name==version`: {line.strip()!r}. Make the lock again."
            )
    return pins


def distribution_of(module: str, lock: Lock) -> str:
    """The distribution that a top-level module comes from; raises CodeError when it is not known."""
    distribution = normal_name(DISTRIBUTIONS.get(module, module))
    if distribution not in lock:
        raise CodeError(
            f"No distribution in {lock.name} is known to provide the module {module!r}. If its distribution "
            f'has another name, add the line `"{module}": "…",` to DISTRIBUTIONS in {__name__}; '
            "if it is new, add it to pyproject.toml and make the lock again."
        )
    return distribution


def resolve(lock: Lock, imports: Iterable[str]) -> dict[str, str]:
    """The versions of what is imported and of all that it requires, for this Python and platform, sorted.

    Raises CodeError for a module whose distribution is not known or not installed here.
    """
    versions: dict[str, str] = {}
    waiting: list[str] = []
    for module in imports:
        distribution = distribution_of(module, lock)
        if lock.version(distribution) is None:
            raise CodeError(
                f"{module!r} is imported, but {lock.name} has no {distribution} for this platform. "
                "Run where there is one, or widen the requirement and make the lock again."
            )
        waiting.append(distribution)
    while waiting:
        distribution = waiting.pop()
        version = lock.version(distribution)
        if version is not None and distribution not in versions:
            versions[distribution] = version
            waiting += lock.required_by(distribution)
    return dict(sorted(versions.items()))
