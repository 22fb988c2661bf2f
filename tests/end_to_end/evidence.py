"""Evidence of runs in a place's store and processes: whole files, steps that ran, leftovers."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import cast

from tests.end_to_end.tiny import PARTITION, Place
from tests.runners.scripts import processes_of
from translations_assets.common.settings import repository_root
from translations_assets.config.load import load_config
from translations_assets.graph.graph import Graph
from translations_assets.graph.stage import build_graph
from translations_assets.keys.key import KeyMaker
from translations_assets.records.manifest import Manifest
from translations_assets.running.plan import make_plan
from translations_assets.running.protocols import Store
from translations_assets.stages import STAGES
from translations_assets.store.verify import verify

SCRATCH = ("work", "locks", "tmp")  # folders of those who are at work now
STORE_LOCKS = {"locks/blobs", "locks/gc"}
_SCRIPT_START = b"[worker] python -m "


def store_folder(place: Place) -> Path:
    """Folder of a place's store."""
    return place.root / "state" / "store"


def graph_of(place: Place) -> Graph:
    """The tiny pair's graph, as its config is now."""
    return build_graph(load_config(place.root / "configs" / f"{PARTITION}.yml"), STAGES)


def newest(place: Place) -> dict[str, Manifest]:
    """Label → the newest manifest of each step that the store has a result of."""
    store = place.store
    return {manifest.label: manifest for manifest in store.manifests()}


def results(place: Place) -> dict[str, Manifest]:
    """Label → the result of each step of the tiny pair that has one; steps with one key share it."""
    store = cast("Store", place.store)
    plan = make_plan(graph_of(place).steps, KeyMaker(repository_root()), store)
    return {planned.step.label: planned.manifest for planned in plan.steps if planned.manifest}


def digests(place: Place) -> dict[str, dict[str, str]]:
    """Label → output → digest."""
    return {
        label: {name: blob.digest for name, blob in manifest.outputs.items()}
        for label, manifest in results(place).items()
    }


def defects(place: Place) -> list[str]:
    """Defects of the store, with every file read again."""
    problems = verify(place.store).problems
    return [f"{problem.path} is {problem.kind}: {problem.reason}" for problem in problems]


def repeated(place: Place) -> list[str]:
    """Steps that ran again although they were finished: a second generation, or a script started later."""
    store, found = place.store, []
    for label, manifest in newest(place).items():
        if manifest.generation != 1:
            found.append(f"{label} has {manifest.generation} generations")
        attempts = store.attempts(manifest.key, 1)
        if max(attempts, default=0) > manifest.attempt:
            found.append(f"{label} was finished by attempt {manifest.attempt} of {attempts}")
        log = b"".join(store.read_log(manifest.key, 1, manifest.attempt))
        if log.count(_SCRIPT_START) != 1:
            found.append(f"{label} ran {log.count(_SCRIPT_START)} times in attempt {manifest.attempt}")
    return found


def begun_after_end(place: Place) -> list[str]:
    """Steps whose script was begun although they were finished, by when the log tells of it.

    A cluster that comes back with an old state may begin a job again that was killed: in the same attempt, or
    in one before the newest. That repeats nothing that was finished.
    """
    store, found = place.store, []
    for label, manifest in newest(place).items():
        committed = store.files.modified(store.manifest_file(manifest.key, 1))
        for attempt in store.attempts(manifest.key, 1):
            folder = store.log_folder(manifest.key, 1, attempt)
            for part, text in enumerate(store.read_log(manifest.key, 1, attempt)):
                late = (store.files.modified(folder / str(part)) - committed) / 1e9
                if _SCRIPT_START in text and late > 0:
                    found.append(f"{label} was begun by attempt {attempt} {late:.1f} s after its result")
    return found


def manifest_files(place: Place) -> dict[str, tuple[int, int]]:
    """Manifest file → its inode and time of writing: a finished step's never change."""
    folder = store_folder(place) / "steps"
    stats = {path: path.stat() for path in folder.rglob("*.json")}
    return {str(path.relative_to(folder)): (stat.st_ino, stat.st_mtime_ns) for path, stat in stats.items()}


def scratch(place: Place) -> set[str]:
    """Files in the folders of running processes, except the locks of the store itself."""
    root = store_folder(place)
    found = {f"{folder}/{path.name}" for folder in SCRATCH for path in (root / folder).glob("*")}
    return found - STORE_LOCKS


def processes(place: Place) -> list[int]:
    """Live processes of a place's runs."""
    return processes_of(place.root)


def seconds_until(condition: Callable[[], bool], limit: float) -> float:
    """Seconds until something becomes true; infinity when it does not within the limit."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > limit:
            return float("inf")
        time.sleep(0.02)
    return time.monotonic() - began


def unequal(
    one: dict[str, dict[str, str]], other: dict[str, dict[str, str]], labels: Collection[str]
) -> list[str]:
    """Those of the labels whose outputs differ, or are missing."""
    return [label for label in labels if label not in one or one[label] != other.get(label)]
