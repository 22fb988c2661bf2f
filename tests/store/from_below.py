"""Attempts to change a place of a higher level of trust, by a program with our store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.store.test_contract import checkpoint_set
from tests.store.values import KEY, manifest, publish
from translations_assets.records.manifest import Manifest, Publication
from translations_assets.records.retention import Rules
from translations_assets.records.run import RunRecord
from translations_assets.store.durable import DurableStore
from translations_assets.store.gc import collect
from translations_assets.store.levels import mark
from translations_assets.store.verify import verify

FROM_BELOW = [("branch", "release"), ("anyone", "release"), ("anyone", "branch")]  # own level, a higher one
Attempts = dict[str, Callable[[], object]]


def made_in(place: DurableStore[Any]) -> Manifest:
    """The finished step of a place."""
    return next(iter(place.manifests()))


def through_the_store(place: DurableStore[Any], folder: Path) -> Attempts:
    """What a program with our store can ask for."""
    made = made_in(place)
    corpus = made.outputs["corpus"]
    source = folder / "source"
    source.write_bytes(b"from below" * (1 << 20))  # in parts
    own_set = checkpoint_set(folder / "set", "from below")

    def hold() -> None:
        with place.owners.lock(KEY, 2) as mine:
            assert mine

    def wait() -> None:
        with place.owners.waiting(KEY, 2):
            pass

    return {
        "store bytes": lambda: place.add_bytes(b"from below"),
        "store a file": lambda: place.add_blob(source),
        "commit a step": lambda: place._create(manifest({"corpus": corpus}, key=KEY)),
        "commit the next generation": lambda: place._create(replace(made, generation=2)),
        "store a part of a log": lambda: place.append_log(made.key, 1, 1, 1, b"from below"),
        "store a checkpoint set": lambda: place.add_checkpoint(KEY, 1, "000200", own_set),
        "drop the checkpoint sets": lambda: place.drop_checkpoints(KEY, 1),
        "add a ref": lambda: publish(place, "run-mine", 9.0, made),
        "write a run": lambda: place.write_run("run-mine", RunRecord("run-mine")),
        "replace a run": lambda: place.write_run("run-production", RunRecord("run-production")),
        "forget a run": lambda: place.remove_run("run-production"),
        "pin": lambda: place.pin("run-production", "from below"),
        "add a publication": lambda: place.add_publication(Publication(made.key, 1, "s3://mine", 1.0)),
        "add a config": lambda: place.add_config("en-ru.mine", "experiment: {}\n"),
        "put contents aside": lambda: place.quarantine(corpus, "from below"),
        "retire a manifest": lambda: place.retire(made.key, 1),
        "own a step": hold,
        "wait for a step": wait,
        "collect": lambda: collect(place, Rules(0, 0, 0), delete=True),
        "verify": lambda: verify(place),
        "mark": lambda: mark(place),
    }
