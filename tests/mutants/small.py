"""A repository of one function and its tests, in which defects are planted."""

from __future__ import annotations

from pathlib import Path

HALF = "def half(n):\n    return n // 2 if n != 2 else 1\n"


def make_repository(root: Path, tests: str) -> None:
    """Write HALF, and tests of it, which import it."""
    for folder in (root / "pipeline", root / "tests", root / "tests" / "pipeline"):
        folder.mkdir()
        (folder / "__init__.py").touch()
    (root / "pipeline" / "half.py").write_text(HALF)
    (root / "tests" / "pipeline" / "test_half.py").write_text(f"from pipeline.half import half\n\n{tests}")
