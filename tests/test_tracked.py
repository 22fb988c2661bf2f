"""Differences between tracked runs."""

from dataclasses import replace

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
