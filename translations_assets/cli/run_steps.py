"""States of the steps of a run, from its own record: as they were, whatever config and code are now."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from translations_assets.records.cost import Cost
from translations_assets.records.manifest import Usage
from translations_assets.running.saves import newest_save

if TYPE_CHECKING:
    from translations_assets.cli.runs import Run
    from translations_assets.records.manifest import Manifest
    from translations_assets.records.run import RunRecord
    from translations_assets.running.prices import Prices
    from translations_assets.running.protocols import Store

Row = dict[str, Any]

_POLL_SECONDS = 0.2


def rows_of_run(store: Store, run: Run, prices: Prices | None = None) -> list[Row]:
    """The steps that a run was to make; of a run from before that was noted, those that it used."""
    used = {"": dict.fromkeys(run.record.uses, "")}
    return [
        _row_of_run(store, run, stage, label, worker, prices)
        for stage, labels in (run.record.steps or used).items()
        for label, worker in labels.items()
    ]


def _row_of_run(store: Store, run: Run, stage: str, label: str, worker: str, prices: Prices | None) -> Row:
    record = run.record
    if used := record.uses.get(label):
        manifest = store.generation(*used)
        state = "lost" if manifest is None else "finished" if _has_made(run, manifest) else "cached"
        stage = stage or (manifest.provenance.stage if manifest else "")
        return make_row(label, stage, worker, state, manifest, prices=prices)
    why, idle = record.failed.get(label, ""), "not begun" if run.is_over else "waiting"
    begun = record.begun.get(label)
    if begun is None:
        return make_row(label, stage, worker, "failed" if why else idle, why=why)
    manifest = store.generation(*begun)
    if manifest and (_has_made(run, manifest) or not run.is_over):  # since the record was written
        state = "finished" if _has_made(run, manifest) else "cached"
        return make_row(label, stage, worker, state, manifest, prices=prices)
    attempts = len(store.attempts(*begun))
    if why:
        state = "failed"
    elif run.is_over:
        state = ("cancelled" if record.ended else "interrupted") if attempts else idle
    else:
        state = "running" if store.owners.is_owned(*begun) else idle
    saved = "" if manifest or state == "running" else newest_save(store, *begun)
    since = record.since.get(label) if state == "running" else None
    return make_row(label, stage, worker, state, attempts=attempts, why=why, saved=saved, since=since)


def _has_made(run: Run, manifest: Manifest) -> bool:
    return manifest.provenance.run == run.id


def make_row(
    label: str,
    stage: str,
    worker: str,
    state: str,
    manifest: Manifest | None = None,
    *,
    prices: Prices | None = None,
    attempts: int | None = None,
    why: str = "",
    saved: str = "",
    since: float | None = None,
) -> Row:
    """Make the row of a step, as it is shown and printed as JSON.

    prices by which its cost is told
    why    it failed
    saved  from where it goes on, as `newest_save` says
    since  when the attempt was started that is being made

    What nobody has measured yet is None.
    """
    from translations_assets.running.prices import RecordedStep, spent_on

    usage = manifest.usage if manifest else Usage()
    spent = spent_on(RecordedStep(stage, worker), manifest, prices) if manifest else Cost()
    return {
        "label": label,
        "stage": stage,
        "state": state,
        "attempts": attempts if attempts is not None else manifest.attempt if manifest else 0,
        "worker": worker,
        "host": manifest.host if manifest else None,
        "started": manifest.started if manifest else since,
        "seconds": usage.seconds if manifest else None if since is None else time.time() - since,
        "cpu_seconds": usage.cpu_seconds if manifest else None,
        "memory_mb": usage.peak_memory / 1e6 if manifest else None,
        "gpus": usage.gpus,
        "gpu_utilisation": usage.gpu_utilisation,
        "gpu_memory_mb": usage.gpu_memory / 1e6,
        "cost": spent.values,
        "why": why or None,
        "goes_on_from": saved or None,
    }


def interrupted(store: Store, record: RunRecord, seconds: float = 0.0) -> Iterator[str]:
    """The point from which each step resumes that a run had begun and not finished.

    seconds  how long it is waited for workers that are about to end, in all
    """
    deadline = time.monotonic() + seconds
    for label, made in record.begun.items():
        while _is_ending(store, *made) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        if store.generation(*made):
            continue
        if _is_ending(store, *made):
            yield f"{label} ends once what it saved is stored."
        elif store.owners.is_owned(*made):
            yield f"{label} goes on for another run."
        elif not store.attempts(*made):  # logs come seconds late: it may have begun, and has saved nothing
            continue
        elif saved := newest_save(store, *made):
            yield f"{label} will go on from {saved}."
        else:
            yield f"{label} will begin anew: it had saved nothing."


def _is_ending(store: Store, key: str, generation: int) -> bool:
    """True if a worker still holds a step that no run wants."""
    return store.owners.is_owned(key, generation) and not store.owners.waiters(key, generation)
