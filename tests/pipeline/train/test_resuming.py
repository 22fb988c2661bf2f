"""A training that was interrupted twice is, in the end, the one that was not interrupted (real Marian)."""

import json
import re
import signal
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from pipeline.common.lines import write_lines
from pipeline.train.checkpoints import FEED, PROGRESS, find_fault
from tests.patience import PATIENCE
from tests.pipeline.train import tiny
from tests.pipeline.train.training import (
    QUICK,
    SMALL_CURRICULUM,
    keeping_all_sets,
    metrics,
    newest_update,
    running,
    train,
)

pytestmark = [pytest.mark.marian, pytest.mark.slow]

# Asked for: saves that fall on validations. The learning rate rises for 40 updates, then falls.
OFTEN = {**QUICK, "disp-freq": 1, "save-freq": 10, "valid-freq": 10, "early-stopping": 0, "lr-warmup": 40}
OFTEN |= {"lr-decay-inv-sqrt": 40, "learn-rate": 0.002, "beam-size": 1, "normalize": 1}


class Trained(NamedTuple):
    """The training that was interrupted twice, all its sets, the logs of its going on; and the other one."""

    interrupted: Any
    whole: Any
    sets: list[Path]
    updates: list[int]
    logs: list[str]


def interrupt(folder: Path, how: signal.Signals, saves: int) -> None:
    """Train in a folder, from its newest set, until there are so many new saves; end it by a signal.

    SIGTERM comes while Marian validates, after the next update that is due.
    """
    begun = newest_update(folder) if (folder / "sets").exists() else 0
    given = {**keeping_all_sets(folder), "TRANSLATIONS_GRACE": "60"}  # a loaded machine saves slowly
    with running(folder, dev_set(folder), given, OFTEN) as process:
        deadline = time.monotonic() + PATIENCE
        while newest(folder) < begun + 11 * saves or (how == signal.SIGTERM and not validates(folder)):
            assert time.monotonic() < deadline, (folder / "log").read_text()
            time.sleep(0.02)
        process.send_signal(how)
        assert process.wait(timeout=PATIENCE) in (75, -signal.SIGKILL)
    for path in (folder / "out").glob("*"):  # what a killed process could not remove
        assert path.name == ".staging"
        path.rename(folder / f"left-by-{how.name}")


def dev_set(folder: Path) -> dict[str, object]:
    """A text that Marian takes a second to validate on."""
    options: dict[str, object] = {}
    for number, side in enumerate(("dev-src", "dev-trg")):
        options[side] = folder / f"{side}.zst"
        write_lines(folder / f"{side}.zst", (pair[number].strip() for pair in tiny.pairs(150, seed=3)))
    return options


def validates(folder: Path) -> bool:
    """True if the last line of Marian's log is that of an update after which it validates."""
    lines = re.findall(r"Ep\. \d+ : Up\. (\d+) : (\S+)", (folder / "log").read_text())
    update, what = lines[-1]
    return int(update) % 10 == 0 and what == "Sen."


def newest(folder: Path) -> int:
    """The update of the newest set, 0 before there is one."""
    return max((int(path.name.split("-")[-1]) for path in folder.glob("sets/0*")), default=0)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """Interrupted first by SIGTERM, then by SIGKILL; and once not at all."""
    folder, other = tmp_path_factory.mktemp("interrupted"), tmp_path_factory.mktemp("whole")
    updates, logs = [], []
    for how in (signal.SIGTERM, signal.SIGKILL):
        interrupt(folder, how, saves=2)
        updates.append(newest(folder))
        logs.append((folder / "log").read_text())
    end = updates[-1] + 30
    kept = {"TRANSLATIONS_CHECKPOINTS": folder / "sets", **keeping_all_sets(folder)}
    done = train(folder, {**OFTEN, "after": f"{end}u"}, dev_set(folder), env=kept)
    assert done.returncode == 0, done.stderr
    whole = train(other, {**OFTEN, "after": f"{end}u"}, dev_set(other))
    assert whole.returncode == 0, whole.stderr
    sets = sorted((folder / "sets").glob("0*"))
    return Trained(metrics(folder), metrics(other), sets, updates, [*logs[1:], done.stderr])


def of_kind(facts: Any, kind: str) -> list[Any]:
    """The points of a curve that are of a kind."""
    return [point for point in facts["curve"] if point["kind"] == kind]


