"""Workers in an image, and commands on a login node, with stand-ins for programs that are not installed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.runners.scripts import COPY, output
from tests.runners.slurm.places import Place

pytestmark = pytest.mark.slow

# Runs what comes after the image, as `apptainer exec` does, but in no container
APPTAINER = """\
#!/bin/bash
printf '%s\\n' "$@" > {record}
while [ "$1" != /shared/worker.sif ]; do shift; done
shift
exec "$@"
"""
# As the real one: its words after the host are joined by spaces, and a shell there takes them apart
SSH = """\
#!/bin/bash
while [ "${{1#-}}" != "$1" ]; do shift 2; done
echo "$1" >> {record}
shift
cd / && exec env -i HOME=/root PATH="$PATH" SLURM_CONF="$SLURM_CONF" sh -c "$*"
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs that come first."""
    (folder := tmp_path / "programs").mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def write_program(folder: Path, name: str, text: str) -> Path:
    """Write a program; return the file in which it records how it was called."""
    record = folder / f"{name}.txt"
    (folder / name).write_text(text.format(record=record))
    (folder / name).chmod(0o755)
    return record


def test_a_worker_runs_in_an_apptainer_image(place: Place, programs: Path) -> None:
    record = write_program(programs, "apptainer", APPTAINER)
    python = ["apptainer", "exec", "--nv", "--bind", "/shared", "/shared/worker.sif", sys.executable]
    run = place.run(python=python, setup=[f'export PATH="{programs}:$PATH"'])
    assert output(place.store, run.make(place.job(COPY))) == "no input"
    words = record.read_text().splitlines()
    assert words[:8] == [*python[1:], "-I", "-c"]
    assert words[-3] == f"file://{place.root}/store"


def test_commands_go_over_ssh_as_a_person_writes_it(place: Place, programs: Path) -> None:
    record = write_program(programs, "ssh", SSH)
    run = place.run(command=["ssh", "-o", "BatchMode=yes", "login1"])
    assert output(place.store, run.make(place.job(COPY))) == "no input"
    assert set(record.read_text().splitlines()) == {"login1"}
    assert run.runner.commands.counts["sbatch"] == 1


def test_a_login_node_whose_shell_says_more_is_understood(place: Place, programs: Path) -> None:
    """Profiles write to standard error as they like."""
    write_program(programs, "ssh", SSH.replace("shift\ncd", "shift\necho 'Welcome!' >&2\ncd"))
    run = place.run(command=["ssh", "login1"])
    assert output(place.store, run.make(place.job(COPY))) == "no input"
