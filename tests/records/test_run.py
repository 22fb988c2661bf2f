"""Tests of a run's options as words of a command line: the same words ask for the same run."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from translations_assets.cli.common import overrides_of
from translations_assets.records.run import RunOptions

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
    options = RunOptions("train_teacher", "run-1", True, True, 2.5, True, AWKWARD)
    words = [*options.words()]
    assert words[:6] == [
        *("--start=train_teacher", "--previous-run=run-1", "--force", "--repair", "--budget=2.5"),
        "--hard-budget",
    ]
    assert overrides_of([word.removeprefix("--set=") for word in words[6:]]) == AWKWARD
    assert [*RunOptions().words()] == []
