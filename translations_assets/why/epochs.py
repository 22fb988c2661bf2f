"""Epochs of a training: by its options, its curriculum, and the statistics of the text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from translations_assets.graph.step import Folder, Output, RepoFile, Step
from translations_assets.keys.key import KeyMaker
from translations_assets.records.manifest import Manifest
from translations_assets.results.files import STATISTICS, read_statistics
from translations_assets.running.protocols import Reading

MINI_BATCH = 64  # Marian's default
# What these scripts leave has the lines of the text that they read, or nearly all of them.
_KEEPING = ("pipeline.alignments.", "pipeline.train.training_pairs")
_SCALES = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9}


@dataclass(frozen=True)
class Epochs:
    """The most epochs of a training; early stopping may end it before.

    batch     pairs of an update
    by_text   name of a text (`original`, `backtranslated`) → epochs
    is_ended  whether the curriculum ends the training, before so many updates
    """

    updates: int
    batch: int
    by_text: Mapping[str, float]
    is_ended: bool

    def __str__(self) -> str:
        """`600 updates of 48 are about 0.5 epochs`, for people."""
        name, *others = self.by_text
        epochs = f"{_number(self.by_text[name])} epochs" + (f" of {name}" if others else "")
        of_others = "".join(f", {_number(self.by_text[other])} of {other}" for other in others)
        updates = f"{self.updates:,} updates of {self.batch}"
        if self.is_ended:
            return f"its curriculum ends after {epochs}{of_others}, before {updates}"
        return f"{updates} are about {epochs}{of_others}"


def epochs(step: Step, keys: KeyMaker, store: Reading, results: Mapping[Step, Manifest]) -> Epochs | None:
    """The epochs of a step that trains, by the results that count so far.

    None for other steps, while a text is not made, and where nothing tells: early stopping alone ends the
    training, or the pairs of an update are not known, as they are counted in words, or fill a GPU's memory.
    """
    updates = last_update(step)
    batch = _batch(step, keys) if updates else None
    if not updates or not batch:
        return None
    curriculum = repo_yaml(step, keys, "curriculum")
    mixes = [curriculum[stage] for stage in curriculum["stages"]]
    lines: dict[str, int] = {}
    for name in dict.fromkeys(line.split()[0] for mix in mixes for line in mix[:-1]):
        pairs = step.inputs.get(name)
        found = (
            _lines(next(iter(pairs.files.values())), store, results) if isinstance(pairs, Folder) else None
        )
        if not found:
            return None
        lines[name] = found
    read, rest = _read(mixes, lines, updates * batch)
    return Epochs(updates, batch, {name: read[name] / lines[name] for name in lines}, rest > 0)


def last_update(step: Step) -> int | None:
    """After how many updates the training that a step is ends at the latest; None when nothing says so."""
    options = json.loads(str(step.args.get("marian_args", "{}")))
    found = re.fullmatch(r"(\d+)([kKMG]?)u?", str(options.get("after", "")))  # as Marian reads it
    return int(found[1]) * _SCALES[found[2]] or None if found else None


def _batch(step: Step, keys: KeyMaker) -> int | None:
    """The pairs of an update; None when the options do not tell."""
    own = json.loads(str(step.args["marian_args"]))
    if step.inputs.get("pretrained_args") and "mini-batch" not in own:
        return None  # those of the other training count
    merged = training_options(step, keys)
    is_told = not merged.get("mini-batch-fit") and not merged.get("mini-batch-words")
    return int(merged.get("mini-batch", MINI_BATCH)) if is_told else None


def training_options(step: Step, keys: KeyMaker) -> dict[str, Any]:
    """The options of a step that trains, as pipeline.train.settings merges them."""
    own = json.loads(str(step.args["marian_args"]))
    merged = {**repo_yaml(step, keys, "model_config"), **repo_yaml(step, keys, "training_config"), **own}
    if "mini-batch" in own and "mini-batch-words" not in own:
        merged["mini-batch-words"] = 0
    return merged


def repo_yaml(step: Step, keys: KeyMaker, name: str) -> dict[str, Any]:
    """A file of the repository that a step reads."""
    file = step.inputs[name]
    assert isinstance(file, RepoFile)
    parsed: dict[str, Any] = yaml.safe_load(keys.repo_bytes(file))
    return parsed


def _lines(text: Output, store: Reading, results: Mapping[Step, Manifest]) -> int | None:
    """The lines of a text, as the statistics of the step say that made it, or made what that one read."""
    step, manifest = text.step, results.get(text.step)
    if manifest and (blob := manifest.outputs.get(STATISTICS)) and store.has_blob(blob):
        stats = read_statistics(store, manifest.outputs, step.label)
        return (stats.lines.kept or None) if stats and stats.lines else None
    before = step.inputs.get("corpus_src")
    if step.script.startswith(_KEEPING) and isinstance(before, Output):
        return _lines(before, store, results)
    return None


def _read(
    mixes: list[list[str]], lines: Mapping[str, int], wanted: float
) -> tuple[Mapping[str, float], float]:
    """The lines that are read of each text, of so many wanted, and how many the curriculum lacks.

    A stage of a curriculum is a mix: `original 0.6`, `backtranslated 0.4`, `until backtranslated 2`.
    """
    read = dict.fromkeys(lines, 0.0)
    for *mix, until in mixes:
        shares = {name: float(share) for name, share in map(str.split, mix)}
        _, name, times = until.split()
        part = min(wanted, float(times) * lines[name] / shares[name])
        for text, share in shares.items():
            read[text] += part * share
        wanted -= part
    return read, wanted


def _number(epochs: float) -> str:
    return f"{epochs:,.0f}" if epochs >= 10 else f"{epochs:.2g}"
