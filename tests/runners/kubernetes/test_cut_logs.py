"""A pod's log that is cut, or hangs, holds no step up: the store says what has ended, and has the lines."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator

import pytest

from tests.kube.serving import CutOff
from tests.runners.kubernetes.places import Place, Run
from tests.runners.scripts import eventually, written
from translations_assets.runners.kubernetes import following

pytestmark = pytest.mark.cluster

LINES = [f"line {number}" for number in range(200)]
TELLS = "for number in range(200): print('line', number, flush=True)"
BROKE_OFF = "[the pod's log broke off here; the step's further lines, from the store:]"


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """The log's end is waited for less long."""
    monkeypatch.setattr(following, "_REST_SECONDS", 1.0)


def cut_after(sizes: Callable[[], int]) -> Callable[[Iterator[bytes]], Iterator[bytes]]:
    """Connections that break after so many bytes, in the middle of a chunk."""

    def cut(pieces: Iterator[bytes]) -> Iterator[bytes]:
        left = sizes()
        for piece in pieces:
            if len(piece) >= left:
                yield CutOff(piece[:left])
            left -= len(piece)
            yield piece

    return cut


def hang_after(size: int, end: threading.Event) -> Callable[[Iterator[bytes]], Iterator[bytes]]:
    """Connections that bring so many bytes and then nothing more."""

    def hang(pieces: Iterator[bytes]) -> Iterator[bytes]:
        piece = next(pieces)
        yield piece[:size]
        end.wait()

    return hang


@pytest.fixture
def end() -> Iterator[threading.Event]:
    """Set when the test is over."""
    made = threading.Event()
    yield made
    made.set()


def shown(run: Run, label: str = "step-0") -> list[str]:
    """The lines of the script that people saw."""
    return [line for line in run.lines[label] if line.startswith("line")]


def test_a_log_that_is_cut_at_random_bytes_comes_whole(place: Place) -> None:
    draw = random.Random(1)
    place.cluster.fake.cuts = cut_after(lambda: draw.randrange(4000, 9000))
    run = place.run()
    assert run.make(place.job(written(TELLS))).kind == "done"
    assert shown(run) == LINES


@pytest.mark.parametrize("size", [1, 300])
def test_a_log_that_is_always_cut_holds_no_finished_step_up(place: Place, size: int) -> None:
    place.cluster.fake.cuts = cut_after(lambda: size)
    run = place.run()
    assert run.start(place.job(written(TELLS))).result(30).kind == "done"
    assert shown(run) == LINES
    assert run.lines["step-0"].count(BROKE_OFF) == 1


def test_a_log_that_hangs_holds_no_finished_step_up(place: Place, end: threading.Event) -> None:
    place.cluster.fake.cuts = hang_after(300, end)
    run = place.run()
    assert run.start(place.job(written(TELLS))).result(30).kind == "done"
    assert shown(run) == LINES


def test_a_step_that_fails_behind_a_log_that_hangs_has_its_last_lines(
    place: Place, end: threading.Event
) -> None:
    place.cluster.fake.cuts = hang_after(1, end)
    outcome = place.run().start(place.job("print('error: no words'); raise SystemExit(3)")).result(60)
    assert outcome.kind == "failed"
    assert "error: no words" in outcome.log_tail


def test_a_member_whose_log_hangs_is_done_while_its_pod_goes_on(
    place: Place, end: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "SILENT_SECONDS", 0.5)
    place.cluster.fake.cuts = hang_after(1, end)
    run = place.run({"steps-per-pod": 2})
    holds = (
        f"print('line 0', flush=True)\nwhile not os.path.exists({str(place.root / 'go')!r}): time.sleep(0.05)"
    )
    first, second = [run.start(place.job(written(script), at)) for at, script in enumerate((TELLS, holds))]
    assert eventually(first.done, 30)
    assert (first.result().kind, second.done(), shown(run)) == ("done", False, LINES)
    place.go()
    assert second.result(30).kind == "done"
    assert shown(run, "step-1") == ["line 0"]


def test_why_a_log_cannot_be_read_is_told_while_the_step_runs(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "SILENT_SECONDS", 0.3)
    monkeypatch.setattr("translations_assets.runners.kubernetes.silence.SILENT_SECONDS", 0.5)
    monkeypatch.setattr("translations_assets.runners.kubernetes.silence._LOOK_SECONDS", 0.2)
    place.cluster.fake.cuts = cut_after(lambda: 1)
    run = place.run()
    ending = run.start(place.talking())
    assert eventually(lambda: any("its log cannot be read: The cluster" in text for text in run.told), 30)
    place.go()
    assert ending.result(30).kind == "done"
