"""What of a step comes through the store: late where that is away, and never lost without a word."""

from __future__ import annotations

from typing import Any

import pytest

from tests.runners.kubernetes.places import Place
from tests.runners.scripts import eventually, written
from tests.store.values import manifest
from translations_assets.common.errors import StoreUnreachable
from translations_assets.runners.batch import silence
from translations_assets.runners.kubernetes import following

pytestmark = pytest.mark.cluster

LINES = [f"line {number}" for number in range(200)]
TELLS = "for number in range(200): print('line', number, flush=True)"


@pytest.fixture
def away(place: Place, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Take the store's logs away from the runner, until the test has them back."""

    def log_part(*_: object) -> None:
        raise StoreUnreachable("The bucket does not answer.")

    with monkeypatch.context() as patch:
        patch.setattr(place.store, "log_part", log_part)
        yield patch


def test_a_log_that_cannot_be_read_is_told_and_comes_later(
    place: Place, away: pytest.MonkeyPatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(silence, "SILENT_SECONDS", 0.5)
    monkeypatch.setattr(silence, "_LOOK_SECONDS", 0.2)
    run = place.run()
    ending = run.start(place.talking())
    words = "waiting: its log cannot be read: The bucket does not answer. The step goes on."
    assert eventually(lambda: words in run.told), run.told
    assert not run.lines
    step = place.talking()
    assert eventually(lambda: b"line 3" in b"".join(place.store.read_log(step.key, 1, 1)))
    away.undo()
    place.go()
    assert ending.result(60).kind == "done"
    lines = [line for line in run.lines["step-0"] if line.startswith("line")]
    assert lines == [f"line {number}" for number in range(len(lines))]
    assert lines


def test_a_step_that_ends_while_the_store_is_away_is_told_as_such(
    place: Place, away: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StoreUnreachable, match="does not answer"):
        place.run().make(place.job(written("")))
    away.undo()
    assert place.run().make(place.job(written(""))).kind == "done"


def test_a_member_is_done_while_its_pod_goes_on(place: Place) -> None:
    run = place.run({"steps-per-pod": 3})
    waits = f"print('line 0')\nwhile not os.path.exists({str(place.root / 'go')!r}): time.sleep(0.05)"
    scripts = (written(TELLS), "raise SystemExit('error: no words')", written(waits))
    first, second, third = [run.start(place.job(script, at)) for at, script in enumerate(scripts)]
    assert eventually(lambda: first.done() and second.done())
    assert (first.result().kind, second.result().kind, third.done()) == ("done", "failed", False)
    assert [line for line in run.lines["step-0"] if line.startswith("line")] == LINES
    assert second.result().log_tail.endswith("error: no words")
    assert eventually(lambda: "line 0" in run.lines["step-2"])
    place.go()
    assert third.result(60).kind == "done"
    assert len(place.jobs()) == 1


def test_a_step_whose_pod_hangs_after_its_result_is_done_all_the_same(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "_LAST_SECONDS", 0.0)
    run, step = place.run(), place.talking()
    ending = run.start(step)
    assert eventually(lambda: bool(run.lines["step-0"]))
    blob = place.store.add_bytes(b"done")
    made = place.store.commit(manifest({"copy.txt": blob}, step.key))
    assert ending.result(60).manifest == made
    assert eventually(lambda: not place.live())


def test_the_end_of_the_output_of_a_worker_that_is_killed_is_shown(place: Place) -> None:
    run = place.run()
    go = str(place.root / "go")
    script = f"print('line 0', flush=True)\nwhile not os.path.exists({go!r}): time.sleep(0.05)\n"
    ending = run.start(place.job(written(f"{script}print('the last words', flush=True); time.sleep(600)")))
    assert eventually(lambda: "line 0" in run.lines["step-0"])
    (pod,) = place.live()
    place.go()
    assert eventually(lambda: "the last words" in place.cluster.output(pod))
    place.cluster.kill_out_of_memory(pod)
    outcome = ending.result(60)
    assert "out of memory" in outcome.message
    assert outcome.log_tail.endswith("the last words")
    at = run.lines["step-0"].index("[the end of the pod's output:]")
    assert run.lines["step-0"][-1] == "the last words"
    assert "line 0" in run.lines["step-0"][:at]
