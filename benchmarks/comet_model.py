"""A COMET model of random weights in Marian's form, named as Marian's converter names them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import yaml

ENCODER, POOL = "CometEncoder->encoder", "CometQEPooler"
POSITIONS = 512

Shapes: TypeAlias = Iterator[tuple[str, tuple[int, ...]]]


@dataclass(frozen=True)
class Shape:
    """Sizes of the encoder's states, its inner layers and the pooler's; numbers of heads and layers."""

    size: int
    inner: int
    heads: int
    layers: int
    pooler: tuple[int, ...]


TINY = Shape(16, 32, 2, 2, (32, 16))
COMET22 = Shape(1024, 4096, 16, 24, (3072, 1024))  # wmt22-comet-da, over XLM-R large


def write_comet(path: Path, pieces: int, shape: Shape = TINY, scale: float = 0.3) -> None:
    """Write the weights (.npz) of a model for a vocabulary of so many pieces; `scale` is their deviation."""
    chance = np.random.default_rng(1)
    shapes = dict([*_embeddings(shape, pieces), *_encoder(shape), *_pooler(shape)])
    weights = {name: _random(chance, of, scale) for name, of in shapes.items()}
    norms = {name: np.ones(of, np.float32) for name, of in _norms(shape)}
    described = yaml.safe_dump({**_described(shape), "dim-vocabs": [pieces]}).encode() + b"\0"
    config = {"special:model.yml": np.frombuffer(described, dtype=np.int8)}
    arrays: dict[str, Any] = {**weights, **norms, **config}
    np.savez(path, **arrays)


def _random(chance: np.random.Generator, shape: tuple[int, ...], scale: float) -> npt.NDArray[np.float32]:
    return scale * chance.standard_normal(shape, np.float32)


def _described(shape: Shape) -> dict[str, object]:
    return {
        "type": "comet",
        "version": "random",
        "dim-emb": shape.size,
        "enc-depth": shape.layers,
        "max-length": POSITIONS,
        "transformer-dim-ffn": shape.inner,
        "transformer-heads": shape.heads,
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
        "comet-pooler-ffn": list(shape.pooler),
    }


def _layers(shape: Shape) -> Iterator[str]:
    for layer in range(shape.layers):
        yield f"{ENCODER}->layers->at({layer})->as<marian::nn::TransformerEncoderLayer>()"


def _norms(shape: Shape) -> Shapes:
    blocks = [
        f"{layer}->{name}" for layer in _layers(shape) for name in ("selfAttentionBlock", "filterBlock")
    ]
    for norm in (f"{ENCODER}->preprocessor", *(f"{block}->postprocessor" for block in blocks)):
        yield f"{norm}->norm->weight", (shape.size,)
        yield f"{norm}->norm->bias", (shape.size,)
    yield f"{ENCODER}->gamma", (1,)


def _embeddings(shape: Shape, pieces: int) -> Shapes:
    yield "Wemb", (pieces, shape.size)
    yield f"{ENCODER}->positionEmbedding->embeddings", (POSITIONS, shape.size)


def _encoder(shape: Shape) -> Shapes:
    yield f"{ENCODER}->weights", (shape.layers + 1,)
    for layer in _layers(shape):
        for name in "qkvo":
            yield from _linear(
                f"{layer}->selfAttentionBlock->selfAttention->{name}Proj", shape.size, shape.size
            )
        yield from _linear(_linear_at(f"{layer}->filterBlock", 0), shape.size, shape.inner)
        yield from _linear(_linear_at(f"{layer}->filterBlock", 3), shape.inner, shape.size)


def _pooler(shape: Shape) -> Shapes:
    sizes = (6 * shape.size, *shape.pooler, 1)  # translation, reference, products and differences
    for number, (width, height) in enumerate(zip(sizes, sizes[1:], strict=False)):
        yield from _linear(_linear_at(POOL, 3 * number), width, height)


def _linear_at(of: str, place: int) -> str:
    return f"{of}->layers->at({place})->as<marian::nn::Linear>()"


def _linear(name: str, width: int, height: int) -> Shapes:
    yield f"{name}->weight", (width, height)
    yield f"{name}->bias", (height,)
