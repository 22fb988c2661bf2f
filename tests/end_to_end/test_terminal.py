"""Tests of a run on a terminal, by the command that people type."""

from pathlib import Path

import pytest

from tests.end_to_end.tiny import BIN, PARTITION, make_place
from tests.patience import PATIENCE
from tests.terminal import Terminal

pytestmark = [pytest.mark.slow, pytest.mark.marian]

# A teacher reads its text without end, and needs no backwards model where there is nothing to translate back
ENDLESS = ("--set=marian-args.training-teacher.after=100000u", "--set=datasets.mono-trg=[]")


def test_the_lower_lines_follow_a_training_and_an_interrupt_is_no_traceback(tmp_path: Path) -> None:
    place = make_place(tmp_path / "place")
    command = [str(BIN / "translations"), "train", PARTITION, "--target", "train_teacher", *ENDLESS]
    with Terminal(command, place.environment, place.root) as terminal:
        terminal.read_until("Start", PATIENCE)
        terminal.type("\r")
        (first, *_) = terminal.read_until(r"([\d,]+) of 100,000 updates, [\d,]+ words/s, cost", 5 * PATIENCE)
        terminal.read_until(rf"(?!{first} )\b[\d,]+ of 100,000 updates.* chrf ", PATIENCE)
        terminal.read_until(r"train-teacher-en-eo-1  \d+ s, about .* left", PATIENCE)
        terminal.read_until(r"[1-9]/\d+ steps  [1-9]\d* done  1 running", PATIENCE)
        terminal.type("\x03")
        assert terminal.exit_code(PATIENCE) == 130
    (update,) = terminal.read_until(r"train-teacher-en-eo-1 will go on from (update [\d,]+)\.", 0)
    (run,) = terminal.read_until(r"To go on: translations rerun (\w{8})", 0)
    for words in (("status", run), ("plan", PARTITION, "--target", "train_teacher", *ENDLESS)):
        said = place.run("translations", *words).stdout
        assert f"    train-teacher-en-eo-1 continues from {update}\n" in said
    assert "Traceback" not in terminal.said
    assert "KeyboardInterrupt" not in terminal.said
