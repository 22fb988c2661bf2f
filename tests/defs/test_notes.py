"""Notes on a config where its run is looked at: log, tags, metadata."""

import logging

import dagster as dg
import pytest

from translations_assets.config.errors import Problem
from translations_assets.defs.metadata import NOTES_TAG, notes_table, tell_notes

NOTES = [
    Problem("a key of 2024; read as hplt-min-fluency", "a.yml", 7, "experiment.min-fluency-threshold"),
    Problem("a|b stands in the list twice", "a.yml", None, "datasets.test[1]"),
]


@dg.job
def nothing() -> None:
    """A job of no steps."""


@pytest.mark.parametrize(
    ("notes", "tag", "said"),
    [
        (
            NOTES,
            "2 in the log",
            [
                "note: a.yml:7: experiment.min-fluency-threshold: a key of 2024; read as hplt-min-fluency",
                "note: a.yml: datasets.test[1]: a|b stands in the list twice",
            ],
        ),
        ([], None, []),
    ],
)
def test_notes_are_logged_and_counted_in_a_tag(
    notes: list[Problem], tag: str | None, said: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with dg.DagsterInstance.ephemeral() as instance:
        run = instance.create_run_for_job(nothing)
        tell_notes(instance, run.run_id, logging.getLogger("run"), notes)
        kept = instance.get_run_by_id(run.run_id)
        assert kept is not None
        assert kept.tags.get(NOTES_TAG) == tag
    assert [record.message for record in caplog.records if record.name == "run"] == said


def test_metadata_holds_a_table_of_notes() -> None:
    assert notes_table(NOTES).value == (
        "| line | key | note |\n|---|---|---|\n"
        "| 7 | `experiment.min-fluency-threshold` | a key of 2024; read as hplt-min-fluency |\n"
        "|  | `datasets.test[1]` | a\\|b stands in the list twice |"
    )
