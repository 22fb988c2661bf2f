"""Notes on a run's training config (old spellings, keys without effect), told where the run is looked at."""

import logging
from collections.abc import Sequence

import dagster as dg

from translations_assets.config.errors import Problem

NOTES_TAG = "translations/notes"  # how many there are, among the tags by which the UI lists runs


def tell_notes(
    instance: dg.DagsterInstance, run_id: str, log: logging.Logger, notes: Sequence[Problem]
) -> None:
    """Write the notes into a run's log, and their number into its tags; nothing when there are none."""
    if not notes:
        return
    for note in notes:
        log.info(f"note: {note}")
    instance.add_run_tags(run_id, {NOTES_TAG: f"{len(notes)} in the log"})


def notes_table(notes: Sequence[Problem]) -> dg.MetadataValue:
    """The notes as metadata: line, key, what is to be known."""
    rows = [f"| {note.line or ''} | `{note.key}` | {_cell(note.message)} |" for note in notes]
    return dg.MetadataValue.md("\n".join(["| line | key | note |", "|---|---|---|", *rows]))


def _cell(text: str) -> str:
    return text.replace("|", r"\|")
