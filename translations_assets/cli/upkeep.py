"""What the verbs that look after a store share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from translations_assets.steps.errors import TranslationsError

if TYPE_CHECKING:
    from translations_assets.project import Project
    from translations_assets.store.local import LocalStore

_UNITS = ("B", "kB", "MB", "GB", "TB")


def local_store(project: Project) -> LocalStore:
    """The project's store, which is a folder. Raises TranslationsError when it is not."""
    from translations_assets.store.local import LocalStore

    store = project.store
    if not isinstance(store, LocalStore):
        raise TranslationsError(f"The store {store.url} is no folder: it is looked after by other means.")
    return store


def size(number: float) -> str:
    """Bytes for people: `12 B`, `3.4 GB`."""
    unit = 0
    while number >= 1000 and unit < len(_UNITS) - 1:
        number, unit = number / 1000, unit + 1
    return f"{number:.1f} {_UNITS[unit]}" if unit else f"{number:.0f} B"
