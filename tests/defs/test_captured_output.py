"""Tests that the last output is not lost when a run ends."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.runners.scripts import eventually
from translations_assets.defs import captured_output
from translations_assets.defs.captured_output import let_copies_end


@pytest.fixture
def tail(tmp_path: Path) -> subprocess.Popen[bytes]:
    """A process that copies `captured` to `copied`, as Dagster's do; it has copied what there is."""
    (tmp_path / "captured").write_text("first\n")
    with (tmp_path / "copied").open("wb") as copied:
        process = subprocess.Popen(["tail", "-F", "-c", "+0", str(tmp_path / "captured")], stdout=copied)
    assert eventually(lambda: bool((tmp_path / "copied").read_text()))
    return process


def print_while_stopped(tail: subprocess.Popen[bytes], captured: Path) -> None:
    """Append a line that the copying process does not notice before it goes on."""
    tail.send_signal(signal.SIGSTOP)
    with captured.open("a") as file:
        file.write("last\n")


def test_what_is_not_copied_yet_is_waited_for(tail: subprocess.Popen[bytes], tmp_path: Path) -> None:
    print_while_stopped(tail, tmp_path / "captured")
    threading.Timer(0.5, tail.send_signal, [signal.SIGCONT]).start()
    let_copies_end()
    tail.terminate()
    tail.wait()
    assert (tmp_path / "copied").read_text() == "first\nlast\n"


def test_a_copy_that_never_ends_holds_no_run_up(
    tail: subprocess.Popen[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(captured_output, "_COPY_SECONDS", 0.2)
    print_while_stopped(tail, tmp_path / "captured")
    began = time.monotonic()
    let_copies_end()
    assert time.monotonic() - began >= 0.2
    tail.kill()
    tail.wait()
    assert (tmp_path / "copied").read_text() == "first\n"
