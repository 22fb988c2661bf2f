"""Tests of a run's record, and of its options as words of a command line: the same words, the same run."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest

from translations_assets.cli.common import overrides_of
from translations_assets.records.cost import Cost
from translations_assets.records.run import RunOptions, RunRecord

AWKWARD: dict[str, Any] = {
    "experiment.name": "a b",
    "experiment.quoted": 'it\'s "so" $HOME `id` ; rm',
    "experiment.no": "no",
    "experiment.number": "1.0",
    "experiment.flag": True,
    "experiment.nothing": None,
    "experiment.share": 0.25,
    "datasets.train": ["opus_Books/v1", "url_https://example.org/a b.zst"],
    "marian-args.training-student": {"after": "50u", "mini-batch-fit": False},
    "experiment.russian": "весна",
    "experiment.equals": "a=b",
}


@pytest.mark.parametrize("key", AWKWARD)
def test_the_words_of_overrides_say_what_was_overridden(key: str) -> None:
    options = RunOptions(overrides={key: AWKWARD[key]})
    (typed,) = shlex.split(shlex.join(options.words()))
    assert typed.startswith("--set=")
    assert overrides_of([typed.removeprefix("--set=")]) == options.overrides


def test_all_options_have_their_words() -> None:
    options = RunOptions(
        start="train_teacher",
        previous_run="run-1",
        force=True,
        repair=True,
        budget=2.5,
        hard_budget=True,
        overrides=AWKWARD,
    )
    words = [*options.words()]
    assert words[:6] == [
        *("--start=train_teacher", "--previous-run=run-1", "--force", "--repair", "--budget=2.5"),
        "--hard-budget",
    ]
    assert overrides_of([word.removeprefix("--set=") for word in words[6:]]) == AWKWARD
    assert [*RunOptions().words()] == []


def test_an_older_program_reads_a_newer_runs_record() -> None:
    options, cost = RunOptions(start="train_teacher"), Cost(60.0, gpu_seconds=240.0)
    record = RunRecord("run-1", "en-ru", options=options, expected={"train-teacher-en-ru-1": cost})
    newer = json.loads(json.dumps(record.to_dict()))
    newer["colour"] = newer["options"]["slowly"] = "blue"
    newer["expected"]["train-teacher-en-ru-1"]["carbon"] = 3.0
    assert RunRecord.from_dict(newer) == record
