"""A teacher that cannot translate: distillation, the largest bill, does not begin."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.end_to_end.tiny import PARTITION, UPDATES, Place

pytestmark = [pytest.mark.slow, pytest.mark.marian]

COLLAPSED = f"{PARTITION}-collapsed"
BLOCKING = ("training-collapse", "teacher-floor", "translation-collapse")
WARN = [option for gate in BLOCKING for option in ("--set", f"checks.{gate}.level=warn")]
# The backwards model and what it translates are as bad.
ONLY_THE_FLOOR = [*WARN[:2], *WARN[4:]]


@pytest.fixture(scope="module")
def collapsed(trained: Place) -> Place:
    """A config whose models learn nothing, with the gates as they are by default; the rest is cached."""
    text = (trained.root / "configs" / f"{PARTITION}.yml").read_text()
    text = text.replace("learn-rate: 0.003", "learn-rate: 0").replace(f"after: {UPDATES}u", "after: 20u")
    text = text.replace("-freq: 100", "-freq: 20")
    (trained.root / "configs" / f"{COLLAPSED}.yml").write_text(text)
    return trained


def train(place: Place, *options: str) -> tuple[int, str]:
    done = place.run("translations", "train", COLLAPSED, "--target", "translate_corpus", "--yes", *options)
    return done.returncode, done.stdout + done.stderr


def checks(place: Place) -> dict[tuple[str, str], Any]:
    done = place.run(
        "translations", "checks", COLLAPSED, "--json", "--set", "checks.training-collapse.level=warn"
    )
    assert done.returncode == 1
    return {(check["asset"], check["check"]): check for check in json.loads(done.stdout)["checks"]}


def statuses(place: Place) -> dict[str, str]:
    done = place.run("translations", "plan", COLLAPSED, "--json")
    return {step["label"]: step["status"] for step in json.loads(done.stdout)["steps"]}


def translating(place: Place) -> set[str]:
    return {status for label, status in statuses(place).items() if label.startswith("translate-corpus")}


def test_a_backwards_model_that_cannot_translate_stops_its_teacher(collapsed: Place) -> None:
    status, said = train(collapsed)
    assert status == 1
    assert "training_collapse" in said
    assert statuses(collapsed)["train-backwards-en-eo"] == "cached"
    assert statuses(collapsed)["train-teacher-en-eo-1"] in ("run", "maybe")


def test_distillation_does_not_start_after_a_collapsed_teacher(collapsed: Place) -> None:
    """The floor alone stops it: the other gates are told to warn."""
    status, said = train(collapsed, *ONLY_THE_FLOOR)
    assert status == 1
    assert statuses(collapsed)["train-teacher-en-eo-1"] == "cached", said
    assert translating(collapsed) <= {"run", "maybe"}
    assert "teacher_floor" in said
    found = checks(collapsed)
    floor = found["train_teacher", "teacher-floor"]
    assert (floor["state"], floor["level"], floor["blocking"]) == ("failed", "error", True)
    assert floor["numbers"]["chrF"] < 20
    assert found["train_teacher", "translation-collapse"]["state"] == "failed"
    assert found["train_teacher", "training-collapse"]["state"] == "failed"


def test_people_may_go_on_all_the_same(collapsed: Place) -> None:
    status, said = train(collapsed, *WARN)
    assert status == 0, said
    assert translating(collapsed) == {"cached"}
