"""Keys that are understood but have no effect in this version, so that they do not mislead in silence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from translations_assets.config.key_paths import Found, KeyPath, at, has

# Each key with the values that ask for nothing, and so have the effect they should have.
UNUSED: Mapping[KeyPath, tuple[Any, ...]] = {
    ("experiment", "archive-corpora"): (False,),
    ("wandb-publication",): (False,),
    ("taskcluster", "upload-bucket"): (),
    ("start-stage",): (None,),
    ("start-task-prefix",): (None, ""),
    ("previous-group-ids",): ([], {}),
}
# What describes one launch of a run; the command line and the UI ask for it.
_LAUNCH: Mapping[KeyPath, str] = {
    ("start-stage",): "--start",
    ("start-task-prefix",): "--start",
    ("previous-group-ids",): "--previous-run",
}


def without_effect(config: Mapping[str, Any]) -> Found:
    """The keys that a config, as it was read, sets and that change nothing here, and what to do instead.

    Values that ask for nothing (`archive-corpora: false`, `wandb-publication: false`) are honoured.
    """
    for path, idle in UNUSED.items():
        if not has(config, path) or at(config, path) in idle:
            continue
        if option := _LAUNCH.get(path):
            how = f"it describes one launch; give {option} to `translations train`, or in the UI"
            yield path, f"has no effect: {how}"
        else:
            yield path, "has no effect in this version"
