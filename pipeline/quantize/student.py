"""The student's forward pass in numpy: a transformer encoder and a recurrent decoder (SSRU), in floats.

Marian's wheel shows nothing of what happens inside a model. This is its computation
(src/models/transformer.h and src/rnn/cells.h of marian-dev), sentence by sentence, as browsers' engines work,
for the family of models that they read.
"""

import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import yaml

from pipeline.common.errors import InputError
from pipeline.quantize.marian_binary import CONFIG

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
# Called with the name of a matrix and the activations that it is about to be multiplied with, one a row
Observer: TypeAlias = Callable[[str, Array], None]

END = 0  # the piece </s>, as pipeline.train.vocab numbers it
JOINT, SOURCE, TARGET = "Wemb", "encoder_Wemb", "decoder_Wemb"

EPSILON = 1e-6
LENGTH_FACTOR = 3  # Marian's max-length-factor: pieces that a translation may have for each of its source

# What the engines of browsers take for granted. An option that a model does not name has this value.
FAMILY: Mapping[str, object] = {
    "type": "transformer",
    "transformer-decoder-autoreg": "rnn",
    "dec-cell": "ssru",
    "layer-normalization": False,
    "transformer-preprocess": "",
    "transformer-postprocess": "dan",
    "transformer-postprocess-emb": "d",
    "transformer-postprocess-top": "",
    "transformer-ffn-activation": "relu",
    "transformer-ffn-depth": 2,
    "transformer-decoder-ffn-depth": (0, 2),
    "transformer-tied-layers": [],
    "transformer-no-projection": False,
    "transformer-no-bias": False,
    "transformer-no-affine": False,
    "transformer-rnn-projection": False,
    "transformer-train-position-embeddings": False,
    "transformer-disable-position-embeddings": False,
    "transformer-alibi": False,
    "output-omit-bias": False,
    "lemma-dim-emb": 0,
    "factors-dim-emb": 0,
    "ulr": False,
    "input-types": [],
}


@dataclass(frozen=True)
class Weights:
    """A model.npz of Marian's: matrices by name, and the configuration that it carries."""

    arrays: Mapping[str, Array]
    config_text: bytes

    @property
    def config(self) -> Mapping[str, Any]:
        """Marian's options by name."""
        return dict(yaml.safe_load(self.config_text.rstrip(b"\0")))

    @property
    def embeddings(self) -> tuple[str, str]:
        """Names of the matrices of source and target; the same when the vocabulary is joint."""
        return (JOINT, JOINT) if JOINT in self.arrays else (SOURCE, TARGET)


def read_weights(path: Path) -> Weights:
    """Read a model.npz; raises InputError when it is none."""
    try:
        with path.open("rb") as file, np.load(file) as archive:
            arrays = dict(archive)
        return Weights(arrays, arrays.pop(CONFIG).tobytes())
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} is not a model of Marian ({error}). Train the student again.") from error


def check_family(weights: Weights) -> None:
    """Raise InputError for a model that browsers' engines cannot run."""
    config = weights.config
    wrong = [
        f"{name}: {config[name]}"
        for name, expected in FAMILY.items()
        if name in config and config[name] not in (expected if isinstance(expected, tuple) else (expected,))
    ]
    if not set(weights.embeddings) <= set(weights.arrays) or "decoder_ff_logit_out_W" in weights.arrays:
        wrong.append("tied-embeddings: false")
    if wrong:
        raise InputError(
            f"The student has {', '.join(wrong)}. Browsers' engines run transformers with a recurrent "
            "decoder (ssru), as tiny, base and base-memory are. "
            "Train such a student (marian-args.training-student)."
        )


