"""Tests of environments of their own, made from a lock without any library, so that no network is needed."""

import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.common.environments import COMPLETE, folder_of, interpreter
from pipeline.common.errors import TemporaryError

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _environments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSLATIONS_ENVIRONMENTS", str(tmp_path / "environments"))


def lock(folder: Path, text: str = "# nothing\n") -> Path:
    (folder / "some.lock").write_text(text)
    return folder / "some.lock"


def test_an_environment_is_made_once_and_made_again_when_half_made(tmp_path: Path) -> None:
    python = interpreter(lock(tmp_path))
    prefix = subprocess.check_output([python, "-c", "import sys; print(sys.prefix)"], text=True)
    assert Path(prefix.strip()) == python.parents[1]
    (python.parents[1] / "mark").touch()
    assert interpreter(lock(tmp_path)) == python
    assert (python.parents[1] / "mark").exists()
    used_where_nothing_can_be_written(python, tmp_path)
    (python.parents[1] / COMPLETE).unlink()
    assert interpreter(lock(tmp_path)) == python
    assert not (python.parents[1] / "mark").exists()
    python.unlink()
    python.symlink_to(tmp_path / "removed")
    assert interpreter(lock(tmp_path)) == python
    assert subprocess.check_output([python, "-c", "print('here')"]) == b"here\n"


def test_each_python_has_an_environment_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As another machine has, or this one after an upgrade; virtual environments of one Python share it."""
    linked, other = tmp_path / "linked", tmp_path / "python3.13"
    linked.symlink_to(sys.executable)
    other.touch()
    own = folder_of(lock(tmp_path))
    monkeypatch.setattr(sys, "executable", str(linked))
    assert folder_of(lock(tmp_path)) == own
    monkeypatch.setattr(sys, "executable", str(other))
    assert folder_of(lock(tmp_path)) != own


def used_where_nothing_can_be_written(python: Path, tmp_path: Path) -> None:
    """Assert that a complete environment is used there, and that nothing is written."""
    folder = tmp_path / "environments"
    for path in folder.glob("*.lock"):
        path.unlink()
    before = sorted(folder.iterdir())
    folder.chmod(0o555)
    try:
        assert interpreter(lock(tmp_path)) == python
    finally:
        folder.chmod(0o755)
    assert sorted(folder.iterdir()) == before  # root may write anywhere: nothing was


def test_what_cannot_be_installed_is_worth_another_attempt(tmp_path: Path) -> None:
    with pytest.raises(TemporaryError, match=r"of some.lock could not be made: .*pip install"):
        interpreter(lock(tmp_path, "unpinned\n"))
    assert not list((tmp_path / "environments").glob(f"*/{COMPLETE}"))
