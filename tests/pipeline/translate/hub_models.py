"""Tiny models with random weights in the layouts of the Hugging Face hub, made without Transformers.

`hub_reference.py` translates with Transformers by the same files; what it printed is in hub_expected.json.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sentencepiece import SentencePieceTrainer

from tests.chat_server import sentence
from tests.session import once

Arrays = dict[str, npt.NDArray[np.float32]]

WIDTH, HEADS, INNER, LAYERS, PIECES = 16, 2, 32, 2, 300
LANGUAGES = ("__en__", "__fr__")
TEXT = [
    "The old woman has bought 12 apples at the market of the small town.",
    "My brother",
    "Our neighbour has bought letters before the summer.",
    "An unknown 猫 here.",
]


def pieces() -> Path:
    """A SentencePiece model: `<unk>`, `<s>`, `</s>`, then pieces."""
    return once("hub-pieces", _train) / "pieces.model"


def _train(folder: Path) -> None:
    text = folder / "text.txt"
    text.write_text("\n".join(line for number in range(300) for line in sentence(number)), encoding="utf-8")
    SentencePieceTrainer.train(
        input=str(text),
        model_prefix=str(folder / "pieces"),
        vocab_size=PIECES,
        hard_vocab_limit=False,
        minloglevel=2,
        num_threads=1,
    )


def write_model(kind: str, folder: Path) -> Path:
    """A model of a kind: `marian`, `m2m_100` or `t5`."""
    folder.mkdir(parents=True)
    config, arrays = KINDS[kind](folder)
    (folder / "config.json").write_text(json.dumps(config))
    write_safetensors(folder / "model.safetensors", arrays)
    return folder


def write_safetensors(path: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write arrays as https://huggingface.co/docs/safetensors says."""
    types = {"float32": "F32", "float16": "F16", "uint16": "BF16"}
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, array in arrays.items():
        begin, end = end, end + array.nbytes
        header[name] = {"dtype": types[array.dtype.name], "shape": array.shape, "data_offsets": [begin, end]}
    told = json.dumps(header).encode()
    data = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays.values())
    path.write_bytes(len(told).to_bytes(8, "little") + told + data)


def _tokens() -> list[str]:
    from pipeline.common.vocabulary import load_vocabulary

    loaded = load_vocabulary(pieces())
    return [loaded.id_to_piece(number) for number in range(loaded.get_piece_size())]


def _marian(folder: Path) -> tuple[dict[str, Any], Arrays]:
    tokens = [
        "</s>",
        "<unk>",
        ">>fra<<",
        *[one for one in _tokens() if one not in ("<unk>", "<s>", "</s>")],
        "<pad>",
    ]
    (folder / "vocab.json").write_text(json.dumps({token: number for number, token in enumerate(tokens)}))
    for name in ("source.spm", "target.spm"):
        shutil.copyfile(pieces(), folder / name)
    config = {
        **_bart_config("marian", "MarianMTModel", "swish"),
        "vocab_size": len(tokens),
        "decoder_vocab_size": len(tokens),
        "pad_token_id": len(tokens) - 1,
        "decoder_start_token_id": len(tokens) - 1,
        "eos_token_id": 0,
        "forced_eos_token_id": 0,
        "bad_words_ids": [[len(tokens) - 1]],
        "share_encoder_decoder_embeddings": True,
        "static_position_embeddings": True,
    }
    arrays = _bart_arrays(len(tokens), final_norm=False)
    arrays |= {"final_logits_bias": _random(np.random.default_rng(9), 1, len(tokens))}
    # Padding begins translations as nothing, and is never written.
    arrays["model.shared.weight"][-1], arrays["final_logits_bias"][0, -1] = 0, -1e4
    return config, arrays


def _m2m(folder: Path) -> tuple[dict[str, Any], Arrays]:
    tokens = [
        "<s>",
        "<pad>",
        "</s>",
        "<unk>",
        *[one for one in _tokens() if one not in ("<unk>", "<s>", "</s>")],
    ]
    (folder / "vocab.json").write_text(json.dumps({token: number for number, token in enumerate(tokens)}))
    special = {"additional_special_tokens": [*LANGUAGES], "unk_token": "<unk>"}
    (folder / "special_tokens_map.json").write_text(json.dumps(special))
    shutil.copyfile(pieces(), folder / "sentencepiece.bpe.model")
    rows = len(tokens) + len(LANGUAGES) + 3
    config = {
        **_bart_config("m2m_100", "M2M100ForConditionalGeneration", "relu"),
        "vocab_size": rows,
        "pad_token_id": 1,
        "bos_token_id": 0,
        "eos_token_id": 2,
        "decoder_start_token_id": 2,
    }
    return config, _bart_arrays(rows, final_norm=True)


