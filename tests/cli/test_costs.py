"""Tests of hours, money and energy in `plan` and `status`, and of the budget that they are held against."""

import json
import re
import subprocess
import threading
from pathlib import Path

import pytest

from tests.cli.conftest import Command, make
from tests.defs.runner import MadeUpRunner
from tests.end_to_end.tiny import PARTITION, Place
from translations_assets.cli.common import forecast_of
from translations_assets.common.settings import repository_root
from translations_assets.project import this_project
from translations_assets.records.cost import Cost
from translations_assets.records.run import RunOptions

COSTS = """
costs: {currency: EUR, worker-classes: {large-cpu: {price: 2, watts: 150}}}
"""


def test_what_a_run_costs_is_said_by_worker_class(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deployment.yml").write_text(COSTS)
    monkeypatch.setenv("TRANSLATIONS_DEPLOYMENT", str(tmp_path / "deployment.yml"))
    make("train_vocab", runner=MadeUpRunner(seconds=3600))
    ask = ("plan", PARTITION, "--target", "train_vocab", "--start", "merge_corpus")
    *_, dear, cheap, line = command(*ask).out.splitlines()
    assert dear == "large-cpu  2 steps, 2.0 h, 4.0 EUR, 0.30 kWh, 1 MB of disk"
    assert cheap == "cpu        2 steps, 3 s, 1 MB of disk"  # by an estimate; it has no price
    assert line == (
        "8 steps: 4 cached, 4 run; about 2.0 h (2.0 h of CPU), 4.0 EUR, 0.30 kWh, from past durations, "
        "2 steps by an estimate"
    )
    costs = json.loads(command(*ask, "--json").out)["costs"]
    assert costs["large-cpu"] == {
        "steps": 2,
        "steps_without_a_past_duration": 0,
        "steps_by_an_estimate": 0,
        "at_least": {"hours": 2, "cpu_hours": 2, "gpu_hours": 0, "money": 4, "kwh": 0.3},
        "at_most": {"hours": 2, "cpu_hours": 2, "gpu_hours": 0, "money": 4, "kwh": 0.3},
        "disk_gb": pytest.approx(0, abs=0.001),  # what they read; nothing was written
        "currency": "EUR",
    }
    assert costs["cpu"]["steps_by_an_estimate"] == 2


def priced(*classes: str) -> str:
    """A deployment file with the prices of some worker classes."""
    return f"costs: {{worker-classes: {{{', '.join(f'{name}: {{price: 1}}' for name in classes)}}}}}\n"


def test_a_budget_needs_prices(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = command("plan", PARTITION, "--budget", "5")
    assert said.code == 1
    assert "--budget needs prices: give `costs` in the deployment file" in said.err
    (tmp_path / "deployment.yml").write_text(priced("cpu", "large-cpu", "gpu", "large-gpu"))
    monkeypatch.setenv("TRANSLATIONS_DEPLOYMENT", str(tmp_path / "deployment.yml"))
    assert command("plan", PARTITION, "--budget", "5").code == 0
    for amount in ("-5", "0"):
        assert "--budget must be more than 0" in command("plan", PARTITION, "--budget", amount).err


def test_a_budget_needs_the_price_of_each_machine(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deployment.yml").write_text(priced("cpu", "large-cpu"))
    monkeypatch.setenv("TRANSLATIONS_DEPLOYMENT", str(tmp_path / "deployment.yml"))
    assert command("plan", PARTITION, "--target", "merge_corpus", "--budget", "5").code == 0
    said = command("plan", PARTITION, "--budget", "5")
    assert said.code == 1
    assert (
        "give costs.worker-classes.gpu in the deployment file, 0 for machines that cost nothing" in said.err
    )


def test_the_forecast_stands_beside_what_a_run_took(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deployment.yml").write_text(
        "costs: {currency: EUR, worker-classes: {large-gpu: {price: 8, watts: 2000}}}\n"
    )
    monkeypatch.setenv("TRANSLATIONS_DEPLOYMENT", str(tmp_path / "deployment.yml"))
    make("train_backwards", runner=MadeUpRunner(seconds=3600, gpus=4))
    project = this_project()
    session = project.session("run-2", PARTITION, RunOptions(start="train_backwards"))
    pairs, training = session.graph.stages["train_backwards"]
    forecast_of(session, session.plan(session.graph.step_closure([training])))
    assert session.expected == {
        pairs.label: Cost(3600, 3600),
        training.label: Cost(3600, 0, 4 * 3600, money=8, kwh=2),
    }
    project.__dict__["runner"] = MadeUpRunner(seconds=2700, gpus=2)
    project.engine.run(session, [pairs, training], threading.Event(), lambda event: None)
    project.end_sessions("run-2")
    said = command("status", "run-2")
    assert (
        "Forecast for the 2 steps that it made: 2.0 h, 4.0 h of GPU, 8.0 EUR, 2.0 kWh; they took 90 min "
        "(-25 %), 90 min of GPU (-62 %), 6.0 EUR (-25 %), 1.5 kWh (-25 %)\n"
    ) in said.out
    found = json.loads(command("status", "run-2", "--json").out)
    assert found["forecast"] == {
        "steps": 2,
        "expected": {"hours": 2, "cpu_hours": 1, "gpu_hours": 4, "money": 8, "kwh": 2},
        "taken": {"hours": 1.5, "cpu_hours": 0.75, "gpu_hours": 1.5, "money": 6, "kwh": 1.5},
        "currency": "EUR",
    }
    rows = {row["label"]: row["cost"] for row in found["steps"] if row["state"] == "finished"}
    assert rows == {
        pairs.label: {"hours": 0.75, "cpu_hours": 0.75, "gpu_hours": 0, "money": 0, "kwh": 0},
        training.label: {"hours": 0.75, "cpu_hours": 0, "gpu_hours": 1.5, "money": 6, "kwh": 1.5},
    }
    monkeypatch.delenv("TRANSLATIONS_DEPLOYMENT")
    said = command("status", "run-2")  # without prices
    assert "that it made: 2.0 h, 4.0 h of GPU; they took 90 min (-25 %), 90 min of GPU (-62 %)\n" in said.out


# The command line, whose steps are made up: each takes a moment
MADE_UP = """
from tests.defs.runner import MadeUpRunner
from translations_assets.cli.main import main
from translations_assets.project import Project
from translations_assets.why.estimates import Estimates

Estimates.of = lambda self, step, read: None  # as of what reads a text of unknown size
Project.runner = MadeUpRunner()
main()
"""
SPENT = r"The run has spent ([\d,]+\.\d\d) EUR, [\d,]+\.\d\d EUR more than its budget of 0\.01 EUR\."


@pytest.mark.slow
def test_a_gate_that_was_not_begun_for_want_of_budget_is_no_success(place: Place, tmp_path: Path) -> None:
    """A vocabulary of which nothing is known takes all; its gates, of level `warn`, are not computed."""
    prices = ", ".join(f"{name}: {{price: 1.0e9}}" for name in ("cpu", "large-cpu"))
    deployment = tmp_path / "deployment.yml"
    deployment.write_text(f"costs: {{currency: EUR, worker-classes: {{{prices}}}}}\n")
    make("merge_corpus", checks=True)
    places = {"TRANSLATIONS_DEPLOYMENT": str(deployment), "PYTHONPATH": str(repository_root())}

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        return place.run("python", "-c", MADE_UP, *words, **places)

    said = call("train", PARTITION, "--target", "train_vocab", "--yes", "--budget", "0.01")
    assert said.returncode == 1, said.stderr
    run = re.search(r"Run (\w{8}):", said.stdout)
    assert run
    assert "Gates not computed: vocabulary, vocabulary_case." in said.stdout
    spent = re.search(SPENT, said.stderr)
    assert spent
    assert float(spent[1].replace(",", "")) > 0.01
    status = call("status", run[1])
    assert re.search(r"^check_train_vocab +1 failed", status.stdout, re.MULTILINE), status.stdout
    assert "not begun: the run's budget of 0.01 EUR is spent: " in status.stdout
    assert spent[0] in status.stdout
    assert re.search(rf"run {run[1]}\S* of {PARTITION}: failed", status.stdout)
    again = call("rerun", run[1], "--yes")  # with as much again
    assert again.returncode == 0, again.stderr
    assert "Done." in again.stderr + again.stdout
