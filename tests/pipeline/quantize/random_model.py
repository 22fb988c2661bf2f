"""Students of every architecture in Marian's form, with random weights."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from pipeline.common.marian import decoder_config
from pipeline.common.marian_options import write_options
from pipeline.quantize.alphas import browser_model
from pipeline.quantize.marian_binary import CONFIG, serialize
from pipeline.quantize.student import JOINT, SOURCE, TARGET, Student, read_weights
from tests.pipeline.alignments.small_corpus import sentence_pairs
from tests.pipeline.quantize.tiny_model import train_vocabulary

ARCHITECTURES = Path(__file__).parents[3] / "pipeline" / "train" / "configs" / "model"
SMALL = {"dim-emb": 64, "transformer-dim-ffn": 128}


def architecture(name: str, vocabulary: int, joint: bool, **more: object) -> dict[str, Any]:
    """The options of a student as its model carries them."""
    options = yaml.safe_load((ARCHITECTURES / f"student.{name}.yml").read_text())
    tied = {"tied-embeddings-all": joint, "tied-embeddings": not joint}
    return {**options, **tied, "dim-vocabs": [vocabulary, vocabulary], **more}


def write_model(path: Path, options: dict[str, Any], seed: int = 1) -> None:
    """Write a model.npz with random weights."""
    chance = np.random.default_rng(seed)
    arrays: dict[str, Any] = {
        name: chance.normal(offset, spread, shape).astype(np.float32)
        for name, shape, offset, spread in _parameters(options)
    }
    text = yaml.safe_dump({**options, "version": "v1.12.42"}).encode() + b"\0"
    arrays[CONFIG] = np.frombuffer(text, np.int8)
    np.savez(path, **arrays)


def model_folder(folder: Path, name: str, joint: bool, **more: object) -> Path:
    """A small student with vocabularies that Marian decodes with."""
    folder.mkdir()
    for number, side in enumerate(("source", "target")):
        lines = [pair[0 if joint else number] for pair in sentence_pairs(200)]
        train_vocabulary(lines, folder / f"{side}.spm", 320)
    write_model(folder / "model.npz", architecture(name, 320, joint, **SMALL, **more))
    write_options(folder / "decoder.yml", decoder_config("model.npz", {}))
    return folder


def exported_bytes(folder: Path, name: str, vocabulary: int) -> bytes:
    """The file of a student as browsers get it; a joint vocabulary."""
    write_model(folder / "model.npz", architecture(name, vocabulary, True))
    student, seen = read_weights(folder / "model.npz"), dict[str, float]()
    Student(student, lambda matrix, _: seen.update({matrix: 12.7})).run([1, 0], [1, 0])
    return serialize(browser_model(student, seen))


def _parameters(options: dict[str, Any]) -> Iterator[tuple[str, tuple[int, int], float, float]]:
    """Name, shape, mean and spread of each."""
    dim, ffn = options["dim-emb"], options["transformer-dim-ffn"]

    def matrix(name: str, rows: int, columns: int) -> tuple[str, tuple[int, int], float, float]:
        return name, (rows, columns), 0, (rows + columns) ** -0.5

    def bias(name: str, columns: int) -> tuple[str, tuple[int, int], float, float]:
        return name, (1, columns), 0, 0.1

    def normal(prefix: str) -> Iterator[tuple[str, tuple[int, int], float, float]]:
        yield f"{prefix}_ln_scale", (1, dim), 1, 0.1
        yield bias(f"{prefix}_ln_bias", dim)

    for name in (JOINT,) if options["tied-embeddings-all"] else (SOURCE, TARGET):
        yield name, (options["dim-vocabs"][0], dim), 0, dim**-0.5
    yield bias("decoder_ff_logit_out_b", options["dim-vocabs"][1])
    attentions = [f"encoder_l{layer + 1}_self" for layer in range(options["enc-depth"])]
    attentions += [f"decoder_l{layer + 1}_context" for layer in range(options["dec-depth"])]
    for attention in attentions:
        for kind in "qkvo":
            yield matrix(f"{attention}_W{kind}", dim, dim)
            yield bias(f"{attention}_b{kind}", dim)
        yield from normal(f"{attention}_Wo")
        layer = attention.rpartition("_")[0]
        yield matrix(f"{layer}_ffn_W1", dim, ffn)
        yield bias(f"{layer}_ffn_b1", ffn)
        yield matrix(f"{layer}_ffn_W2", ffn, dim)
        yield bias(f"{layer}_ffn_b2", dim)
        yield from normal(f"{layer}_ffn_ffn")
    for number in range(options["dec-depth"]):
        layer = f"decoder_l{number + 1}_rnn"
        yield matrix(f"{layer}_W", dim, dim)
        yield matrix(f"{layer}_Wf", dim, dim)
        yield bias(f"{layer}_bf", dim)
        yield from normal(f"{layer}_ffn")
