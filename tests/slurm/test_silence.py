"""The measure of a run's silence."""

from __future__ import annotations

from tests.slurm.silence import Silence

WAITS = "joined-3 cpu waiting: job 17 is held back (BeginTime), 12 s"


def heard(*lines: tuple[float, str]) -> Silence:
    one = Silence(_last=0.0)
    for now, line in lines:
        one.hear(line, now)
    return one


def test_silence_is_the_longest_time_without_a_word() -> None:
    one = heard((5.0, "texts-1 cpu started"), (54.0, "texts-1 cpu made"), (60.0, "texts-2 cpu made"))
    assert (one.longest, one.after) == (49.0, "texts-1 cpu started")


def test_time_until_the_next_word_of_waiting_is_no_silence() -> None:
    said = [(10.0, WAITS), (40.0, WAITS.replace("12", "42")), (45.0, "texts-1 cpu made")]
    assert heard(*said, (99.0, WAITS)).longest == 10.0
    assert heard(*said, (150.0, WAITS)).longest == 50.0, "the third word was due 100 s after the start"
