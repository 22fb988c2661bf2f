"""Building a graph from stages."""

from types import SimpleNamespace
from typing import Any

import pytest

from translations_assets.common.errors import GraphError
from translations_assets.graph.stage import Stage, build_graph, stage, stage_order, step

CONFIG: Any = SimpleNamespace(target_stage="")  # these stages do not look at it


@stage(group="test")
def first(config: Any) -> Any:
    """Makes two files."""
    return [step("pipeline.a.b", label=f"first-{n}", outputs=["x.zst"])["x.zst"] for n in (1, 2)]


@stage(group="test")
def second(config: Any, first: Any) -> Any:
    """Reads both."""
    return step("pipeline.a.c", label="second", inputs={"texts": first, "none": None}, outputs=["y.zst"])


@stage(group="test")
def third(config: Any, first: Any) -> None:
    """Makes nothing."""


STAGES = {current.name: current for current in (third, second, first)}


def test_steps_come_after_what_they_read() -> None:
    graph = build_graph(CONFIG, STAGES)
    labels = [step.label for step in graph.steps]
    assert labels.index("first-2") < labels.index("second")
    assert graph.stages["third"] == ()
    assert [up.label for up in graph.step("second").upstream()] == ["first-1", "first-2"]


def test_an_input_that_is_none_is_left_out() -> None:
    assert list(build_graph(CONFIG, STAGES).step("second").inputs) == ["texts"]


def test_closures() -> None:
    graph = build_graph(CONFIG, STAGES)
    assert set(graph.stage_closure(["second"])) == {"first", "second"}
    assert set(graph.downstream_stages(["first"])) == {"first", "second", "third"}
    assert [step.label for step in graph.step_closure([graph.step("first-2")])] == ["first-2"]


def test_an_unknown_label_names_the_nearest() -> None:
    with pytest.raises(GraphError, match="Did you mean second"):
        build_graph(CONFIG, STAGES).step("secnd")


def test_two_steps_with_one_label_are_an_error() -> None:
    def twice(config: Any) -> None:
        step("pipeline.a.b", label="same", outputs=["x"])
        step("pipeline.a.b", label="same", outputs=["x"])

    with pytest.raises(GraphError, match="one label: same"):
        build_graph(CONFIG, {"twice": Stage("twice", "test", twice, ())})


def test_an_unknown_upstream_is_an_error() -> None:
    with pytest.raises(GraphError, match="takes nowhere"):
        stage_order({"one": Stage("one", "test", lambda config, nowhere: None, ("nowhere",))})


def test_a_cycle_is_an_error() -> None:
    one = Stage("one", "test", lambda config, two: None, ("two",))
    two = Stage("two", "test", lambda config, one: None, ("one",))
    with pytest.raises(GraphError, match="depend on each other"):
        stage_order({"one": one, "two": two})


def test_the_first_parameter_is_the_config() -> None:
    with pytest.raises(GraphError, match="must be `config`"):

        @stage(group="test")
        def wrong(first: Any) -> None:
            """Forgets its config."""
