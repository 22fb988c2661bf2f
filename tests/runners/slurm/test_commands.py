"""Slurm's commands, and the words in which they fail."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from translations_assets.runners.slurm import commands as commands_module
from translations_assets.runners.slurm.commands import (
    SlurmAway,
    SlurmCommands,
    SlurmError,
    SlurmFull,
    failure,
)

REFUSED = "sbatch: error: Batch job submission failed: "


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Unable to contact slurm controller (connect failure)", SlurmAway),
        ("sbatch: error: Batch job submission failed: Socket timed out on send/recv operation", SlurmAway),
        (
            "squeue: error: If munged is up, restart with --num-threads=10\n"
            "squeue: error: Munge encode failed: Failed to access",
            SlurmAway,
        ),
        ("slurm_load_jobs error: Unable to contact slurm controller (connect failure)", SlurmAway),
        ("sacct: error: Problem talking to the database: Connection refused", SlurmAway),  # slurmdbd is down
        (f"{REFUSED}Slurm temporarily unable to accept job, sleeping and retrying", SlurmAway),
        (
            "sbatch: error: AssocMaxSubmitJobLimit\n"
            f"{REFUSED}Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)",
            SlurmFull,
        ),
        (f"{REFUSED}Required partition not available (inactive or drain)", SlurmFull),
        (f"{REFUSED}Invalid account or account/partition combination specified", SlurmError),
        (f"{REFUSED}Invalid qos specification", SlurmError),
        (f"{REFUSED}Invalid feature specification", SlurmError),
        ("sbatch: error: Projects must name a budget (job_submit.lua)", SlurmError),
        ("", SlurmError),
    ],
)
def test_what_a_command_says_tells_what_to_do(said: str, kind: type[SlurmError]) -> None:
    error = failure("sbatch", 1, said)
    assert type(error) is kind
    assert str(error).startswith("sbatch: ")
    assert "error:" not in str(error)


def test_a_command_gets_its_text_and_gives_what_it_prints() -> None:
    commands = SlurmCommands()
    assert commands.run("cat", text="two\nlines\n") == "two\nlines\n"
    assert commands.run("echo", "a b", "c") == "a b c\n"
    assert commands.counts == {"cat": 1, "echo": 1}


def test_a_prefix_gets_the_command_line_as_one_word() -> None:
    commands = SlurmCommands(["bash", "-c"])
    assert commands.run("printf", "%s|", "a b", "$HOME", "'") == "a b|$HOME|'|"


def test_a_login_node_that_cannot_be_reached_may_be_soon() -> None:
    commands = SlurmCommands(["sh", "-c", "echo no route >&2; exit 255"])
    with pytest.raises(SlurmAway, match="no route"):
        commands.run("squeue")


def test_a_command_that_hangs_is_left(tmp_path: Path) -> None:
    with pytest.raises(SlurmAway, match="sleep has not answered"):
        SlurmCommands().run("sleep", "60", seconds=0.2)


def test_where_slurm_is_missing_it_is_said_what_to_do() -> None:
    with pytest.raises(SlurmError, match="slurm.command"):
        SlurmCommands().run("sbatch-that-is-not-there")


def test_variables_of_options_do_not_reach_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a job in which the orchestrator runs, and of a person's shell."""
    for name in ("SBATCH_PARTITION", "SQUEUE_FORMAT", "SLURM_JOB_ID", "SLURM_MEM_PER_CPU", "SLURM_CONF"):
        monkeypatch.setenv(name, "7")
    kept = [line for line in SlurmCommands().run("env").splitlines() if line.endswith("=7")]
    assert kept == ["SLURM_CONF=7"]


def test_who_waits_for_slurm_does_so_until_it_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands_module, "_FIRST_PAUSE", 0.01)
    commands, tries = SlurmCommands(), iter([SlurmAway("away"), SlurmAway("still"), None])

    def action() -> str:
        if error := next(tries):
            raise error
        return "there"

    assert commands.patiently(action, threading.Event()) == "there"
    assert commands.trouble == "still"


def test_who_is_closed_waits_no_longer() -> None:
    closed = threading.Event()
    closed.set()

    def action() -> None:
        raise SlurmAway("away")

    with pytest.raises(SlurmAway):
        SlurmCommands().patiently(action, closed)
