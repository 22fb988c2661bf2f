"""Results of an earlier run that stand for stages of a new one, whatever their keys (`--previous-run`).

What upstream's `previous-group-ids` did in silence is said step by step: what differs from what this training
config asks for is named, and what cannot fit is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from translations_assets.common.errors import TranslationsError
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.graph import Graph
from translations_assets.graph.step import Step
from translations_assets.keys.key import KeyMaker
from translations_assets.records.manifest import KeyParts, Manifest
from translations_assets.records.run import RunRecord
from translations_assets.running.protocols import Store
from translations_assets.running.resolve import inputs_of, missing_outputs

Explain = Callable[[Step, KeyParts, Manifest], Sequence[str]]


@dataclass(frozen=True)
class Previous:
    """The results that stand in, and for each step what is overlooked in using them."""

    fixed: Mapping[Step, Manifest]
    overlooked: tuple[str, ...]


def previous_results(
    config: TrainingConfig,
    graph: Graph,
    store: Store,
    keys: KeyMaker,
    *,
    run: str,
    repeat: Collection[str],
    selected: Collection[str],
    force: bool,
    explain: Explain,
) -> Previous:
    """The results of an earlier run for all steps but those of the repeated stages.

    `selected` are the stages of the new run: nothing that only other stages read has to be there. `explain`
    says what differs between a step's key and an artifact. Raises TranslationsError when there is no such
    run, when no stage is repeated, and, unless `force` is set, when results do not fit: another language
    pair, another vocabulary, a result or file that is not there. With `force` a step whose result or files
    are missing is looked up by its key, as without a previous run.
    """
    if not repeat:
        raise TranslationsError("A previous run replaces the stages before a start stage: add --start STAGE.")
    record = store.read_run(run)
    if record is None:
        raise TranslationsError(f"The store has no run {run}. To list the runs: translations status")
    before = [step for step in graph.steps if step.stage not in repeat]
    found = _results(before, record, store)
    made = [step for step in graph.steps if step.stage in repeat and step.stage in selected]
    usable, missing = _taken(before, made, selected, found, store)
    misfits = [*_other_pair(config, record), *_other_vocabulary(found), *missing]
    if misfits and not force:
        raise TranslationsError(
            f"The results of run {run} do not fit:\n"
            + "\n".join(f"  {misfit}" for misfit in misfits)
            + "\nTo use them all the same, add --force; else leave out --previous-run."
        )
    return Previous(usable, (*misfits, *_differences(before, usable, store, keys, explain)))


def _results(steps: list[Step], record: RunRecord, store: Store) -> dict[Step, Manifest]:
    """Return the run's results by step, as far as there are manifests."""
    found = {}
    for step in steps:
        used = record.uses.get(step.label)
        if used and (manifest := store.generation(*used)):
            found[step] = manifest
    return found


def _other_pair(config: TrainingConfig, record: RunRecord) -> list[str]:
    ours = (config.experiment.src, config.experiment.trg)
    theirs = record.pair or ours
    if theirs == ours:
        return []
    return [f"it translates {theirs[0]} to {theirs[1]}, and this training config {ours[0]} to {ours[1]}"]


def _other_vocabulary(found: Mapping[Step, Manifest]) -> list[str]:
    """Models with another vocabulary than the run's own, and a vocabulary made otherwise than asked for."""
    made = {step: result for step, result in found.items() if step.stage == "train_vocab"}
    known = {blob.digest for result in made.values() for blob in result.outputs.values()}
    models = [
        f"{step.label} has another vocabulary ({name}) than that of the run"
        for step, result in found.items()
        for name, blob in result.outputs.items()
        if known and step not in made and name.endswith(".spm") and blob.digest not in known
    ]
    made_otherwise = [
        f"{step.label}: another vocabulary than this training config asks for ({difference})"
        for step, result in made.items()
        for difference in _changed(dict(step.args), result.provenance.parts.args)
    ]
    return models + made_otherwise


def _taken(
    before: Sequence[Step],
    made: Iterable[Step],
    selected: Collection[str],
    found: Mapping[Step, Manifest],
    store: Store,
) -> tuple[dict[Step, Manifest], list[str]]:
    """The results that can be taken, and what is missing of others, which steps read that are to be made.

    `made` are those of the repeated stages; steps before them are, too, whose own result cannot be taken.
    """
    needed = _read_by(made)
    asked, taken, problems = {*needed}, dict[Step, Manifest](), list[str]()
    for step in reversed(before):  # those that read from a step come first
        result, names = found.get(step), needed.get(step, set())
        absent = names - result.outputs.keys() | {*missing_outputs(result, store)} if result else set()
        if result and not absent:
            taken[step] = result
            continue
        if absent and names:
            problems.append(f"{step.label}: {', '.join(sorted(absent))} is missing from the store")
        elif step in asked:
            problems.append(f"{step.label}: the run has no result of it")
        if names or step.stage in selected:
            for up, read in _read_by([step]).items():
                needed.setdefault(up, set()).update(read)
    return taken, problems[::-1]


def _read_by(steps: Iterable[Step]) -> dict[Step, set[str]]:
    """The names of the outputs that steps read, by the steps that make them."""
    read: dict[Step, set[str]] = {}
    for step in steps:
        for _, _, output in step.input_outputs():
            read.setdefault(output.step, set()).add(output.name)
    return read


def _differences(
    steps: list[Step], fixed: Mapping[Step, Manifest], store: Store, keys: KeyMaker, explain: Explain
) -> list[str]:
    """For each step that is taken although its key differs, what differs."""
    known = {step: manifest.outputs for step, manifest in fixed.items()}
    lines = []
    for step in steps:
        inputs = inputs_of(step, known.get)
        if inputs is None:
            continue
        parts = keys.parts(step, inputs)
        if step not in fixed:
            if manifest := store.latest(parts.digest):
                known[step] = manifest.outputs
        elif parts.digest != fixed[step].key:
            lines.append(f"{step.label}: {'; '.join(explain(step, parts, fixed[step]))}")
    return lines


def _changed(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    names = dict.fromkeys([*theirs, *ours])
    return [name for name in names if ours.get(name) != theirs.get(name)]
