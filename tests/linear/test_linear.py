"""The checker knows what cannot have happened; and what processes see of a bucket can have."""

from __future__ import annotations

from math import inf
from typing import Any, get_args

import pytest

from tests.linear.__main__ import Service, histories_of
from tests.linear.checker import Model, Operation, explained, least
from tests.linear.models import Lease, Refs, Step

PERIOD = 1.0


def commit(name: str, result: Any, called: float, returned: float, generation: int = 1) -> Operation:
    return Operation(name, "commit", (generation, name), result, called, returned)


def latest(result: list[Any], called: float, returned: float) -> Operation:
    return Operation("reader", "latest", None, result, called, returned)


def lease(who: str, kind: str, result: Any, called: float, returned: float) -> Operation:
    return Operation(who, kind, None, result, called, returned)


def add(name: str, called: float, returned: float = inf) -> Operation:
    return Operation("writer", "add", name, True if returned < inf else None, called, returned)


def refs(result: list[str], called: float, returned: float) -> Operation:
    return Operation("reader", "refs", None, result, called, returned)


POSSIBLE: dict[str, tuple[Model, list[Operation]]] = {
    "of two at once one is first": (Step(), [commit("a", "b", 0, 9), commit("b", "b", 1, 2)]),
    "who reads meanwhile may see either": (
        Step(),
        [commit("a", "a", 0, 9), latest([], 1, 2), latest([1, "a"], 3, 4)],
    ),
    "what is not answered may be done late": (
        Step(),
        [commit("a", None, 0, inf), latest([], 1, 2), commit("b", "a", 3, 4)],
    ),
    "what is not answered may never be done": (
        Step(),
        [commit("a", None, 0, inf), commit("b", "b", 3, 4), latest([1, "b"], 5, 6)],
    ),
    "a generation is over an earlier one": (
        Step(),
        [commit("a", "a", 0, 1, generation=2), commit("b", "b", 2, 3), latest([2, "a"], 4, 5)],
    ),
    "refs are all that were added": (Refs(), [add("a", 0, 1), add("b", 0), refs(["a"], 2, 3)]),
    "a lease is taken over after three periods": (
        Lease(PERIOD),
        [
            lease("a", "acquire", 1, 0, 0.1),
            lease("b", "acquire", 0, 1, 2),
            lease("b, again", "acquire", 2, 3, 3.2),
        ],
    ),
    "a lease is given back": (
        Lease(PERIOD),
        [
            lease("a", "acquire", 1, 0, 0.1),
            lease("a", "release", None, 1, inf),
            lease("b", "acquire", 2, 1.1, 1.2),
        ],
    ),
    "who was overtaken is told": (
        Lease(PERIOD),
        [lease("a", "acquire", 1, 0, 0.1), lease("b", "acquire", 2, 3, 4), lease("a", "renew", False, 5, 6)],
    ),
}
IMPOSSIBLE: dict[str, tuple[Model, list[Operation]]] = {
    "two manifests count": (Step(), [commit("a", "a", 0, 1), commit("b", "b", 2, 3)]),
    "a manifest is gone again": (Step(), [commit("a", "a", 0, 1), latest([], 2, 3)]),
    "a reader sees it, and a later one does not": (
        Step(),
        [commit("a", "a", 0, 9), latest([1, "a"], 1, 2), latest([], 3, 4)],
    ),
    "what is read was never written": (Step(), [latest([1, "a"], 0, 1)]),
    "a ref is missing": (Refs(), [add("a", 0, 1), refs([], 2, 3)]),
    "a ref comes and goes": (Refs(), [add("a", 0), refs(["a"], 1, 2), refs([], 3, 4)]),
    "a lease is taken over too early": (
        Lease(PERIOD),
        [
            lease("a", "acquire", 1, 0, 0.1),
            lease("a", "renew", True, 1, 1.1),
            lease("b", "acquire", 2, 3, 3.9),
        ],
    ),
    "a lease is renewed over another's": (
        Lease(PERIOD),
        [lease("a", "acquire", 1, 0, 0.1), lease("b", "acquire", 2, 3, 4), lease("a", "renew", True, 5, 6)],
    ),
    "a token is no greater": (
        Lease(PERIOD),
        [lease("a", "acquire", 2, 0, 0.1), lease("b", "acquire", 2, 3, 4)],
    ),
    "an owner is told that it is none": (
        Lease(PERIOD),
        [lease("a", "acquire", 1, 0, 0.1), lease("a", "renew", False, 1, 2)],
    ),
}


@pytest.mark.parametrize("name", POSSIBLE)
def test_what_can_have_happened_is_explained(name: str) -> None:
    model, history = POSSIBLE[name]
    order = explained(history, model)
    assert order is not None
    assert all(one in order for one in history if one.is_known)


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_cannot_have_happened_is_not_explained(name: str) -> None:
    model, history = IMPOSSIBLE[name]
    assert explained(history, model) is None
    assert {one.called for one in least(history, model)} <= {one.called for one in history}


def test_the_shortest_wrong_beginning_is_shown() -> None:
    wrong = [commit("a", "a", 0, 1), latest([], 2, 3)]
    assert least([*wrong, commit("b", "a", 4, 5), latest([1, "a"], 6, 7)], Step()) == wrong


@pytest.mark.slow
@pytest.mark.parametrize("service", get_args(Service))
def test_what_processes_see_of_a_bucket_is_linearizable(service: Service) -> None:
    """Requests that fail, or whose answers are lost or late, and processes that are stopped and killed."""
    with histories_of(service, seed=7) as histories:
        for _ in range(3):
            histories.judge(histories.make())
        found = histories.figures
    assert found.wrong == []
    assert sum(found.operations.values()) > 30  # the slower the machine, the earlier a process is killed
    assert found.happened.total() > 20
