"""Tests of an asset's progress while its steps run."""

from dataclasses import dataclass, field, replace
from typing import Any

import dagster as dg
import pytest

from translations_assets.defs.assets import OBSERVATION_SECONDS, AssetProgress
from translations_assets.graph.step import Step
from translations_assets.running import events
from translations_assets.running.events import StepEvent

STEP = Step("pipeline.train.train", "train-student-en-eo", "train_student", {}, {}, ("model.npz",))


@dataclass
class Log:
    """Collects lines by level."""

    lines: list[tuple[str, str]] = field(default_factory=list)

    events: list[dg.DagsterEvent] = field(default_factory=list)

    def log_dagster_event(self, level: str, text: str, event: dg.DagsterEvent) -> None:
        self.lines.append((level, text))
        self.events.append(event)


@dataclass
class Context:
    """As much of Dagster's context as is used."""

    partition_key: str = "en-eo"
    job_name: str = "all"
    log: Log = field(default_factory=Log)
    events: list[dg.AssetObservation] = field(default_factory=list)

    def log_event(self, event: dg.AssetObservation) -> None:
        self.events.append(event)

    def values(self) -> list[dict[str, Any]]:
        return [{name: value.value for name, value in event.metadata.items()} for event in self.events]


@pytest.fixture
def context() -> Context:
    return Context()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time now, in a list of one."""
    now = [1000.0]
    monkeypatch.setattr("translations_assets.defs.assets.time.monotonic", lambda: now[0])
    return now


def listener(context: Context) -> AssetProgress:
    return AssetProgress(context, "train_student")  # type: ignore[arg-type]


def numbers(update: int, **others: Any) -> StepEvent:
    return StepEvent(STEP, events.Progress({"kind": "train", "update": update, **others}))


def test_numbers_are_observed_at_most_every_five_seconds(context: Context, clock: list[float]) -> None:
    with listener(context) as told:
        for second in range(21):
            clock[0] = 1000.0 + second
            told(numbers(second))
    assert [value["update"] for value in context.values()] == [0, 5, 10, 15, 20]
    assert OBSERVATION_SECONDS == 5


def test_the_last_numbers_are_not_lost(context: Context, clock: list[float]) -> None:
    with listener(context) as told:
        told(numbers(1))
        told(numbers(2, cost=3.5))
        assert len(context.events) == 1
    assert context.values()[-1] == {"update": 2, "cost": 3.5, "step": STEP.label}


def test_the_last_numbers_are_not_lost_when_the_step_fails(context: Context, clock: list[float]) -> None:
    def diverge() -> None:
        with listener(context) as told:
            told(numbers(1))
            told(numbers(2))
            raise RuntimeError("diverged")

    with pytest.raises(RuntimeError, match="diverged"):
        diverge()
    assert context.values()[-1] == {"update": 2, "step": STEP.label}


def test_nothing_is_observed_twice(context: Context, clock: list[float]) -> None:
    with listener(context) as told:
        told(numbers(1))
    assert len(context.events) == 1


def test_an_observation_belongs_to_the_asset_and_partition(context: Context) -> None:
    with listener(context) as told:
        told(numbers(1, learn_rate=None, note="text"))
    (event,) = context.events
    assert (event.asset_key, event.partition) == (dg.AssetKey("train_student"), "en-eo")
    assert set(event.metadata) == {"update", "step"}  # only numbers make curves, under names without labels


def test_numbers_of_several_trainings_are_told_apart_by_their_places(
    context: Context, clock: list[float]
) -> None:
    """Whatever their labels are: plots compare partitions. What another script tells takes no place."""
    fetch, second = replace(STEP, script="pipeline.fetch", label="fetch"), replace(STEP, label="train-2")
    steps = [fetch, STEP, second]
    with AssetProgress(context, "train_student", steps=steps) as told:  # type: ignore[arg-type]
        for step, update in ((second, 7), (STEP, 5), (second, 8)):
            told(StepEvent(step, events.Progress({"update": update})))
    assert context.values()[-1] == {"update": 5, "step": STEP.label, "update (2)": 8, "step (2)": "train-2"}


def test_numbers_of_one_step_are_never_said_of_another(context: Context, clock: list[float]) -> None:
    with listener(context) as told:
        told(numbers(1, cost=3.5))
        told(StepEvent(replace(STEP, label="another"), events.Progress({"update": 2})))
    assert context.values()[-1] == {"update": 2, "step": "another"}


@pytest.mark.parametrize(
    ("event", "level", "text"),
    [
        (StepEvent(STEP, events.Started(), ("abc", 1)), "INFO", "train-student-en-eo: started"),
        (
            StepEvent(STEP, events.Waiting("waits for run a1")),
            "INFO",
            f"{STEP.label}: waits for run a1",
        ),
        (StepEvent(STEP, events.Notice("it has taken 9 EUR")), "WARNING", "it has taken 9 EUR"),
        (StepEvent(STEP, events.Retry("No network.")), "WARNING", "No network. Trying again."),
        (StepEvent(STEP, events.Failed("Why"), ("abc", 1)), "ERROR", f"{STEP.label}: failed"),
        (StepEvent(STEP, events.Cancelled()), "WARNING", "cancelled"),
        (StepEvent(STEP, events.Done()), "INFO", "done"),
    ],
)
def test_events_become_lines_of_the_log(context: Context, event: StepEvent, level: str, text: str) -> None:
    listener(context)(event)
    ((found_level, found_text),) = context.log.lines
    assert found_level == level
    assert text in found_text
    (logged,) = context.log.events
    telling = events.Waiting | events.Retry | events.Notice  # of a failure its asset tells
    message = event.what.message if isinstance(event.what, telling) else ""
    assert {name: value.value for name, value in logged.engine_event_data.metadata.items()} == {
        "event": event.what.kind,
        "step": STEP.label,
        **({"message": message} if message else {}),
        **({"log": "/step-logs/abc/1"} if event.log else {}),
    }


def test_cached_steps_are_silent(context: Context) -> None:
    listener(context)(StepEvent(STEP, events.Cached()))
    assert context.log.lines == []


def test_other_listeners_get_everything(context: Context) -> None:
    seen: list[StepEvent] = []
    event = StepEvent(STEP, events.Done())
    AssetProgress(context, "train_student", [seen.append])(event)  # type: ignore[arg-type]
    assert seen == [event]
