"""Curves in TensorBoard's files and in those of Weights & Biases beside the store's: equal numbers, seconds.

    python -m benchmarks.tracking

Of the finished demo (`make demo`). Both are read back as their own programs read them; nothing is sent.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from benchmarks.timing import BIN, report, seconds
from tests.tracked import Curve, by_name, curve_of, in_tensorboard, in_wandb
from translations_assets.common.settings import repository_root
from translations_assets.project import this_project
from translations_assets.results.files import read_metrics
from translations_assets.results.known import known_results, read_each
from translations_assets.results.training import Training

PARTITION = "en-eo.demo"
RUNS = 3

Numbers = Mapping[tuple[str, str, int], float]  # training, name, update → number


def main() -> None:
    """Print the figures."""
    in_store, store = _in_store(), this_project().store.url.removeprefix("file://")
    times: dict[str, list[float]] = {"tensorboard": [], "wandb": []}
    with tempfile.TemporaryDirectory() as name:
        for number in range(RUNS):
            folder = Path(name) / str(number)
            environment = {"TRANSLATIONS_STORE": store, "TRANSLATIONS_STATE": str(folder / "state")}
            for command, options in (
                ("tensorboard", ["-o", str(folder / "curves")]),
                ("wandb", ["--offline"]),
            ):
                words = [str(BIN / "translations"), command, PARTITION, *options]
                times[command].append(seconds(words, environment, cwd=repository_root()))
        runs = (folder / "curves" / PARTITION).glob("*/*")
        shown = {
            (run.parent.name, tag, update): value
            for run in runs
            for tag, points in in_tensorboard(run).items()
            for update, value in points
        }
        sent = _numbers({run: curve for run, (_, curve, _) in in_wandb(folder / "state" / "wandb").items()})
    for command, values in times.items():
        report(f"translations {command}", values, "none")
    rounded = {place: float(np.float32(value)) for place, value in in_store.items()}
    print(f"TensorBoard (32 bits): {_equal(rounded, shown)} of {len(in_store)} numbers equal (bar: all)")
    print(f"Weights & Biases:      {_equal(in_store, sent)} of {len(in_store)} numbers equal (bar: all)")


def _in_store() -> Numbers:
    """The numbers of all curves in the store."""
    session = this_project().session("reading", PARTITION)
    found = read_each(session, known_results(session, session.graph.steps), read_metrics)
    curves = {
        step.label: [{"kind": point.kind, "update": point.update, **point.numbers} for point in value.curve]
        for step, value in found.items()
        if isinstance(value, Training)
    }
    return _numbers({label: curve_of(points) for label, points in curves.items()})


def _numbers(curves: Mapping[str, Curve]) -> Numbers:
    return {
        (label, name, update): value
        for label, curve in curves.items()
        for name, points in by_name(curve).items()
        for update, value in points
    }


def _equal(expected: Numbers, found: Numbers) -> int:
    return sum(found.get(place) == value for place, value in expected.items())


if __name__ == "__main__":
    main()
