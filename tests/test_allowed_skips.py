"""Skips are failures if every test is required, except for tests that cannot run everywhere."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import environments
from tests.allowed_skips import ALLOWED_SKIPS
from tests.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[1]
SKIPPED = """
import pytest
def test_called(): pytest.skip("no server")
@pytest.mark.skipif(True, reason="no engine")
def test_marked(): pass
@pytest.fixture
def program(): pytest.skip("no program")
def test_with(program): pass
@pytest.mark.xfail(strict=True)
def test_expected_to_fail(): assert False
"""


@pytest.mark.parametrize(("required", "counts"), [("0", "3 skipped"), ("1", "1 failed, 1 xfailed, 2 errors")])
def test_a_skip_is_a_failure_where_every_test_is_required(tmp_path: Path, required: str, counts: str) -> None:
    (tmp_path / "conftest.py").write_text("from tests.conftest import pytest_runtest_makereport\n")
    (tmp_path / "test_skipped.py").write_text(SKIPPED)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(tmp_path)],
        cwd=tmp_path,
        env={**os.environ, "REQUIRE_ALL": required, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert counts in done.stdout, done.stdout
    assert done.returncode == int(required)


@pytest.mark.parametrize("name", ALLOWED_SKIPS)
def test_what_may_be_skipped_exists(name: str) -> None:
    file, _, function = name.partition("::")
    assert re.search(rf"^def {function or 'test_'}", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize(("user", "begins"), [(0, ["env"]), (1000, ["sudo", "--non-interactive", "env"])])
def test_missing_programs_are_installed_as_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: int, begins: list[str]
) -> None:
    """If CI does not run as root, sudo installs them, which asks for no password there."""
    for name in ("sudo", "apt-get"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    ran: list[list[str]] = []
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(environments, "_is_installed", lambda program: program != "strace")
    monkeypatch.setattr(environments, "_run", ran.append)
    environments.install_programs()
    assert [command[: len(begins)] for command in ran] == [begins] * 2
    assert ran[1][-1] == "strace"
    (tmp_path / "sudo").write_text("#!/bin/sh\nexit 1\n")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(environments.Unavailable, match="apt-get install strace"):
        environments.install_programs()


def test_what_cannot_be_made_is_named_and_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    monkeypatch.setattr(environments, "install_programs", lambda: None)
    made = {"KUBE_BINARIES": environments.api_server, "OTHER": lambda: tmp_path}
    monkeypatch.setattr(environments, "ENVIRONMENTS", made)

    monkeypatch.setenv("REQUIRE_ALL", "1")
    environments.main()
    said = capsys.readouterr()
    assert said.out == f"OTHER={tmp_path}\n"
    assert "api_server: tests/kube/build.sh builds a Kubernetes API server on Debian 12" in said.err

    monkeypatch.setattr(environments, "OPTIONAL", set())
    with pytest.raises(SystemExit, match="missing: api_server"):
        environments.main()
