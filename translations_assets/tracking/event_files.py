"""Runs as TensorBoard's event files: https://www.tensorflow.org/tensorboard, made after the fact.

TensorBoard shows numbers of 32 bits only, which is more than the digits that Marian logs.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from tensorboard.compat.proto.event_pb2 import Event, SourceMetadata
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

from translations_assets.common.whole_file import write_whole
from translations_assets.tracking.tracked import TrackedRun

FORMAT = "brain.Event:2"  # which TensorBoard's readers expect of the first record


def write_event_files(runs: Sequence[TrackedRun], folder: Path) -> int:
    """Write a file for each run that has none yet, in a folder of its own; how many were written.

    The folder's name begins with the run's: `train-student-en-ru/1a2b3c4d`. Raises OSError.
    """
    written = 0
    for run in runs:
        made = folder / run.name / run.identity[:8]
        path = made / f"events.out.tfevents.{run.ended:.0f}.{run.identity}"
        if not path.exists():
            made.mkdir(parents=True, exist_ok=True)
            write_whole(path, _contents(run))
            written += 1
    return written


def _contents(run: TrackedRun) -> bytes:
    """All events of a run. Marian's log lines have no times in the store: all get that of the run's end."""
    contents = BytesIO()
    writer = RecordWriter(contents)
    source = SourceMetadata(writer="translations-assets")
    writer.write(Event(wall_time=run.ended, file_version=FORMAT, source_metadata=source).SerializeToString())
    for update, numbers in [*run.curve, (_last(run), run.numbers)]:
        summary = Summary(value=[Summary.Value(tag=tag, simple_value=it) for tag, it in numbers.items()])
        writer.write(Event(wall_time=run.ended, step=update, summary=summary).SerializeToString())
    return contents.getvalue()


def _last(run: TrackedRun) -> int:
    return run.curve[-1][0] if run.curve else 0
