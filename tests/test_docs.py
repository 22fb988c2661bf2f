"""The documentation site."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DECISIONS = ROOT / "docs" / "decisions"


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    """A page that no other leads to, a link or an anchor that is not there, is a warning."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mkdocs",
            "build",
            "--quiet",
            "--strict",
            "--site-dir",
            str(tmp_path / "site"),
        ],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "site" / "first-hour.html").is_file()
    pages = "".join(page.read_text(encoding="utf-8") for page in (tmp_path / "site").rglob("*.html"))
    assert 'src="http' not in pages  # it fetches nothing


def test_every_decision_is_listed_with_its_title() -> None:
    listed = (DECISIONS / "README.md").read_text(encoding="utf-8").splitlines()
    for page in sorted(DECISIONS.glob("0*.md")):
        number, title = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ").split(". ", 1)
        assert f"| {number} | [{title}]({page.name}) |" in listed
