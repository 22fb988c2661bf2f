"""Tests of how far a run is, by its record."""

from __future__ import annotations

from translations_assets.records.run import RunRecord

KEY = "ab" * 32


def test_steps_of_a_run_are_done_and_not_what_it_was_made_from() -> None:
    """A run that begins in the middle uses results that it was not asked to make."""
    uses = dict.fromkeys(("earlier-1", "earlier-2", "a"), (KEY, 1))
    record = RunRecord("run-1", "en-ru", steps={"train": {"a": KEY, "b": KEY}}, uses=uses)
    assert record.progress == (1, 2)
