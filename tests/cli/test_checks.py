"""`translations checks`."""

import json
from collections import Counter
from typing import Any

import pytest

from tests.checks import numbers
from tests.cli.conftest import Command, Said, make
from tests.defs.runner import MadeUpRunner
from tests.end_to_end.tiny import PARTITION
from translations_assets.checks.gates import GATES
from translations_assets.project import Project
from translations_assets.running.job import Outcome
from translations_assets.running.runner import Submission
from translations_assets.running.tasks import Work, at_once


def by_name(said: Said) -> dict[tuple[str, str], dict[str, Any]]:
    return {(found["asset"], found["check"]): found for found in json.loads(said.out)["checks"]}


@pytest.fixture
def leak(monkeypatch: pytest.MonkeyPatch) -> None:
    """Corpora that are made up have two lines of a test set."""
    sample = {"line": "A dog.", "held_out": "A dog.", "similarity": 1.0}
    side = numbers.side("en", held_out=numbers.held_out(exact=2, samples={"exact": [sample]}))
    monkeypatch.setitem(numbers.NUMBERS, "pipeline.checks.text", numbers.text(side, numbers.side("eo")))


def test_what_was_never_made_is_not_computed(command: Command) -> None:
    said = command("checks", PARTITION, "--json")
    found = by_name(said)
    assert said.code == 1
    assert f"not made: {len(GATES) - 1} of {len(GATES)} gates have no result" in said.err
    assert set(found) == {(gate.stage, gate.name) for gate in GATES}
    unasked = found.pop(("final_evaluation", "released-gap"))  # nothing has to be made for it
    assert unasked["description"] == ("nothing to judge: the training config compares with no released model")
    assert {check["state"] for check in found.values()} == {"not computed"}
    wanted = f"translations train {PARTITION} --target"
    assert all(wanted in check["description"] for check in found.values())


def test_what_was_computed_is_judged(command: Command) -> None:
    make("check_merge_corpus")
    said = command("checks", PARTITION, "--json")
    found = by_name(said)[("merge_corpus", "held-out-exact")]
    assert said.code == 1  # the others have no result
    assert (found["state"], found["level"], found["blocking"]) == ("passed", "error", True)
    assert (found["thresholds"], found["numbers"]) == ({"max-lines": 0}, {"lines, en": 0, "lines, eo": 0})


@pytest.mark.usefixtures("leak")
def test_an_error_is_exit_1(command: Command) -> None:
    make("check_merge_corpus")
    said = command("checks", PARTITION)
    assert said.code == 1
    assert "2 lines of at least five words" in said.out.replace("\n", " ")
    gates = by_name(command("checks", PARTITION, "--json"))
    states = Counter(gate["state"] for gate in gates.values())
    assert states["failed"] == 1
    assert len(gates) == len(GATES)
    counts = [
        f"{states[state]} {state}" for state in ("failed", "not computed", "passed", "nothing to judge")
    ]
    assert said.out.endswith(f"{len(GATES)} checks: {', '.join(counts)}; to list all: --all\n")
    found = gates[("merge_corpus", "held-out-exact")]
    assert (found["state"], found["samples"]) == ("failed", ["A dog."])


@pytest.mark.usefixtures("leak")
def test_failures_come_first_and_what_passes_is_counted(command: Command) -> None:
    make("evaluate_teacher", checks=True)
    said = command("checks", PARTITION)
    lines = said.out.splitlines()
    assert lines[0] == "failed  held-out-exact of merge_corpus  (level error)"
    assert lines[1].startswith("    2 lines of at least five words")
    assert max(map(len, lines)) <= 100
    heads = [line for line in lines if not line.startswith("    ")][:-1]
    states = [line.partition("  ")[0] for line in heads]
    assert states == sorted(states, key=("failed", "not computed").index)
    assert "language of merge_corpus" not in said.out  # it passes
    every = command("checks", PARTITION, "--all").out
    assert "\npassed  language of merge_corpus\n" in every
    assert "\nnothing to judge  released-gap of final_evaluation\n" in every
    assert max(map(len, every.splitlines())) <= 100


def test_gates_that_lack_the_same_are_told_together(command: Command) -> None:
    make("train_vocab")
    said = command("checks", PARTITION)
    ((names, *_),) = [
        block.splitlines()
        for block in said.out.split("not computed\n")
        if "vocabulary of train_vocab" in block
    ]
    assert names.strip() == "vocabulary of train_vocab, vocabulary-case of train_vocab"
    assert len(said.out.splitlines()) < 1.6 * len(GATES)  # each alone has two lines or more


@pytest.mark.usefixtures("leak")
@pytest.mark.parametrize(
    ("override", "state"),
    [
        ("checks.held-out-exact.level=warn", "failed"),
        ("checks.held-out-exact.level=off", "off"),
        ("checks.held-out-exact.max-lines=2", "passed"),
    ],
)
def test_levels_and_thresholds_can_be_overridden(command: Command, override: str, state: str) -> None:
    """Nothing runs again for it: no threshold is part of a key."""
    make("check_merge_corpus")
    said = command("checks", PARTITION, "--json", "--set", override)
    found = by_name(said)[("merge_corpus", "held-out-exact")]
    assert found["state"] == state
    assert said.err.count("\n") == 1
    assert found["description"].startswith(f"overridden for this run ({override.replace('=', ': ')}): ")


def test_numbers_that_are_missing_are_computed_when_what_they_need_is_there(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    make("train_vocab")
    monkeypatch.setattr(Project, "runner", MadeUpRunner())
    read = command("checks", PARTITION, "--json")
    assert by_name(read)["train_vocab", "vocabulary"]["state"] == "not computed"
    said = command("checks", PARTITION, "--json", "--make")
    assert "check-vocab-en-eo: waits until the runner has room for it" in said.err
    assert [line for line in said.err.splitlines() if line.endswith(": done")] == [
        "check-corpus-en-eo: done",
        "check-vocab-en-eo: done",
    ]
    states = {key: check["state"] for key, check in by_name(said).items()}
    assert (states["merge_corpus", "language"], states["train_vocab", "vocabulary"]) == ("passed", "passed")
    again = command("checks", PARTITION, "--json")
    assert again.out == said.out
    assert ": done" not in again.err


def test_a_computation_that_fails_is_a_failed_check(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing(MadeUpRunner):
        def run(self, submission: Submission) -> Work[Outcome]:
            return at_once(lambda: Outcome("failed", message="no room"))

    make("merge_corpus")
    monkeypatch.setattr(Project, "runner", Failing())
    said = command("checks", PARTITION, "--json", "--make")
    found = by_name(said)[("merge_corpus", "empty-lines")]
    assert (said.code, found["state"]) == (1, "failed")
    assert found["description"].startswith("The step check-corpus-en-eo failed: no room")


def test_plan_counts_the_checks_of_a_target(command: Command) -> None:
    said = command("plan", PARTITION, "--target", "merge_corpus", "--json")
    labels = [step["label"] for step in json.loads(said.out)["steps"]]
    assert labels[-1] == "check-corpus-en-eo"
    assert [label for label in labels if label.startswith("check-")] == ["check-corpus-en-eo"]
