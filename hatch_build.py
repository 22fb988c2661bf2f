"""Puts what the package reads of the repository into its wheel, as `translations_assets/repository`."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = "translations_assets/repository"  # settings.repository_root finds it
FILES = ("pipeline", "requirements", "configs", "deploy", "docs")
PATTERNS = ("*.md", "*.yml", "*.yaml", "*.lock", "*.txt", "*.json", "*.Dockerfile")  # of all but pipeline


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
        for name, text in _origin(root).items():
            (self._written / name).write_text(f"{text}\n", encoding="utf-8")
            included[str(self._written / name)] = f"{FOLDER}/{name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was written for the wheel."""
        shutil.rmtree(self._written)


def _origin(root: Path) -> dict[str, str]:
    """The commit and the web page of the repository, as an image has them."""
    sys.path.insert(0, str(root))
    from translations_assets.revision import revision, web_address

    found = {"revision": revision(root), "repository": web_address(root)}
    return {name: text for name, text in found.items() if text}