class Student:
    """A model of the family, ready to compute. `observe` sees what enters each matrix product."""

    def __init__(self, weights: Weights, observe: Observer | None = None) -> None:
        """Raise InputError for a model of another family."""
        check_family(weights)
        config = weights.config
        self._arrays = weights.arrays
        self._observe = observe
        self._source, self._target = weights.embeddings
        self._dim = int(config["dim-emb"])
        self._heads = int(config["transformer-heads"])
        self._encoder = [f"encoder_l{layer + 1}" for layer in range(config["enc-depth"])]
        self._decoder = [f"decoder_l{layer + 1}" for layer in range(config["dec-depth"])]

    def encode(self, source: Sequence[int]) -> Array:
        """The encoder's output, a row for each piece of a sentence; END must be its last."""
        x = self._embedded(self._arrays[self._source][list(source)], 0)
        for layer in self._encoder:
            keys, values = self._keys_and_values(f"{layer}_self", x)
            x = self._normal(f"{layer}_self_Wo", x + self._attended(f"{layer}_self", x, keys, values))
            x = self._feed_forward(f"{layer}_ffn", x)
        return x

    def score(self, source: Sequence[int], target: Sequence[int]) -> Array:
        """The logarithm of the probability of each piece of a translation, whose last must be END."""
        logits = self._logits(self._forced(source, target))
        logits -= logits.max(axis=1, keepdims=True)
        logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
        scores: Array = logits[np.arange(len(target)), list(target)]
        return scores

    def run(self, source: Sequence[int], target: Sequence[int]) -> None:
        """Compute all that leads to a translation, for the observer's sake."""
        self._observed(self._target, self._forced(source, target))

    def translate(self, source: Sequence[int]) -> list[int]:
        """The pieces of the greedy translation, without END."""
        decoding = self._start(source)
        previous: Array = np.zeros((1, self._dim), np.float32)
        pieces: list[int] = []
        for position in range(LENGTH_FACTOR * len(source)):
            piece = int(self._logits(self._decoded(decoding, previous, position)).argmax())
            if piece == END:
                break
            pieces.append(piece)
            previous = self._arrays[self._target][[piece]]
        return pieces

    def _forced(self, source: Sequence[int], target: Sequence[int]) -> Array:
        """The decoder's output for all positions of a translation at once."""
        previous = self._arrays[self._target][[END, *target[:-1]]]
        previous[0] = 0  # nothing comes before the first piece
        return self._decoded(self._start(source), previous, 0)

    def _start(self, source: Sequence[int]) -> list["_Layer"]:
        context = self.encode(source)
        return [
            _Layer(name, *self._keys_and_values(f"{name}_context", context), np.zeros(self._dim, np.float32))
            for name in self._decoder
        ]

    def _decoded(self, layers: Sequence["_Layer"], previous: Array, position: int) -> Array:
        x = self._embedded(previous, position)
        for layer in layers:
            x = self._normal(f"{layer.name}_rnn_ffn", x + self._recurrent(layer, x))
            context = f"{layer.name}_context"
            x = self._normal(f"{context}_Wo", x + self._attended(context, x, layer.keys, layer.values))
            x = self._feed_forward(f"{layer.name}_ffn", x)
        return x

    def _recurrent(self, layer: "_Layer", x: Array) -> Array:
        """Each state is the one before and a candidate, mixed by a gate that depends on the input alone."""
        gates = _sigmoid(self._product(f"{layer.name}_rnn_Wf", x, f"{layer.name}_rnn_bf"))
        added = (1 - gates) * self._product(f"{layer.name}_rnn_W", x)
        states = np.empty_like(added)
        for row in range(len(x)):
            layer.state = gates[row] * layer.state + added[row]
            states[row] = layer.state
        output: Array = np.maximum(states, 0)
        return output

    def _keys_and_values(self, prefix: str, x: Array) -> tuple[Array, Array]:
        keys, values = (
            self._heads_of(self._product(f"{prefix}_W{kind}", x, f"{prefix}_b{kind}")) for kind in "kv"
        )
        return keys, values

    def _attended(self, prefix: str, x: Array, keys: Array, values: Array) -> Array:
        queries = self._heads_of(self._product(f"{prefix}_Wq", x, f"{prefix}_bq"))
        scores = queries @ keys.transpose(0, 2, 1) / np.float32(np.sqrt(self._dim / self._heads))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        joined = ((scores / scores.sum(axis=-1, keepdims=True)) @ values).transpose(1, 0, 2)
        return self._product(f"{prefix}_Wo", joined.reshape(len(x), -1), f"{prefix}_bo")

    def _heads_of(self, x: Array) -> Array:
        """Rows of all heads → for each head, its part of the rows."""
        return x.reshape(len(x), self._heads, -1).transpose(1, 0, 2)

    def _feed_forward(self, prefix: str, x: Array) -> Array:
        hidden = np.maximum(self._product(f"{prefix}_W1", x, f"{prefix}_b1"), 0)
        return self._normal(f"{prefix}_ffn", x + self._product(f"{prefix}_W2", hidden, f"{prefix}_b2"))

    def _normal(self, prefix: str, x: Array) -> Array:
        x = x - x.mean(axis=-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + np.float32(EPSILON))
        normal: Array = x * self._arrays[f"{prefix}_ln_scale"] + self._arrays[f"{prefix}_ln_bias"]
        return normal

    def _logits(self, x: Array) -> Array:
        logits: Array = x @ self._arrays[self._target].T + self._arrays["decoder_ff_logit_out_b"]
        return logits

    def _product(self, name: str, x: Array, bias: str | None = None) -> Array:
        self._observed(name, x)
        product: Array = x @ self._arrays[name]
        if bias:
            product += self._arrays[bias]
        return product

    def _observed(self, name: str, x: Array) -> None:
        if self._observe:
            self._observe(name, x)

    def _embedded(self, rows: Array, position: int) -> Array:
        """Embeddings scaled, with Marian's signal of positions: sines, then cosines."""
        half = self._dim // 2
        rates = np.exp(np.arange(half) * -(np.log(1e4) / (half - 1)))
        angles = np.arange(position, position + len(rows))[:, None] * rates
        signal = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
        embedded: Array = rows * np.float32(np.sqrt(self._dim)) + signal.astype(np.float32)
        return embedded


@dataclass
class _Layer:
    """A decoder's layer in the course of a sentence: what it attends to, and its state."""

    name: str
    keys: Array
    values: Array
    state: Array


def _sigmoid(x: Array) -> Array:
    result: Array = 1 / (1 + np.exp(-x))
    return result
