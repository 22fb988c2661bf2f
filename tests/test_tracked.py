"""Differences between tracked runs, and a run as TensorBoard reads it."""

from dataclasses import replace
from pathlib import Path

from tests.tracked import in_tensorboard
from translations_assets.tracking.event_files import write_event_files
from translations_assets.tracking.tracked import TrackedRun

RUN = TrackedRun("train-student", {"key": "a"}, [(100, {"train/cost": 3.0})], {"best/chrf": 50.0}, 1.0)


def test_a_run_that_tells_anything_else_is_another_one() -> None:
    others = [
        replace(RUN, name="train-teacher"),
        replace(RUN, config={"key": "b"}),
        replace(RUN, curve=[(100, {"train/cost": 3.1})]),
        replace(RUN, curve=[(200, {"train/cost": 3.0})]),
        replace(RUN, numbers={"best/chrf": 50.1}),
    ]
    assert len({run.identity for run in (RUN, *others)}) == 6
    assert replace(RUN, ended=2.0).identity == RUN.identity


def test_what_is_told_of_a_whole_run_stands_at_its_last_update(tmp_path: Path) -> None:
    run = replace(RUN, curve=[*RUN.curve, (200, {"train/cost": 2.0})])
    assert write_event_files([run], tmp_path) == 1
    (folder,) = (tmp_path / run.name).iterdir()
    assert in_tensorboard(folder) == {"train/cost": [(100, 3.0), (200, 2.0)], "best/chrf": [(200, 50.0)]}
