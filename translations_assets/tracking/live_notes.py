"""Notes on runs in Weights & Biases that got live numbers: the rest is told to the same run at the end."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from translations_assets.common.whole_file import write_whole
from translations_assets.records.canonical import json_digest
from translations_assets.records.checked import Record
from translations_assets.tracking.tracked import TrackedRun

FOLDER = "live"


@dataclass(frozen=True)
class LiveNote(Record):
    """A run that got live numbers: its id, how many updates it has numbers of, and the last of them."""

    identity: str
    updates: int
    last: int


def live_place(folder: Path, label: str, key: str, generation: int) -> Path:
    """Return the folder of a training that goes on, or has ended; `folder` is that of its pair's runs."""
    return folder / FOLDER / json_digest([label, key, generation])[:20]


def read_note(place: Path) -> LiveNote | None:
    """Read the note in a folder of `live_place`; None where there is none that can be read."""
    try:
        return LiveNote.from_dict(json.loads((place / "note.json").read_bytes()))
    except (OSError, ValueError):
        return None


def write_note(place: Path, note: LiveNote) -> None:
    """Write the note. Raises OSError."""
    write_whole(place / "note.json", json.dumps(note.to_dict()))


def live_identity(folder: Path, run: TrackedRun) -> str:
    """Return the id of the run that got a training's live numbers; "" where it lacks some of them.

    A run takes numbers by ascending updates only, so that what it lacks cannot be told later.
    """
    if "key" not in run.config:
        return ""
    note = read_note(live_place(folder, run.name, run.config["key"], run.config["generation"]))
    if note is None:
        return ""
    known = sum(update <= note.last for update, _ in run.curve)
    return note.identity if known == note.updates else ""
