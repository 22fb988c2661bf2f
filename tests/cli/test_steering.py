"""`--set`, `--start`, `--previous-run`: what a person asks of one run, before it starts."""

import json
from typing import Any

import pytest

from tests.cli.conftest import Command, make
from tests.end_to_end.tiny import PARTITION

STUDENT = "marian-args.training-student"


def planned(command: Command, *words: str) -> dict[str, dict[str, Any]]:
    """Label → step of the plan."""
    said = command("plan", PARTITION, "--json", *words)
    assert said.code == 0, said.err
    return {step["label"]: step for step in json.loads(said.out)["steps"]}


def not_cached(steps: dict[str, dict[str, Any]]) -> set[str]:
    return {label for label, step in steps.items() if step["status"] != "cached"}


def test_an_override_concerns_its_steps_and_no_others(command: Command) -> None:
    make("train_student", checks=True)
    words = ("--target", "train_student")
    assert not_cached(planned(command, *words)) == set()
    changed = planned(command, *words, "--set", f"{STUDENT}.after=77u")
    assert not_cached(changed) == {"train-student-en-eo"}
    assert changed["train-student-en-eo"]["status"] == "run"


def test_values_of_overrides_are_yaml(command: Command) -> None:
    said = command("graph", PARTITION, "--json", "--set", "experiment.spm-vocab-size=328")
    assert json.loads(said.out)["train-vocab-en-eo"]["task"]["args"]["vocab_size"] == 328


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        (f"{STUDENT}.after", "is not of the form KEY=VALUE"),
        ("experiment.spm-vocab-sise=8", "spm-vocab-size"),
        ("experiment.spm-vocab-size=many", "spm-vocab-size"),
        ("datasets.train=[oops", "--set datasets.train"),
    ],
)
def test_wrong_overrides_are_told(command: Command, setting: str, complaint: str) -> None:
    said = command("plan", PARTITION, "--set", setting)
    assert said.code == 1
    assert said.err.startswith("error: ")
    assert complaint in said.err


@pytest.mark.parametrize("name", ["train_student", "train-student"])
def test_a_stage_is_known_by_its_names(command: Command, name: str) -> None:
    make("train_student", checks=True)
    steps = planned(command, "--target", "train_student", "--start", name)
    assert not_cached(steps) == {"training-pairs-original-student-en-eo", "train-student-en-eo"}


def test_a_previous_runs_results_stand_for_the_stages_before_the_start(
    command: Command,
) -> None:
    make("train_student", checks=True)
    teacher = ("--set", "marian-args.training-teacher.after=99u")
    words = ("--target", "train_student", *teacher)
    assert "train-teacher-en-eo-1" in not_cached(planned(command, *words))
    steps = planned(command, *words, "--start", "train_student", "--previous-run", "ru")  # how it begins
    assert not_cached(steps) == {"training-pairs-original-student-en-eo", "train-student-en-eo"}
    said = command("plan", PARTITION, *words, "--start", "train_student", "--previous-run", "run-1")
    assert "train-teacher-en-eo-1: marian-args.training-teacher.after: 20u → 99u" in said.err


def test_another_vocabulary_is_refused(command: Command) -> None:
    make("train_student", checks=True)
    words = ("--start", "train_student", "--previous-run", "run-1", "--set", "experiment.spm-vocab-size=328")
    said = command("plan", PARTITION, "--target", "train_student", *words)
    assert said.code == 1
    assert "another vocabulary than this training config asks for (vocab_size)" in said.err
    forced = command("plan", PARTITION, "--target", "train_student", *words, "--force")
    assert forced.code == 0


def test_a_run_without_a_start_or_that_is_not_there_is_refused(command: Command) -> None:
    said = command("plan", PARTITION, "--previous-run", "run-1")
    assert (said.code, "add --start STAGE" in said.err) == (1, True)
    said = command("plan", PARTITION, "--previous-run", "run-9", "--start", "train_student")
    assert (said.code, "no run run-9" in said.err) == (1, True)


def test_a_start_after_the_target_is_refused(command: Command) -> None:
    said = command("plan", PARTITION, "--target", "train_teacher", "--start", "train_student")
    assert said.code == 1
    assert "--start train_student is after --target train_teacher" in said.err


def test_train_needs_of_a_previous_run_only_what_its_target_needs(command: Command) -> None:
    make("train_student", checks=True)  # and no shortlist, which only later stages read
    words = ("--target", "train_student", "--start", "train_student", "--previous-run", "run-1")
    said = command("train", PARTITION, *words)  # nobody answers its question, so nothing starts
    assert "do not fit" not in said.err
    assert "Start?" in said.out
