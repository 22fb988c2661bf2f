"""A small package of scripts, written from the text of a test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from textwrap import dedent

from translations_assets.keys.code.fingerprint import CodeBase, Fingerprint

SCRIPT = "pipeline.demo.script"


class Package:
    """Writes packages into numbered folders, so that two states of the code can be compared."""

    def __init__(self, folder: Path) -> None:
        self._folders: Iterator[Path] = (folder / str(number) for number in count())

    def write(self, files: Mapping[str, str]) -> Path:
        """Write files by module name (`demo.script`, `demo` for its `__init__`); returns the root."""
        root = next(self._folders)
        for folder in (root / "pipeline", root / "pipeline" / "demo"):
            folder.mkdir(parents=True)
            (folder / "__init__.py").write_text('"""A package."""\n')
        for name, text in files.items():
            path = root.joinpath("pipeline", *name.split("."))
            path = path / "__init__.py" if path.is_dir() else path.with_name(path.name + ".py")
            path.parent.mkdir(exist_ok=True)
            path.write_text(dedent(text), encoding="utf-8")
        return root

    def fingerprint(self, files: Mapping[str, str]) -> Fingerprint:
        """The fingerprint of `pipeline.demo.script` in a package of these files."""
        return CodeBase(self.write(files)).fingerprint(SCRIPT)

    def script(self, body: str, **others: str) -> str:
        """The digest of a script: the text, then a guard that calls `main()`; others are modules of demo."""
        files = {"demo.script": dedent(body) + GUARD} | {
            f"demo.{name}": text for name, text in others.items()
        }
        return self.fingerprint(files).digest

    def bundle(self, body: str, **others: str) -> Mapping[str, str]:
        """The bundle of the same script."""
        files = {"demo.script": dedent(body) + GUARD} | {
            f"demo.{name}": text for name, text in others.items()
        }
        return CodeBase(self.write(files)).bundle(SCRIPT)


GUARD = """

if __name__ == "__main__":
    main()
"""
