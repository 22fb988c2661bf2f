"""A COMET model of random weights in Marian's form, named as Marian's converter names them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import yaml

SIZE, FILTER, HEADS, LAYERS, POSITIONS = 16, 32, 2, 2, 512
POOLER = (32, 16)
ENCODER, POOL = "CometEncoder->encoder", "CometQEPooler"
CONFIG = {
    "type": "comet",
    "version": "random",
    "dim-emb": SIZE,
    "enc-depth": LAYERS,
    "max-length": POSITIONS,
    "transformer-dim-ffn": FILTER,
    "transformer-heads": HEADS,
    "transformer-ffn-depth": 2,
    "transformer-ffn-activation": "gelu",
    "transformer-train-position-embeddings": True,
    "transformer-preprocess": "",
    "transformer-postprocess": "dan",
    "transformer-postprocess-emb": "nd",
    "tied-embeddings-all": True,
    "tied-embeddings-src": False,
    "bert-train-type-embeddings": False,
    "bert-type-vocab-size": 0,
    "comet-prepend-zero": True,
    "comet-mix": True,
    "comet-mix-norm": False,
    "comet-mix-transformation": "sparsemax",
    "comet-final-sigmoid": True,
    "comet-pooler-ffn": list(POOLER),
}


def write_comet(path: Path, pieces: int, seed: int = 1) -> None:
    """Write the weights (.npz) of a model for a vocabulary of so many pieces."""
    chance = np.random.default_rng(seed)
    shapes = dict([*_embeddings(pieces), *_encoder(), *_pooler()])
    weights = {name: chance.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}
    norms = {name: np.ones(shape, np.float32) for name, shape in _norms()}
    described = yaml.safe_dump({**CONFIG, "dim-vocabs": [pieces]}).encode() + b"\0"
    config = {"special:model.yml": np.frombuffer(described, dtype=np.int8)}
    arrays: dict[str, Any] = {**weights, **norms, **config}
    np.savez(path, **arrays)


def _layers() -> Iterator[str]:
    for layer in range(LAYERS):
        yield f"{ENCODER}->layers->at({layer})->as<marian::nn::TransformerEncoderLayer>()"


def _norms() -> Iterator[tuple[str, tuple[int, ...]]]:
    blocks = [f"{layer}->{name}" for layer in _layers() for name in ("selfAttentionBlock", "filterBlock")]
    for norm in (f"{ENCODER}->preprocessor", *(f"{block}->postprocessor" for block in blocks)):
        yield f"{norm}->norm->weight", (SIZE,)
        yield f"{norm}->norm->bias", (SIZE,)
    yield f"{ENCODER}->gamma", (1,)


def _embeddings(pieces: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    yield "Wemb", (pieces, SIZE)
    yield f"{ENCODER}->positionEmbedding->embeddings", (POSITIONS, SIZE)


def _encoder() -> Iterator[tuple[str, tuple[int, ...]]]:
    yield f"{ENCODER}->weights", (LAYERS + 1,)
    for layer in _layers():
        for name in "qkvo":
            yield from _linear(f"{layer}->selfAttentionBlock->selfAttention->{name}Proj", SIZE, SIZE)
        yield from _linear(_linear_at(f"{layer}->filterBlock", 0), SIZE, FILTER)
        yield from _linear(_linear_at(f"{layer}->filterBlock", 3), FILTER, SIZE)


def _pooler() -> Iterator[tuple[str, tuple[int, ...]]]:
    sizes = (6 * SIZE, *POOLER, 1)  # translation, reference, products and differences
    for number, (width, height) in enumerate(zip(sizes, sizes[1:], strict=False)):
        yield from _linear(_linear_at(POOL, 3 * number), width, height)


def _linear_at(of: str, place: int) -> str:
    return f"{of}->layers->at({place})->as<marian::nn::Linear>()"


def _linear(name: str, width: int, height: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    yield f"{name}->weight", (width, height)
    yield f"{name}->bias", (height,)
