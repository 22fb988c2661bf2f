"""A session: what one run knows of one partition's graph, shared by all its assets.

It remembers which result each step has, finds the results of steps that the run does not itself make, and
writes down what the run uses before it is used, so that nothing is collected as garbage meanwhile.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from translations_assets.steps.errors import TranslationsError
from translations_assets.steps.graph import Graph
from translations_assets.steps.key import KeyMaker
from translations_assets.steps.manifest import Blob, Manifest, Ref
from translations_assets.steps.plan import missing_outputs
from translations_assets.steps.protocols import Store
from translations_assets.steps.step import Output, Step


class UpstreamMissing(TranslationsError):
    """A step needs a result that was never made, or is out of date, and no ref stands in for it."""


@dataclass(frozen=True)
class Result:
    """A step's result in this run: the key and generation that count, and the output files' contents."""

    key: str
    generation: int
    outputs: Mapping[str, Blob]
    manifest: Manifest | None = None


@dataclass
class Session:
    """State of one run over one graph; safe for use by several threads.

    repeat  stages whose steps run although cached (each once a run)
    """

    run: str
    partition: str
    space: str
    graph: Graph
    store: Store
    keys: KeyMaker
    repeat: Collection[str] = ()
    warnings: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._results: dict[Step, Result] = {}
        self._used: dict[str, tuple[str, int]] = {}
        self._made: set[str] = set()
        self._started = time.time()
        self._lock = threading.RLock()

    def result(self, step: Step) -> Result | None:
        """The result that the step has in this run, None while it has none."""
        return self._results.get(step)

    def set_result(self, step: Step, manifest: Manifest, *, made: bool = False) -> Result:
        """Note that a step is finished: `made` by this run, or found finished."""
        result = Result(manifest.key, manifest.generation, manifest.outputs, manifest)
        with self._lock:
            self._keep(step, result)
            if made:
                self._made.add(manifest.key)
        return result

    def _keep(self, step: Step, result: Result) -> None:
        self._results[step] = result
        self._used[step.label] = (result.key, result.generation)

    def repeats(self, step: Step, key: str) -> bool:
        """Whether a step runs although cached: its stage is to be repeated, and this run has not done so."""
        return step.stage in self.repeat and key not in self._made

    def inputs(self, step: Step) -> dict[Output, Blob]:
        """The contents of a step's inputs; its upstream steps have results."""
        return {
            output: self._results[output.step].outputs[output.name] for _, _, output in step.input_outputs()
        }

    def write_down(self) -> None:
        """Store which results the run uses, key by key."""
        with self._lock:
            value = {
                "run": self.run,
                "partition": self.partition,
                "space": self.space,
                "config": self.graph.config.digest,
                "started": self._started,
                "heartbeat": time.time(),
                "uses": {label: list(used) for label, used in self._used.items()},
            }
            self.store.write_run(self.run, value)

    def need(self, steps: Collection[Step]) -> None:
        """Find results for steps that this run does not make: by key, else by the partition's ref.

        Raises UpstreamMissing with the command that makes what is missing.
        """
        with self._lock:
            wanted = [step for step in steps if step not in self._results]
            stages = dict.fromkeys(step.stage for step in wanted)
            for stage in stages:
                self._need_stage(stage, [step for step in wanted if step.stage == stage])

    def _need_stage(self, stage: str, steps: list[Step]) -> None:
        missing = [step for step in steps if not self._by_key(step)]
        if not missing:
            return
        refs = self.store.refs(self.space, self.partition, stage)
        if not refs:
            raise UpstreamMissing(
                f"{missing[0].label} is out of date or was never made, and {stage} is not part of this run. "
                f"Make it first: translations train {self.partition} --target {stage}"
            )
        self._use_ref(refs[0], steps)
        self.warnings.append(
            f"{stage} is out of date ({', '.join(step.label for step in missing[:3])}): "
            f"using what run {refs[0].run} made. To renew it: "
            f"translations train {self.partition} --target {stage}"
        )

    def _by_key(self, step: Step) -> bool:
        """Note a step's result when the store has it whole; whether it has."""
        manifest = self._look_up(step, {})
        if manifest is None or missing_outputs(manifest, self.store):
            return False
        self.set_result(step, manifest)
        return True

    def _look_up(self, step: Step, seen: dict[Step, Mapping[str, Blob] | None]) -> Manifest | None:
        """A step's manifest by its key. Of the steps before it the digests are enough: they may be lost."""
        inputs = {}
        for _, _, output in step.input_outputs():
            contents = self._contents(output.step, seen)
            if contents is None:
                return None
            inputs[output] = contents[output.name]
        return self.store.latest(self.keys.parts(step, inputs).digest)

    def _contents(self, step: Step, seen: dict[Step, Mapping[str, Blob] | None]) -> Mapping[str, Blob] | None:
        if step in self._results:
            return self._results[step].outputs
        if step not in seen:
            manifest = self._look_up(step, seen)
            seen[step] = manifest.outputs if manifest else None
        return seen[step]

    def _use_ref(self, ref: Ref, steps: list[Step]) -> None:
        for step, result in [(step, self._from_ref(ref, step)) for step in steps]:
            self._keep(step, result)

    def _from_ref(self, ref: Ref, step: Step) -> Result:
        outputs = ref.outputs.get(step.label, {})
        lacking = [
            name for name in step.outputs if name not in outputs or not self.store.has_blob(outputs[name])
        ]
        if lacking:
            raise UpstreamMissing(
                f"{step.label} is out of date, and what run {ref.run} made of it has no "
                f"{', '.join(lacking)}. Make it again: "
                f"translations train {self.partition} --target {step.stage}"
            )
        return Result(*ref.steps[step.label], outputs)

    def publish(self, stage: str) -> None:
        """Append a ref for a stage whose steps all have results, unless its newest ref says the same."""
        steps = self.graph.stages[stage]
        results = {step.label: self._results[step] for step in steps}
        used = {label: (result.key, result.generation) for label, result in results.items()}
        newest = self.store.refs(self.space, self.partition, stage)[:1]
        if newest and newest[0].steps == used:
            return
        self.store.add_ref(
            Ref(
                space=self.space,
                partition=self.partition,
                stage=stage,
                run=self.run,
                time=time.time(),
                config_digest=self.graph.config.digest,
                steps=used,
                outputs={label: result.outputs for label, result in results.items()},
            )
        )