def test_it_reaches_the_same_update_count(trained: Trained) -> None:
    assert trained.interrupted["updates"] == trained.whole["updates"] == trained.updates[-1] + 30
    begun = [log.split("Going on from checkpoint ")[1].split()[0] for log in trained.logs]
    assert [int(name.split("-")[-1]) for name in begun] == trained.updates
    assert "damaged" not in "".join(trained.logs)


def test_a_stop_within_a_validation_costs_no_update(trained: Trained) -> None:
    (cut,) = (kept for kept in trained.sets if json.loads((kept / FEED).read_text())["unvalidated"])
    assert int(cut.name.split("-")[-1]) == trained.updates[0]
    assert trained.updates[0] % 10 == 0
    assert (
        f"The validation of update {trained.updates[0]} was cut short and is made up for" in trained.logs[0]
    )


def test_the_learning_rate_is_the_same_at_each_update(trained: Trained) -> None:
    rates = [
        [(point["update"], point["learn_rate"]) for point in of_kind(facts, "train")]
        for facts in (trained.interrupted, trained.whole)
    ]
    assert rates[0] == rates[1]
    assert [update for update, _ in rates[0]] == list(range(1, trained.whole["updates"] + 1))


def test_no_validation_is_lost_or_doubled(trained: Trained) -> None:
    validated = [
        [point["update"] for point in of_kind(facts, "valid")]
        for facts in (trained.interrupted, trained.whole)
    ]
    assert validated[0] == validated[1]
    assert validated[0] == [*range(10, trained.whole["updates"], 10), trained.whole["updates"]]
    names = {"kind", "update", *trained.whole["best"]}
    assert all(set(point) == names for point in of_kind(trained.interrupted, "valid"))


def test_the_curve_goes_forward_without_a_jump(trained: Trained) -> None:
    """At an interruption the cost changes as it does elsewhere: that of a training anew would jump.

    The half more is for chance: the largest of sixty steps is at an interruption once in thirty trainings.
    """
    curve = trained.interrupted["curve"]
    assert [point["update"] for point in curve] == sorted(point["update"] for point in curve)
    costs = {point["update"]: point["cost"] for point in of_kind(trained.interrupted, "train")}
    steps = {update: abs(costs[update] - costs[update - 1]) for update in list(costs)[1:]}
    at_interruptions = [steps.pop(update + 1) for update in trained.updates]
    assert max(at_interruptions) <= 1.5 * max(steps.values())
    assert costs[trained.updates[0] + 1] < costs[1] - 0.3
    whole = {point["update"]: point["cost"] for point in of_kind(trained.whole, "train")}
    assert all(abs(costs[update] - whole[update]) < 0.5 for update in costs)


def test_patience_and_best_scores_go_on(trained: Trained) -> None:
    """Marian's record of its validations agrees with the curve of all of them."""
    progress = yaml.safe_load((trained.sets[-1] / PROGRESS).read_text())
    scores = [point["chrf"] for point in of_kind(trained.interrupted, "valid")]
    recorded = progress["validators"]["chrf"]
    assert recorded["last-best"] == pytest.approx(max(scores), rel=1e-5)
    assert recorded["stalled"] == len(scores) - 1 - scores.index(max(scores))
    assert trained.interrupted["best"]["chrf"]["score"] == max(scores)


def test_text_is_read_again_only_as_far_as_it_was_read_ahead(trained: Trained) -> None:
    """The feed goes on at most a batch of its own before the lines that Marian had trained on."""
    looked_at = 0
    for kept in trained.sets:
        assert find_fault(kept) is None
        place = json.loads((kept / FEED).read_text())
        if place["feed"] is not None:
            samples = yaml.safe_load((kept / PROGRESS).read_text())["samples"]
            assert 0 <= samples - place["lines"] < SMALL_CURRICULUM["batch-size"]
            looked_at += 1
    assert looked_at >= 4


def test_no_set_lacks_a_validation(trained: Trained) -> None:
    """Asked for saves on validations, it saves at other updates."""
    saved = [int(kept.name.split("-")[-1]) for kept in trained.sets]
    assert 11 in saved
    for kept in trained.sets:
        update = int(kept.name.split("-")[-1])
        update -= json.loads((kept / FEED).read_text())["unvalidated"]
        points = [json.loads(line) for line in (kept / "curve.jsonl").read_text().splitlines()]
        validated = [point["update"] for point in points if point["kind"] == "valid"]
        assert [number for number in validated if number <= update] == list(range(10, update + 1, 10)) or (
            update == trained.whole["updates"]
        )
