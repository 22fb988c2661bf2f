"""The work of a training: how many pieces of text it reads, and how many weights each of them passes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from translations_assets.graph.step import Output, Step
from translations_assets.keys.key import KeyMaker
from translations_assets.why.epochs import MINI_BATCH, last_update, repo_yaml, training_options

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
