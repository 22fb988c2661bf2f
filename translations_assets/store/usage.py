"""Disk use of each partition, and each of its variants, by its refs; and forgetting one."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from translations_assets.common.errors import StoreError
from translations_assets.records.manifest import Ref
from translations_assets.records.retention import Retention, Rules
from translations_assets.records.run import is_overridden
from translations_assets.store.durable import DurableStore
from translations_assets.store.medium import P
from translations_assets.store.records import GC_LOCK

Name = tuple[str, str]  # space, and partition with its variant: `en-eo.demo@3f2a…`


@dataclass(frozen=True)
class RefUsage:
    """Files that the refs of a partition in a space name.

    partition  with `@` and a digest for a variant, which runs with `--set` make
    artifacts  that its refs name
    bytes      of their files
    alone      bytes of the files that no other partition's refs name
    newest     time of its newest ref, seconds since 1970
    overrides  by which a variant differs, as its newest run was asked
    """

    space: str
    partition: str
    artifacts: int
    bytes: int
    alone: int
    newest: float
    overrides: Mapping[str, Any]


@dataclass
class _RefFiles:
    steps: set[tuple[str, int]] = field(default_factory=set)
    sizes: dict[str, int] = field(default_factory=dict)
    newest: Ref | None = None


def usage(store: DurableStore[P]) -> list[RefUsage]:
    """Measure each partition, the largest first; names of variants stand beside their partitions'."""
    found: dict[Name, _RefFiles] = {}
    for refs in store.ref_files():
        for _, ref in refs:
            one = found.setdefault((ref.space, ref.partition), _RefFiles())
            one.steps.update(ref.steps.values())
            for blobs in ref.outputs.values():
                one.sizes.update({blob.digest: blob.size for blob in blobs.values()})
            if one.newest is None or ref.time > one.newest.time:
                one.newest = ref
    owners = Counter(digest for one in found.values() for digest in one.sizes)
    listed = [_usage(store, name, one, owners) for name, one in found.items()]
    return sorted(listed, key=lambda one: (-one.bytes, one.space, one.partition))


def _usage(store: DurableStore[P], name: Name, found: _RefFiles, owners: Mapping[str, int]) -> RefUsage:
    assert found.newest
    record = store.read_run(found.newest.run) if is_overridden(name[1]) else None
    return RefUsage(
        *name,
        artifacts=len(found.steps),
        bytes=sum(found.sizes.values()),
        alone=sum(size for digest, size in found.sizes.items() if owners[digest] == 1),
        newest=found.newest.time,
        overrides=record.options.overrides if record else {},
    )


def forget(store: DurableStore[P], space: str, partition: str) -> int:
    """Remove the refs of a partition, so that they keep nothing more; returns how many there were.

    Raises StoreError when there are none, while a run of it goes on, and while the store is being cleared.
    """
    name = space, partition
    paths = [path for refs in store.ref_files() for path, ref in refs if (ref.space, ref.partition) == name]
    if not paths:
        raise StoreError(
            f"The store {store} has no results of {partition} in the space {space}. To see what it has: "
            "translations cache du"
        )
    if running := _running(store, name):
        raise StoreError(f"Run {running} of {partition} is still running. Cancel it, or wait until it ends.")
    with store.files.reserved(GC_LOCK) as mine:
        if not mine:
            raise StoreError(
                f"The store {store} is being cleared by `translations cache gc`. Wait until it ends."
            )
        for path in paths:
            store.files.unlink(path)
    return len(paths)


def _running(store: DurableStore[P], name: Name) -> str:
    """A run that goes on under this name; empty without any."""
    runs = {run: record for run in store.runs() if (record := store.read_run(run))}
    for run in Retention(Rules(), time.time(), (), runs).running:
        record = runs[run]
        if (record.space, record.options.ref_partitions(record.partition)[0]) == name:
            return run
    return ""
