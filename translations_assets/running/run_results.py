"""The results that steps have in a run: made by it, found by their keys, or by the partition's refs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from translations_assets.common.errors import TranslationsError
from translations_assets.graph.step import Output, Step
from translations_assets.records.manifest import Blob, Manifest, Ref
from translations_assets.running.resolve import LostResults, Resolver, inputs_of, missing_outputs
from translations_assets.running.tasks import RUN_SECONDS, when_reachable

if TYPE_CHECKING:
    from translations_assets.running.session import Session

_log = logging.getLogger(__name__)


class UpstreamMissing(TranslationsError):
    """A step needs a result that was never made, or is out of date, and no ref stands in for it."""


@dataclass(frozen=True)
class Result:
    """A step's result in this run: the key and generation that count, and the output files' contents."""

    key: str
    generation: int
    outputs: Mapping[str, Blob]
    manifest: Manifest | None = None


class RunResults:
    """The results of a run's steps; safe for use by several threads.

    warnings  what people should know of the results that the run uses
    """

    def __init__(self, session: Session) -> None:
        self._session, self._store = session, session.store
        self._ended = threading.Event()
        self.warnings: list[str] = []
        self._results: dict[Step, Result] = {}
        self._made: set[str] = set()
        self._lock = threading.Lock()  # never held while the store is asked
        self._finding = threading.Lock()  # held while results are looked up for `need`

    def result(self, step: Step) -> Result | None:
        """The result that the step has in this run, None while it has none."""
        return self._results.get(step)

    def result_of(self, step: Step) -> Result:
        """The result of a step that has one: what `need` was asked for, or what this run made."""
        return self._results[step]

    def used(self) -> dict[Step, tuple[str, int]]:
        """The key and generation of every result so far."""
        with self._lock:
            used: dict[Step, Manifest | Result] = {**self._session.fixed, **self._results}
        return {step: (result.key, result.generation) for step, result in used.items()}

    def set_result(self, step: Step, manifest: Manifest, *, made: bool = False) -> Result:
        """Note that a step is finished: `made` by this run, or found finished."""
        result = Result(manifest.key, manifest.generation, manifest.outputs, manifest)
        with self._lock:
            self._results[step] = result
            if made:
                self._made.add(manifest.key)
        return result

    def outputs(self, step: Step) -> Mapping[str, Blob] | None:
        """The contents of the outputs that the step has in this run, None while it has none."""
        result = self._results.get(step)
        return result.outputs if result else None

    def inputs(self, step: Step) -> dict[Output, Blob]:
        """The contents of a step's inputs; its upstream steps have results."""
        inputs = inputs_of(step, self.outputs)
        assert inputs is not None, f"a step before {step.label} has no result"
        return inputs

    def resolver(self) -> Resolver:
        """Finds which results count for the steps that this run makes."""
        session = self._session
        lost = LostResults(self._store, session.ref_partitions)
        return Resolver(self._store, session.keys, lost, session.fixed, self._repeats, session.options.repair)

    def _repeats(self, step: Step, manifest: Manifest | None) -> bool:
        """True if a step runs although cached: its stage is to be repeated, and this run has not done so."""
        if step.stage not in self._session.repeat or manifest is None:
            return step.stage in self._session.repeat
        return not (manifest.key in self._made or manifest.provenance.run in self._session.continues)

    def need(self, steps: Collection[Step]) -> None:
        """Find results for steps that this run does not make: by key, else by the partition's ref.

        Raises UpstreamMissing with the command that makes what is missing.

        >>> results = engine.run(session, graph.steps, cancel, listener)
        >>> later.results.need([graph.step("join")])
        >>> later.results.result_of(graph.step("join")).generation
        1
        """
        with self._finding:
            wanted = [step for step in steps if step not in self._results]
            stages = dict.fromkeys(step.stage for step in wanted)
            for stage in stages:
                self._need_stage(stage, [step for step in wanted if step.stage == stage])

    def _need_stage(self, stage: str, steps: list[Step]) -> None:
        found, session = self._find(steps), self._session
        for step in steps:
            if step in found and (step in session.fixed or not missing_outputs(found[step], self._store)):
                self.set_result(step, found[step])
        missing = [step for step in steps if step not in self._results]
        if not missing:
            return
        refs = self._refs(stage)
        if not refs:
            raise UpstreamMissing(
                f"{missing[0].label} is not made, or out of date, and {stage} is not part of this run. "
                f"Make it first: {session.command('train', '--target', stage)}"
            )
        results = {step: self._from_ref(refs[0], step) for step in steps}
        with self._lock:
            self._results.update(results)
        self.warnings.append(
            f"{stage} is out of date ({', '.join(step.label for step in missing[:3])}): "
            f"using the results of run {refs[0].run}. To renew them: "
            f"{session.command('train', '--target', stage)}"
        )

    def _refs(self, stage: str) -> list[Ref]:
        """List the stage's refs, newest first; with overrides, only those with the same."""
        return self._store.refs(self._session.space, self._session.ref_partition, stage)

    def _find(self, steps: Collection[Step]) -> dict[Step, Manifest]:
        """The manifests of steps, by the digests of what they were made from, whose files may be lost."""
        resolver, found = self.resolver(), dict[Step, Manifest]()
        outputs = {step: result.outputs for step, result in self._results.items()}
        for step in self._session.graph.step_closure(steps, known={*self._session.fixed, *outputs}):
            if step not in outputs and (manifest := resolver.find(step, outputs.get)):
                found[step], outputs[step] = manifest, manifest.outputs
        return found

    def _from_ref(self, ref: Ref, step: Step) -> Result:
        outputs = ref.outputs.get(step.label, {})
        lacking = [
            name for name in step.outputs if name not in outputs or not self._store.has_blob(outputs[name])
        ]
        if lacking:
            raise UpstreamMissing(
                f"{step.label} is out of date, and its result of run {ref.run} lacks "
                f"{', '.join(lacking)}. Make it again: "
                f"{self._session.command('train', '--target', step.stage)}"
            )
        return Result(*ref.steps[step.label], outputs)

    def publish(self, stage: str) -> None:
        """Append a ref for a stage whose steps all have results, unless its newest ref says the same."""
        when_reachable(lambda: self._publish(stage), RUN_SECONDS, self._ended.wait, _log.warning)

    @property
    def has_ended(self) -> bool:
        """True if the run has ended."""
        return self._ended.is_set()

    def end(self) -> list[tuple[str, int]] | None:
        """Note that the run has ended: refs wait for a store no longer. The key and generation of every
        result that was made or found; None when it had ended before.
        """
        with self._lock:
            if self._ended.is_set():
                return None
            self._ended.set()
            return [(result.key, result.generation) for result in self._results.values()]

    def _publish(self, stage: str) -> None:
        session = self._session
        results = {step.label: self._results[step] for step in session.graph.stages[stage]}
        used = {label: (result.key, result.generation) for label, result in results.items()}
        newest = self._refs(stage)[:1]
        if newest and newest[0].steps == used:
            return
        self._store.add_ref(
            Ref(
                space=session.space,
                partition=session.ref_partition,
                stage=stage,
                run=session.run,
                time=session.clock.time(),
                steps=used,
                outputs={label: result.outputs for label, result in results.items()},
            )
        )
