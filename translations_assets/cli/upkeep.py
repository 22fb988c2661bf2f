"""What the verbs that look after a store share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from translations_assets.errors import TranslationsError

if TYPE_CHECKING:
    from translations_assets.project import Project
    from translations_assets.running.protocols import Reading
    from translations_assets.store.durable import DurableStore

_UNITS = ("B", "kB", "MB", "GB", "TB")


def durable_store(project: Project) -> DurableStore[Any]:
    """The project's own store, in a folder or a bucket. Raises TranslationsError when it is in memory."""
    from translations_assets.store.durable import DurableStore
    from translations_assets.store.overlay import OverlayStore

    store = project.store.own if isinstance(project.store, OverlayStore) else project.store
    if not isinstance(store, DurableStore):
        raise TranslationsError(f"The store {store.url} keeps nothing: there is nothing to look after.")
    return store


def base_of(project: Project) -> Reading | None:
    """The store that the project's own one stands over; None without one."""
    from translations_assets.store.overlay import OverlayStore

    return project.store.base if isinstance(project.store, OverlayStore) else None


def size(number: float) -> str:
    """Bytes for people: `12 B`, `3.4 GB`."""
    unit = 0
    while number >= 1000 and unit < len(_UNITS) - 1:
        number, unit = number / 1000, unit + 1
    return f"{number:.1f} {_UNITS[unit]}" if unit else f"{number:.0f} B"
