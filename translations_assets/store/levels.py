"""Levels of trust: places from the highest down, each written by other accounts.

A level is a place. Whose rights guard it decides what counts there, so nothing that a writer can choose, such
as a field of a manifest, gives a result a level. One's own place is written, over the higher ones, which are
only read; the lower ones are never opened.

Each place is marked with its level by whoever may write it. The mark gives no rights: it only refuses a place
that the settings take for another level's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

from translations_assets.common.errors import StoreError
from translations_assets.records.encoding import MALFORMED, seal, unseal
from translations_assets.running.protocols import Store
from translations_assets.store.durable import DurableStore
from translations_assets.store.medium import LEVEL_MARK
from translations_assets.store.open import do_overlap, location, open_place
from translations_assets.store.overlay import OverlayStore

Use = Literal["read", "written", "never opened"]


@dataclass(frozen=True)
class Levels:
    """The levels of an installation.

    places  name → folder or URL of the store, from the highest level down
    own     the name of one's own
    """

    places: Mapping[str, str]
    own: str

    def __post_init__(self) -> None:
        """Raise StoreError for an own level that is not there, and for places that are not apart."""
        if self.own not in self.places:
            named = f"and there is no level {self.own}" if self.own else "and none is one's own"
            raise StoreError(
                f"The deployment file has the levels {', '.join(self.places)}, {named}. Name yours in "
                f"TRANSLATIONS_LEVEL, or as `level` in the file."
            )
        located = {name: location(url) for name, url in self.places.items()}
        for (higher, first), (lower, second) in combinations(located.items(), 2):
            if do_overlap(first, second):
                raise StoreError(
                    f"The stores of the levels {higher} and {lower} overlap: {first} and {second}. Give each "
                    "level a place of its own, in no other."
                )

    @property
    def highest(self) -> str:
        """The name of the highest level, that of releases."""
        return next(iter(self.places))

    def uses(self) -> Iterator[tuple[str, Use]]:
        """Each level from the highest down, and the use that is made of its place."""
        use: Use = "read"
        for name in self.places:
            if name == self.own:
                yield name, "written"
                use = "never opened"
            else:
                yield name, use

    def open(self) -> Store:
        """One's own store over those of all higher levels. Raises StoreError for a place of another level."""
        above: Store | None = None
        for name, use in self.uses():
            if use == "never opened":
                break
            place = self.place(name)
            _check_mark(place)
            above = place if above is None else OverlayStore(place, above)
        assert above is not None  # one's own is among them
        return above

    def place(self, name: str) -> DurableStore[Any]:
        """The place of one's own level, or of a higher one, which is only read; nothing is asked."""
        return open_place(self.places[name], level=name, reader=self.own, read_only=name != self.own)


def mark_of(place: DurableStore[Any]) -> str | None:
    """The level that a place is marked with; None without a mark. Raises StoreError for a damaged one."""
    data = place.files.read(place.files.at(LEVEL_MARK))
    try:
        return None if data is None else str(unseal(data)["level"])
    except MALFORMED as error:
        raise StoreError(
            f"The mark of the level of {place} ({LEVEL_MARK}) is damaged. Whoever may write there removes "
            "it, and marks the place again: translations levels --mark"
        ) from error


def mark(place: DurableStore[Any]) -> None:
    """Mark a place with its level. Raises StoreError when it is marked with another, or cannot be written."""
    place.files.create(place.files.at(LEVEL_MARK), seal({"level": place.level}))
    _check_mark(place)


def _check_mark(place: DurableStore[Any]) -> None:
    found = mark_of(place)
    if found is None:
        raise StoreError(
            f"{place} is not marked as the store of the level {place.level}. If it is, somebody who may "
            f"write there marks it, once: TRANSLATIONS_LEVEL={place.level} translations levels --mark"
        )
    if found != place.level:
        raise StoreError(
            f"{place} is the store of the level {found}, and the deployment file takes it for that of "
            f"{place.level}. Correct `levels` there; nothing was read."
        )
