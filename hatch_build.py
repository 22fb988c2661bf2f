"""Makes the wheel: what it requires, and what it holds besides the package.

It requires the versions that `requirements/laptop.lock` pins, since keys name those. It holds what the
package reads of the repository, as `translations_assets/repository`, and OpusTrainer's files, which pip
cannot install on Python 3.12 (decision 23).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

FOLDER = "translations_assets/repository"  # settings.repository_root finds it
LIBRARIES = f"{FOLDER}/libraries"
PATH_FILE = "translations_assets_libraries.pth"  # by it Python finds that folder, after what is installed
FILES = ("pipeline", "requirements", "configs", "deploy", "docs")
PATTERNS = ("*.md", "*.yml", "*.yaml", "*.lock", "*.txt", "*.json", "*.Dockerfile")  # of all but pipeline
# Extras, each a group of pyproject.toml, and the lock that has its versions
EXTRAS = {
    "ja-ko": "main.lock",
    "cluster": "main.lock",
    "signing": "signing.lock",
    "tracking": "tracking.lock",
}
_PIN = re.compile(r"^(?P<name>[a-z0-9-]+)(?:\[[^]]*])?==[^\\\n]+", re.MULTILINE)


class Locked(MetadataHookInterface):
    """What the wheel requires: all that a lock pins, so that its environment has the versions of keys."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the requirements of the wheel and of its extras."""
        root = Path(self.root)
        groups = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
        metadata["dependencies"] = [pin for _, pin in _pins(root / "requirements" / "laptop.lock")]
        metadata["optional-dependencies"] = {
            extra: _pins_of(groups[extra], root / "requirements" / lock) for extra, lock in EXTRAS.items()
        }


class Repository(BuildHookInterface):
    """Adds the files, and the commit that they are of."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add nothing to an editable install: it reads the checkout."""
        self._written = Path(tempfile.mkdtemp())
        if version == "editable":
            return
        root, included = Path(self.root), build_data["force_include"]
        included[str(root / "pipeline")] = f"{FOLDER}/pipeline"
        for folder in FILES[1:]:
            for pattern in PATTERNS:
                for path in (root / folder).rglob(pattern):
                    if "node_modules" in path.parts:
                        continue
                    included[str(path)] = f"{FOLDER}/{path.relative_to(root)}"
        _fetch_opustrainer(root / "requirements" / "main.lock", self._written)
        included[str(self._written / "opustrainer")] = f"{LIBRARIES}/opustrainer"
        (self._written / PATH_FILE).write_text(f"{LIBRARIES}\n", encoding="utf-8")
        included[str(self._written / PATH_FILE)] = PATH_FILE
        for name, text in _origin(root).items():
            (self._written / name).write_text(f"{text}\n", encoding="utf-8")
            included[str(self._written / name)] = f"{FOLDER}/{name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was written for the wheel."""
        shutil.rmtree(self._written)


def _origin(root: Path) -> dict[str, str]:
    """The commit and the web page of the repository, as an image has them."""
    sys.path.insert(0, str(root))
    from translations_assets.common.revision import revision, web_address

    found = {"revision": revision(root), "repository": web_address(root)}
    return {name: text for name, text in found.items() if text}


def _pins(lock: Path) -> Iterator[tuple[str, str]]:
    """The distributions of a lock, each with its version as a requirement, once for each case of a marker."""
    for found in _PIN.finditer(lock.read_text(encoding="utf-8")):
        yield found["name"], found[0].strip()


def _pins_of(group: list[str], lock: Path) -> list[str]:
    names = {found[0] for line in group if (found := re.match("[a-z0-9-]+", line))}
    return [pin for name, pin in _pins(lock) if name in names]


def _fetch_opustrainer(lock: Path, folder: Path) -> None:
    """Put OpusTrainer's files, whose digest the lock has, into a folder, its licence among them."""
    found = re.search(r"^opustrainer==.*\n(?: +--hash=.*\n)+", lock.read_text(encoding="utf-8"), re.MULTILINE)
    assert found, f"{lock} pins no opustrainer"
    (folder / "opustrainer.lock").write_text(found[0].rstrip().rstrip("\\"), encoding="utf-8")
    command = ["uv", "pip", "install", "-q", "--no-deps", "--require-hashes"]
    command += ["--only-binary", ":all:", "--python", sys.executable, "--target", str(folder)]
    subprocess.run([*command, "-r", str(folder / "opustrainer.lock")], check=True)
    (licence,) = folder.glob("opustrainer-*.dist-info/licenses/LICENSE")
    shutil.copy(licence, folder / "opustrainer" / "LICENSE")
