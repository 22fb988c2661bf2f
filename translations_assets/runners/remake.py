"""Making finished steps again, elsewhere, to see whether their bytes depend on the place."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from translations_assets.common.errors import TranslationsError
from translations_assets.records.manifest import Manifest
from translations_assets.runners.local import LocalRunner, WorkerStart
from translations_assets.runners.machine import cpu_count
from translations_assets.running.failure import why_ended
from translations_assets.running.job import Job, Outcome
from translations_assets.running.protocols import Reading, Store
from translations_assets.running.runner import Submission
from translations_assets.running.tasks import finish
from translations_assets.store.differing import first_difference
from translations_assets.store.local import LocalStore
from translations_assets.store.overlay import OverlayStore


@dataclass(frozen=True)
class Elsewhere:
    """Another place for steps that are made again.

    folder  a new folder is made in it, for all that is written
    start   how workers are started
    files   folders below which files lie that file:// URLs may name
    """

    folder: Path
    start: WorkerStart
    files: Sequence[str] = ()


@dataclass(frozen=True)
class Remade:
    """A step that was made again.

    failed     why it could not be; empty when it was
    different  name of an output → its first difference
    """

    manifest: Manifest
    failed: str = ""
    different: dict[str, str] = field(default_factory=dict)

    @property
    def is_same(self) -> bool:
        """True if it was made, of the same bytes."""
        return not self.failed and not self.different


def repeatable(store: Reading) -> list[Manifest]:
    """The newest results of all steps whose bytes are to be the same each time, by label."""
    newest = dict[str, Manifest]()
    for manifest in store.manifests():
        if manifest.generation >= newest.get(manifest.key, manifest).generation:
            newest[manifest.key] = manifest
    found = (each for each in newest.values() if each.provenance.repeatable and each.provenance.worker)
    return sorted(found, key=_place_in_order)


def lacking(store: Reading, manifest: Manifest) -> str:
    """Name what a step needs to be made again, and the store has no more; empty when it has all."""
    needed = {"its code": manifest.bundle, **manifest.provenance.files, **manifest.outputs}
    return ", ".join(name for name, blob in needed.items() if not store.has_blob(blob))


def remake(
    store: Store, chosen: Sequence[Manifest], elsewhere: Elsewhere, done: Callable[[Remade], None]
) -> list[Remade]:
    """Make steps again, as many at once as there are cores, and compare; nothing is written to the store.

    `done` is told of each when it ends. Raises TranslationsError when the other place cannot be written to.
    """
    try:
        elsewhere.folder.mkdir(parents=True, exist_ok=True)
        kept = tempfile.TemporaryDirectory(prefix="remake.", dir=elsewhere.folder, ignore_cleanup_errors=True)
    except OSError as error:
        raise TranslationsError(f"Nothing can be made in {elsewhere.folder}: {error}") from error
    with kept as name, ThreadPoolExecutor(cpu_count()) as pool:
        place = Path(name)
        runner = LocalRunner(place, files=elsewhere.files, start=elsewhere.start)
        other = OverlayStore(LocalStore(place / "store"), store)
        made = []
        try:
            for each in as_completed([pool.submit(_one, runner, other, one, place) for one in chosen]):
                made.append(each.result())
                done(made[-1])
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return sorted(made, key=lambda one: _place_in_order(one.manifest))


def _place_in_order(manifest: Manifest) -> tuple[str, str]:
    return manifest.label, manifest.key


def _one(runner: LocalRunner, store: OverlayStore, manifest: Manifest, place: Path) -> Remade:
    try:
        outcome = _make(runner, store, _job(manifest))
        if outcome.manifest is None:
            return Remade(manifest, why_ended(outcome))
        return Remade(manifest, different=dict(_differences(store, manifest, outcome.manifest, place)))
    except TranslationsError as error:
        return Remade(manifest, str(error))


def _job(manifest: Manifest) -> Job:
    """The step's job, by its artifact alone: its config may have changed since, and its code."""
    provenance = manifest.provenance
    worker, parts = provenance.worker, provenance.parts
    assert worker is not None
    return Job(
        key=manifest.key,
        generation=manifest.generation + 1,
        attempt=1,
        label=manifest.label,
        script=parts.script,
        command=worker.command[1:],
        inputs=provenance.files,
        outputs=parts.outputs,
        bundle=manifest.bundle,
        worker="cpu",
        stage=provenance.stage,
        provenance=provenance,
    )


def _make(runner: LocalRunner, store: OverlayStore, job: Job) -> Outcome:
    wake = threading.Event()

    def wait(seconds: float) -> None:
        wake.wait(seconds)
        wake.clear()

    return finish(runner.run(Submission(job, store, threading.Event(), lambda event: None, wake.set)), wait)


def _differences(
    store: OverlayStore, manifest: Manifest, again: Manifest, place: Path
) -> Iterator[tuple[str, str]]:
    for name, blob in manifest.outputs.items():
        other = again.outputs[name]
        if other == blob:
            continue
        with tempfile.TemporaryDirectory(dir=place) as folder:
            paths = Path(folder, "before", name), Path(folder, "again", name)
            for path, each in zip(paths, (blob, other), strict=True):
                path.parent.mkdir(parents=True)
                store.place_blob(each, path)
            yield name, first_difference(*paths)