def _bart_config(kind: str, architecture: str, activation: str) -> dict[str, Any]:
    return {
        "model_type": kind,
        "architectures": [architecture],
        "activation_function": activation,
        "d_model": WIDTH,
        "encoder_layers": LAYERS,
        "decoder_layers": LAYERS,
        "encoder_attention_heads": HEADS,
        "decoder_attention_heads": HEADS,
        "encoder_ffn_dim": INNER,
        "decoder_ffn_dim": INNER,
        "max_position_embeddings": 512,
        "scale_embedding": True,
    }


def _bart_arrays(rows: int, final_norm: bool) -> Arrays:
    random = np.random.default_rng(7)
    arrays = {"model.shared.weight": _random(random, rows, WIDTH)}
    for side in ("encoder", "decoder"):
        for number in range(LAYERS):
            name = f"model.{side}.layers.{number}"
            for attention in ("self_attn", *(["encoder_attn"] if side == "decoder" else [])):
                for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
                    arrays |= _linear(random, f"{name}.{attention}.{part}", WIDTH, WIDTH)
                arrays |= _norm(random, f"{name}.{attention}_layer_norm")
            arrays |= _linear(random, f"{name}.fc1", INNER, WIDTH)
            arrays |= _linear(random, f"{name}.fc2", WIDTH, INNER)
            arrays |= _norm(random, f"{name}.final_layer_norm")
        arrays |= _norm(random, f"model.{side}.layer_norm") if final_norm else {}
    return arrays


def _t5(folder: Path) -> tuple[dict[str, Any], Arrays]:
    shutil.copyfile(pieces(), folder / "spiece.model")
    tokens = _tokens()
    rows = len(tokens) + 5
    config = {
        "model_type": "t5",
        "architectures": ["T5ForConditionalGeneration"],
        "d_model": WIDTH,
        "d_kv": WIDTH // HEADS,
        "d_ff": INNER,
        "num_layers": LAYERS,
        "num_decoder_layers": LAYERS,
        "num_heads": HEADS,
        "feed_forward_proj": "gated-gelu",
        "tie_word_embeddings": False,
        "vocab_size": rows,
        "pad_token_id": 1,
        "eos_token_id": 2,
        "decoder_start_token_id": 1,
        "relative_attention_num_buckets": 8,
        "relative_attention_max_distance": 20,
    }
    random = np.random.default_rng(8)
    arrays = {name: _random(random, rows, WIDTH) for name in ("shared.weight", "lm_head.weight")}
    for side in ("encoder", "decoder"):
        bias = f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
        arrays[bias] = _random(random, 8, HEADS)
        for number in range(LAYERS):
            name = f"{side}.block.{number}.layer"
            kinds = ["SelfAttention", *(["EncDecAttention"] if side == "decoder" else [])]
            for place, kind in enumerate(kinds):
                for part in "qkvo":
                    arrays[f"{name}.{place}.{kind}.{part}.weight"] = _random(random, WIDTH, WIDTH)
                arrays[f"{name}.{place}.layer_norm.weight"] = 1 + _random(random, WIDTH)
            last = f"{name}.{len(kinds)}"
            for part, shape in (("wi_0", (INNER, WIDTH)), ("wi_1", (INNER, WIDTH)), ("wo", (WIDTH, INNER))):
                arrays[f"{last}.DenseReluDense.{part}.weight"] = _random(random, *shape)
            arrays[f"{last}.layer_norm.weight"] = 1 + _random(random, WIDTH)
        arrays[f"{side}.final_layer_norm.weight"] = 1 + _random(random, WIDTH)
    return config, arrays


def _random(random: np.random.Generator, *shape: int) -> npt.NDArray[np.float32]:
    return (random.standard_normal(shape) * 0.3).astype(np.float32)


def _linear(random: np.random.Generator, name: str, rows: int, columns: int) -> Arrays:
    return {f"{name}.weight": _random(random, rows, columns), f"{name}.bias": _random(random, rows)}


def _norm(random: np.random.Generator, name: str) -> Arrays:
    return {f"{name}.weight": 1 + _random(random, WIDTH), f"{name}.bias": _random(random, WIDTH)}


KINDS: Mapping[str, Callable[[Path], tuple[dict[str, Any], Arrays]]] = {
    "marian": _marian,
    "m2m_100": _m2m,
    "t5": _t5,
}
# Tokens before sentences and translations
PREFIXES = {"marian": ([">>fra<<"], []), "m2m_100": (["__en__"], ["__fr__"]), "t5": ([], [])}


if __name__ == "__main__":
    import sys

    for made in KINDS:
        write_model(made, Path(sys.argv[1], made))
