"""The work of a training: its epochs, the pieces of text that it reads, the weights that each passes."""

from __future__ import annotations

import json
import math
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
PIECES_A_LINE = 20  # where an update counts lines
PIECES_A_PAIR_BYTE = 0.1  # of the source side, in compressed training pairs
FLOPS_A_WEIGHT = 6  # and piece: two forwards, four backwards (Kaplan et al. 2020, arXiv:2001.08361)
VOCABULARY = 32_000  # pieces, where another run has made it

# Stage → passes over LARGE pieces of text until its training stops by itself; over less text more of them, by
# the root. Mozilla's teachers read 24 billion words of 160 million pairs, and others are assumed beside that:
# https://github.com/mozilla/translations/issues/733
PASSES: Mapping[str, float] = {
    "train_backwards": 5.0,
    "train_teacher": 7.5,
    "train_student": 10.0,
    "finetune_student": 1.0,
}
LARGE = 6e9
MOST_PASSES = 60.0

_TASKS: Mapping[str, Mapping[str, Any]] = {
    "transformer-base": {"dim-emb": 512, "transformer-dim-ffn": 2048, "enc-depth": 6, "dec-depth": 6},
    "transformer-big": {"dim-emb": 1024, "transformer-dim-ffn": 4096, "enc-depth": 6, "dec-depth": 6},
}
_MARIAN: Mapping[str, Any] = {  # its defaults
    "type": "amun",
    "dim-emb": 512,
    "dim-rnn": 1024,
    "transformer-dim-ffn": 2048,
    "enc-depth": 1,
    "dec-depth": 1,
}
_SHAPE = (*_MARIAN, "task", "transformer-decoder-autoreg")


def weights_of(step: Step, keys: KeyMaker) -> float:
    """The weights that a pair of pieces passes, one of the source and one of the target, in the model that a
    step trains: those of all layers, and once those of the vocabulary.
    """
    shape = _shape(step, keys)
    width, inner = shape["dim-emb"], shape["transformer-dim-ffn"]
    output = width * _vocabulary(step)
    if shape["type"] != "transformer":  # gates of GRUs: two directions of the source, two cells of the target
        cells = shape["dim-rnn"]
        return float(output + 12 * cells * (width + cells) * max(shape["enc-depth"], shape["dec-depth"]))
    attention, feed_forward = 4 * width**2, 2 * width * inner
    before = 2 * width**2 if shape.get("transformer-decoder-autoreg") == "rnn" else attention
    encoder = shape["enc-depth"] * (attention + feed_forward)
    return float(output + encoder + shape["dec-depth"] * (before + attention + feed_forward))


def pieces_of_an_update(step: Step, keys: KeyMaker) -> float:
    """The source pieces of an update."""
    options = training_options(step, keys)
    words = options.get("mini-batch-words") or 0
    return float(words or PIECES_A_LINE * options.get("mini-batch", MINI_BATCH))


def updates_of(step: Step, keys: KeyMaker, read: float | None) -> int | None:
    """The updates of a training that reads so many bytes of compressed pairs: as its options or its
    curriculum end it, else as others of its stage have stopped. None while the text is not known.
    """
    if updates := last_update(step):
        return updates
    if not read or step.stage not in PASSES:
        return None
    pieces = read * PIECES_A_PAIR_BYTE
    curriculum = repo_yaml(step, keys, "curriculum")
    last = curriculum[curriculum["stages"][-1]][-1]  # `until original 10`
    passes = float(last.split()[-1])
    if math.isinf(passes):
        passes = min(MOST_PASSES, PASSES[step.stage] * max(1.0, LARGE / pieces) ** 0.5)
    return math.ceil(passes * pieces / pieces_of_an_update(step, keys))


def _shape(step: Step, keys: KeyMaker) -> Mapping[str, Any]:
    """The options that shape the model of a step, those of the training that it goes on from among them."""
    before: Mapping[str, Any] = {}
    given = step.inputs.get("pretrained_args") or step.inputs.get("pretrained_shape")
    if isinstance(given, Output) and "marian_args" in given.step.args:
        before = _shape(given.step, keys)
    options = training_options(step, keys)
    own = {name: options[name] for name in _SHAPE if name in options}
    task = str(own.get("task", "")).removesuffix("-prenorm")
    kind = {"type": "transformer", **_TASKS[task]} if task in _TASKS else {}
    return {**_MARIAN, **kind, **own, **before}


def _vocabulary(step: Step) -> int:
    """The pieces of the target's vocabulary."""
    given = step.inputs.get("target_vocab")
    size = given.step.args.get("vocab_size") if isinstance(given, Output) else None
    return int(size) if isinstance(size, int | str) else VOCABULARY


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
    mixes = _mixes(step, keys)
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


def _mixes(step: Step, keys: KeyMaker) -> list[list[str]]:
    """The stages of a step's curriculum, with the shares that `pipeline.train.train` lays into them."""
    curriculum = repo_yaml(step, keys, "curriculum")
    old = float(str(step.args.get("old_text") or 0))
    shares = {"old-text": old, "new-text": 1 - old}
    return [[line.format_map(shares) for line in curriculum[stage]] for stage in curriculum["stages"]]


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
