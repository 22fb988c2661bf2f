"""Readers of what `translations tensorboard` and `wandb --offline` write; curves as the store has them."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from wandb.proto import wandb_internal_pb2

BLOCK, HEADER = 1 << 15, 7  # of wandb's file of records, which are in the form of LevelDB's log
LAST = (1, 4)  # kinds of a record's last piece
RECORD: Any = vars(wandb_internal_pb2)["Record"]  # which its stubs do not know

Curve = list[tuple[int, dict[str, float]]]


def curve_of(points: Sequence[Mapping[str, Any]]) -> Curve:
    """A training's curve in its metrics.json by update: `train/cost`, `valid/chrf`."""
    by_update: dict[int, dict[str, float]] = {}
    for point in points:
        for name, value in point.items():
            if name not in ("kind", "update") and value is not None:
                by_update.setdefault(point["update"], {})[f"{point['kind']}/{name}"] = value
    return sorted(by_update.items())


def by_name(curve: Curve) -> dict[str, list[tuple[int, float]]]:
    found: dict[str, list[tuple[int, float]]] = {}
    for update, numbers in curve:
        for name, value in numbers.items():
            found.setdefault(name, []).append((update, value))
    return found


def in_tensorboard(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """A run as TensorBoard's own reader reads it: name → updates and numbers."""
    read = EventAccumulator(str(folder)).Reload()
    return {tag: [(one.step, one.value) for one in read.Scalars(tag)] for tag in read.Tags()["scalars"]}


def records(path: Path) -> Iterator[Any]:
    """The records of wandb's file of a run, which its programs read."""
    data, at, whole = path.read_bytes(), HEADER, b""
    assert data.startswith(b":W&B")
    while at < len(data):
        if (left := BLOCK - at % BLOCK) < HEADER:
            at += left
            continue
        size, kind = struct.unpack("<4xHB", data[at : at + HEADER])
        whole += data[at + HEADER : at + HEADER + size]
        at += HEADER + size
        if kind in LAST:
            yield RECORD.FromString(whole)
            whole = b""


def numbers(items: Any) -> dict[str, Any]:
    """Numbers given to wandb in a record, without its additions."""
    found = {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in items}
    return {name: value for name, value in found.items() if not name.startswith("_")}


def in_wandb(folder: Path) -> dict[str, tuple[Any, Curve, dict[str, Any]]]:
    """Name of each run → its first record, its curve, and what is told once."""
    found = {}
    for path in folder.glob("offline/*/*/wandb/offline-run-*/*.wandb"):
        read = [*records(path)]
        (run,) = (record.run for record in read if record.WhichOneof("record_type") == "run")
        rows = [record.history for record in read if record.WhichOneof("record_type") == "history"]
        told: dict[str, Any] = {}
        for record in read:
            told |= numbers(record.summary.update)
        assert run.display_name not in found
        found[run.display_name] = (run, [(row.step.num, numbers(row.item)) for row in rows], told)
    return found
