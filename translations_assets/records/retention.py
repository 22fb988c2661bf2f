"""Rules of the garbage collector: it looks at records only, not at any store's files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from translations_assets.records.manifest import Manifest, Ref
from translations_assets.records.run import RunRecord, is_overridden

DAY = 86400.0
KEPT_STAGES = frozenset({"export"})  # whose artifacts are kept for good: they are what was released
_ALIVE_SECONDS = 15 * 60.0  # a run whose heartbeat, renewed each minute, is older has died; clocks may differ


@dataclass(frozen=True)
class Rules:
    """Limits on results that are kept besides those of pinned runs, running runs and exports.

    keep_days   results that were made or used within so many days are kept
    keep_refs   results that the last so many refs of each stage name, in each space and partition; refs of
                variants (made with overrides) keep results by age only: they are experiments
    grace_days  contents that were stored or found within so many days, even if nothing names them
    """

    keep_days: float = 30.0
    keep_refs: int = 3
    grace_days: float = 7.0


class Retention:
    """Decides about runs, refs and manifests by the rules, the pins and the records of the runs."""

    def __init__(
        self, rules: Rules, now: float, pins: Collection[str], runs: Mapping[str, RunRecord]
    ) -> None:
        self._rules, self._pins, self._runs = rules, pins, runs
        silent = now - max(rules.grace_days * DAY, _ALIVE_SECONDS)
        self.running = {
            run: record.heartbeat if record.started is None else record.started
            for run, record in runs.items()
            if record.ended is None and record.heartbeat > silent
        }
        self.since = min([now - rules.keep_days * DAY, *self.running.values()])
        self.untouched_since = min([now - rules.grace_days * DAY, *self.running.values()])

    def uses(self) -> Iterator[tuple[str, int]]:
        """Keys and generations that pinned, running and recent runs use."""
        for run, record in self._runs.items():
            if self._keeps_uses(run, record):
                yield from record.uses.values()

    def kept_refs(self, refs: Sequence[Ref]) -> list[Ref]:
        """Those of a stage's refs, given newest first, that are kept."""
        return [ref for number, ref in enumerate(refs) if self._keeps_ref(number, ref)]

    def keeps_manifest(self, manifest: Manifest) -> bool:
        """True if a manifest is kept that no kept run or ref names."""
        return manifest.ended >= self.since or manifest.stage in KEPT_STAGES

    def useless_runs(self, kept: Collection[tuple[str, int]]) -> Iterable[str]:
        """Runs whose records are of no use when only some manifests are kept."""
        for run, record in self._runs.items():
            if not self._keeps_uses(run, record) and not any(used in kept for used in record.uses.values()):
                yield run

    def _keeps_uses(self, run: str, record: RunRecord) -> bool:
        last = record.heartbeat if record.ended is None else record.ended
        return run in self._pins or run in self.running or last >= self.since

    def _keeps_ref(self, number: int, ref: Ref) -> bool:
        kept_run = ref.run in self._pins or ref.run in self.running
        is_last = number < self._rules.keep_refs and not is_overridden(ref.partition)
        return is_last or ref.time >= self.since or kept_run
