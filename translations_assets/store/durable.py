"""The store, over whatever keeps its files, in a folder or in a bucket."""

from __future__ import annotations

import time

from translations_assets.common.errors import StoreError
from translations_assets.records.manifest import Pin, Ref
from translations_assets.store.artifacts import Artifacts
from translations_assets.store.attempts import Checkpoints, Logs
from translations_assets.store.medium import FencedOwners, Medium, P
from translations_assets.store.records import GC_LOCK, Records


class DurableStore(Artifacts[P], Logs[P], Checkpoints[P], Records[P]):
    """A `Store` that `gc` and `verify` maintain; see `running.protocols.Store`.

    level  of trust, as the deployment file names it for this place; empty where there are none
    """

    look_ups = 1  # where a look-up takes no time to speak of, threads only cost some
    rewrite_seconds = 0.0

    def __init__(self, files: Medium[P], owners: FencedOwners, level: str = "") -> None:
        self.files, self.owners, self.level = files, owners, level
        self.root, self.url = files.root, f"{files.url}?level={level}" if level else files.url

    def __str__(self) -> str:
        return str(self.files)

    def exists(self) -> bool:
        """True if anything was ever stored here."""
        return any(name in self.files.folders for name in self.files.names(self.files.root))

    def level_of(self, key: str, generation: int) -> str:
        """The level of trust of a result: that of the place where it stands; empty where there are none."""
        return self.level if self.level and self.generation(key, generation) else ""

    def add_ref(self, ref: Ref) -> None:
        """Append a ref, and put back what it names and a garbage collection has taken out of use meanwhile.

        The collection may have read the records before the run had put on record what it found. Its files
        are there, as the run goes on.
        """
        super().add_ref(ref)
        retired = set(self.files.names(self.files.at("retired")))
        for key, number in ref.steps.values():
            if self.retired_file(key, number).name in retired:
                self.restore(key, number)

    def pin(self, run: str, reason: str) -> Pin:
        """Keep what a run uses from being collected. The pin names what is not there any more.

        Raises StoreError for an unknown or pinned run, and while the garbage collector is at work.
        """
        with self.files.reserved(GC_LOCK) as mine:
            if not mine:
                raise StoreError(
                    f"The store {self.files} is being cleared by `translations cache gc`, which would "
                    "not see the pin. Pin the run when that has ended."
                )
            record = self.read_run(run)
            if record is None:
                raise StoreError(f"The store {self.files} has no run {run}.")
            gone = [
                label
                for label, used in sorted(record.uses.items())
                if self.files.size(self.manifest_file(*used)) is None
            ]
            pin = Pin(run, reason, time.time(), tuple(gone))
            self.files.check_reserved()
            self._add_pin(pin)
            return pin
