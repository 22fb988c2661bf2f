"""Works under way: they go on when their pause is over or when they are woken, and cost nothing meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from typing import Any

from tests.virtual_clock import VirtualClock
from translations_assets.running.tasks import Tasks, Wake, Work


class Works:
    """Works that tell when they go on, and what wakes them."""

    def __init__(self, pool: Executor | None = None) -> None:
        self.clock = VirtualClock()
        self.tasks: Tasks[str, str] = Tasks(pool or self.clock.pool(1, ""), self.clock)
        self.began = self.clock.now
        self.wakes: dict[str, Wake] = {}
        self.seen: list[tuple[str, float]] = []

    def add(self, name: str, *pauses: float) -> None:
        """A work that pauses so often."""
        self.tasks.add(name, partial(self._work, name, pauses))

    def _work(self, name: str, pauses: tuple[float, ...], wake: Wake) -> Work[str]:
        self.wakes[name] = wake
        for pause in pauses:
            self.seen.append((name, self.clock.now - self.began))
            yield pause
        return f"result of {name}"

    def pass_time(self, seconds: float = 0.0) -> dict[str, str]:
        """Let time pass, and return the work that ended meanwhile."""
        self.clock.run(seconds)
        return dict(self.tasks.advance())


class Held(Executor):
    """Does what is submitted when it is told to."""

    def __init__(self) -> None:
        self.calls: list[Callable[[], Any]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.calls.append(partial(fn, *args, **kwargs))
        return Future()

    def go_on(self) -> None:
        self.calls.pop(0)()


def test_a_work_goes_on_when_its_pause_is_over() -> None:
    works = Works()
    assert works.tasks.pause == 60
    works.add("a", 10, 5)
    works.add("b", 12)
    assert works.pass_time() == {}
    assert works.tasks.pause == 10
    assert works.pass_time(9) == {}
    assert works.pass_time(1) == {}
    assert works.tasks.pause == 2
    assert works.pass_time(2) == {"b": "result of b"}
    assert works.pass_time(3) == {"a": "result of a"}
    assert works.seen == [("a", 0), ("b", 0), ("a", 10)]
    assert not works.tasks


def test_a_work_that_is_woken_goes_on_at_once_and_its_old_pause_does_not_count() -> None:
    works = Works()
    works.add("a", 10, 30, 1)
    works.pass_time()
    works.tasks.changed.clear()
    works.wakes["a"]()
    assert works.tasks.changed.is_set()
    works.pass_time(1)
    assert works.seen == [("a", 0), ("a", 1)]
    works.pass_time(10)  # the end of the first pause
    assert works.seen == [("a", 0), ("a", 1)]
    works.pass_time(20)
    assert works.seen[2:] == [("a", 31)]
    works.tasks.wake()
    assert works.pass_time() == {"a": "result of a"}
    works.wakes["a"]()
    assert works.pass_time(60) == {}


def test_a_work_that_is_woken_while_it_is_done_goes_on_once_more() -> None:
    pool = Held()
    works = Works(pool)
    works.add("a", 10, 20)
    works.pass_time()
    works.wakes["a"] = lambda: None
    for _ in range(2):
        works.tasks.wake()
        assert works.pass_time() == {}
        assert len(pool.calls) == 1, "it is being done"
    pool.go_on()
    assert works.tasks.changed.is_set()
    works.pass_time()
    pool.go_on()
    assert works.pass_time() == {}
    assert pool.calls == []
    assert works.seen == [("a", 0), ("a", 0)]
    assert works.tasks.pause == 20
