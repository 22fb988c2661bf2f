"""Power cuts at any moment of what a store in a folder does, and what must hold after each.

python -m tests.simulation.crashes
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.simulation.disk import Recorder, restore, states
from tests.store.values import KEY, finish, publish
from translations_assets.common.errors import StoreError
from translations_assets.records.manifest import Manifest, Publication
from translations_assets.records.retention import Rules
from translations_assets.records.run import RunRecord
from translations_assets.store.gc import collect
from translations_assets.store.local import LocalStore

OLD = 100 * 86400.0  # seconds
MADE = "merge"
MEMORY = "/dev/shm"  # each state is a folder, and a disk takes long
ENOUGH = 5  # wrong states
RULES = Rules(keep_days=1, keep_refs=1, grace_days=0)
Mark = Callable[[str], None]


@dataclass(frozen=True)
class Scenario:
    """Something that is done to a store.

    prepare  what was there before
    act      what is done; tells what is done for good
    checks   what must hold once that was told
    """

    prepare: Callable[[LocalStore], object]
    act: Callable[[LocalStore, Mark], object]
    checks: Mapping[str, Callable[[LocalStore], bool]]


def _made(store: LocalStore, label: str = MADE) -> Manifest | None:
    return next((made for made in store.manifests() if made.label == label), None)


def _commit(store: LocalStore, mark: Mark) -> None:
    finish(store, MADE, {"corpus.en": b"e" * 50, "corpus.ru": b"r" * 60})
    mark("committed")


def _kept_and_old(store: LocalStore) -> None:
    """Steps of long ago: one that a ref names, with the one before it; one for nobody."""
    dataset = finish(store, "dataset", {"text": b"t" * 50}, stage="dataset")
    kept = finish(store, MADE, {"corpus": b"c" * 70}, {"in/text": dataset.outputs["text"]})
    finish(store, "old", {"corpus": b"x" * 90})
    publish(store, "run-1", 1.0, kept)
    then = time.time() - OLD
    for path in store.root.rglob("*"):
        os.utime(path, (then, then))


def _collect(store: LocalStore, mark: Mark) -> None:
    collect(store, RULES, delete=True)
    mark("collected")


def _run(store: LocalStore) -> None:
    made = finish(store, MADE, {"corpus": b"c" * 70})
    store.write_run("run-1", RunRecord("run-1", started=1.0, ended=2.0, uses={MADE: (made.key, 1)}))


def _pin(store: LocalStore, mark: Mark) -> None:
    if not store.pins():
        store.pin("run-1", "the baseline")
    mark("pinned")


def _damage(store: LocalStore) -> None:
    made = finish(store, MADE, {"corpus": b"c" * 70})
    path = store.blob_file(made.outputs["corpus"].digest)
    path.chmod(0o644)
    path.write_bytes(b"d" * 70)


def _quarantine(store: LocalStore, mark: Mark) -> None:
    made = _made(store)
    assert made is not None
    try:
        store.read_blob(made.outputs["corpus"])
    except StoreError:
        mark("put aside")


def _publish(store: LocalStore, mark: Mark) -> None:
    made = _made(store)
    assert made is not None
    publish(store, "run-1", 1.0, made)
    mark("ref")
    store.add_publication(Publication(key=made.key, generation=1, url="gs://models", time=3.0))
    mark("publication")


def _checkpoint(store: LocalStore, mark: Mark) -> None:
    for number in (1, 2, 3):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("model", "optimizer"):
                Path(folder, name).write_text(f"{name} of {number}" * 20)
            store.add_checkpoint(KEY, 1, f"update-{number}", Path(folder))
        mark(f"set {number}")


def _has_set(store: LocalStore, least: int) -> bool:
    """True if the newest whole set is that of so many updates at least, and its files are of one moment."""
    with tempfile.TemporaryDirectory() as folder:
        placed = store.place_checkpoints(KEY, 1, Path(folder))
        for name in placed:
            number = name.removeprefix("update-")
            for file in ("model", "optimizer"):
                assert Path(folder, name, file).read_text() == f"{file} of {number}" * 20
        return bool(placed) and int(placed[-1].removeprefix("update-")) >= least


SCENARIOS: Mapping[str, Scenario] = {
    "commit": Scenario(lambda store: None, _commit, {"committed": lambda store: _made(store) is not None}),
    "gc": Scenario(_kept_and_old, _collect, {"collected": lambda store: _made(store, "old") is None}),
    "pin": Scenario(_run, _pin, {"pinned": lambda store: [*store.pins()] == ["run-1"]}),
    "quarantine": Scenario(_damage, _quarantine, {}),
    "publish": Scenario(
        _run,
        _publish,
        {
            "ref": lambda store: bool(store.refs("ann/main", "en-ru", "merge_corpus")),
            "publication": lambda store: bool(store.publications()),
        },
    ),
    "checkpoint": Scenario(
        lambda store: None,
        _checkpoint,
        {f"set {number}": lambda store, number=number: _has_set(store, number) for number in (1, 2, 3)},  # type: ignore[misc]
    ),
}


def crash_states(name: str, folder: Path) -> tuple[int, int, list[str]]:
    """Look at all crash states of a scenario: operations, states, and what does not hold in which."""
    scenario, store = SCENARIOS[name], LocalStore(folder / "store")
    store.root.mkdir()
    scenario.prepare(store)
    recorder = Recorder(store.root)
    with recorder.recording():
        scenario.act(LocalStore(store.root), recorder.mark)
    wrong, number = [], 0
    for state in states(recorder):
        number += 1
        root = folder / str(number)
        restore(state, root)
        done = [mark for mark, at in recorder.marks.items() if at <= state.moment]
        try:
            _check(name, LocalStore(root), done)
        except (AssertionError, StoreError) as error:
            lost = ", ".join(str(recorder.operations[at])[:100] for at in state.lost)
            wrong.append(f"{name} after {state.moment} operations without [{lost}]: {error}")
            if len(wrong) == ENOUGH:
                break
    return len(recorder.operations) - recorder.begun, number, wrong


def _check(name: str, store: LocalStore, done: list[str]) -> None:
    """What counts is whole; what was done for good is there; and it can be done again."""
    scenario = SCENARIOS[name]
    _check_whole(store, but_lost=name == "quarantine")
    for mark in done:
        check = scenario.checks.get(mark)
        assert check is None or check(store), f"it was {mark}, and is not any more"
    if name != "quarantine":
        scenario.act(store, lambda mark: None)
        _check_whole(store)
        for mark, check in scenario.checks.items():
            assert check(store), f"it cannot be done again: {mark}"


def _check_whole(store: LocalStore, *, but_lost: bool = False) -> None:
    for made in [] if but_lost else store.manifests():
        for blob in made.outputs.values():
            store.read_blob(blob)
    for refs in store.ref_files():
        for _, ref in refs:
            for step in ref.steps.values():
                assert store.generation(*step), f"the ref of {ref.run} names what is not there"


def main() -> None:
    """Print the number of states of each scenario; the exit code is 1 when something does not hold."""
    failed = False
    for name in SCENARIOS:
        with tempfile.TemporaryDirectory(prefix="crashes.", dir=MEMORY) as folder:
            operations, number, wrong = crash_states(name, Path(folder))
        print(f"{name:12} {operations:4} operations {number:6,} states {len(wrong):4} wrong")
        for line in wrong[:5]:
            print(f"    {line}")
        failed = failed or bool(wrong)
    raise SystemExit(failed)


if __name__ == "__main__":
    main()
