"""Saved progress of unfinished steps, for people. Imports nothing that takes long."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from translations_assets.running.protocols import Reading

_COUNTED = re.compile(r"(update|rows)-0*(\d+)$")  # how the names of checkpoint sets end


def newest_save(store: Reading, key: str, generation: int) -> str:
    """Return the last save of an unfinished step, from which it resumes: `update 600`; empty for none."""
    for name in store.checkpoints(key, generation)[-1:]:
        found = _COUNTED.search(name)
        return f"{found[1]} {int(found[2]):,}" if found else name
    return ""


def saved_updates(store: Reading, key: str, generation: int) -> int:
    """Return the number of updates after which an unfinished training resumes; 0 where it starts anew."""
    kind, _, number = newest_save(store, key, generation).partition(" ")
    return int(number.replace(",", "")) if kind == "update" else 0
