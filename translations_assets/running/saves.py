"""Saved progress of unfinished steps, for people. Imports nothing that takes long."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from translations_assets.running.protocols import Reading

_COUNTED = re.compile(r"(update|rows)-0*(\d+)$")  # how the names of checkpoint sets end


def newest_save(store: Reading, key: str, generation: int) -> str:
    """Return the last save of an unfinished step, from which it resumes: `update 600`; empty for none."""
    name = _newest(store, key, generation)
    found = _COUNTED.search(name)
    return f"{found[1]} {int(found[2]):,}" if found else name


def saved_updates(store: Reading, key: str, generation: int) -> int:
    """Return the number of updates after which an unfinished training resumes; 0 where it starts anew."""
    found = _COUNTED.search(_newest(store, key, generation))
    return int(found[2]) if found and found[1] == "update" else 0


def _newest(store: Reading, key: str, generation: int) -> str:
    return next(iter(store.checkpoints(key, generation)[-1:]), "")
