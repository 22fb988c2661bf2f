"""Models of the Hugging Face hub as CTranslate2's: OPUS-MT, M2M-100 and NLLB, T5 and MADLAD.

Their weights are laid into CTranslate2's specification by the names that Transformers gives them
(modeling_marian.py, modeling_m2m_100.py, modeling_t5.py). CTranslate2's own converter does the same, but
needs PyTorch and Transformers, of some gigabytes.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from ctranslate2.specs import common_spec, transformer_spec

from pipeline.common.errors import InputError
from pipeline.common.vocabulary import load_vocabulary
from pipeline.translate.ctranslate2_options import POSITIONS
from pipeline.translate.hub_weights import Array

Config: TypeAlias = Mapping[str, Any]
Weights: TypeAlias = Mapping[str, Array]

ACTIVATIONS = {
    "relu": common_spec.Activation.RELU,
    "swish": common_spec.Activation.SWISH,
    "silu": common_spec.Activation.SWISH,
    "gelu": common_spec.Activation.GELU,
    "gelu_new": common_spec.Activation.GELUTanh,
}
MODELS = ("marian", "m2m_100", "t5", "mt5")
_OFFSET = 2  # of M2M-100's positions, which count from the padding on


def build(config: Config, weights: Weights, vocabularies: Sequence[Sequence[str]]) -> Any:
    """The specification of a model; `vocabularies` are those of source and target.

    Raises InputError for an architecture that is not known, or weights that it lacks.
    """
    kind = config.get("model_type")
    if kind not in MODELS:
        raise InputError(f"Models of the type {kind!r} cannot be converted, only {', '.join(MODELS)}.")
    try:
        spec = _t5(config, weights) if kind in ("t5", "mt5") else _bart(config, weights)
    except KeyError as error:
        raise InputError(f"The model has no {error}, which a {kind} model has.") from error
    source, target = vocabularies
    spec.register_source_vocabulary([*source])
    spec.register_target_vocabulary([*target])
    spec.config.add_source_eos = True
    spec.config.eos_token, spec.config.unk_token = "</s>", "<unk>"
    start = int(config.get("decoder_start_token_id") or 0)
    spec.config.decoder_start_token = "</s>" if kind == "marian" else target[start]
    spec.config.bos_token = spec.config.decoder_start_token
    spec.validate()
    spec.optimize(quantization=None)
    return spec


def _bart(config: Config, weights: Weights) -> Any:
    """OPUS-MT's architecture, and that of M2M-100 and NLLB."""
    marian = config["model_type"] == "marian"
    spec = transformer_spec.TransformerSpec.from_config(
        (config["encoder_layers"], config["decoder_layers"]),
        config["encoder_attention_heads"],
        pre_norm=not marian,
        activation=ACTIVATIONS[config["activation_function"]],
        layernorm_embedding=False,
    )
    shared = weights.get("model.shared.weight")
    for side, part in (("encoder", spec.encoder), ("decoder", spec.decoder)):
        name = f"model.{side}"
        embeddings = weights.get(f"{name}.embed_tokens.weight", shared)
        table = part.embeddings[0] if side == "encoder" else part.embeddings
        table.weight = _rows(embeddings, f"{name}.embed_tokens.weight", marian)
        part.scale_embeddings = np.sqrt(config["d_model"]) if config.get("scale_embedding") else 1.0
        part.position_encodings.encodings = positions(int(config["d_model"]), marian)
        if not marian:
            _norm(part.layer_norm, weights, f"{name}.layer_norm")
        for number, layer in enumerate(part.layer):
            _bart_layer(layer, weights, f"{name}.layers.{number}", side == "decoder")
    spec.decoder.start_from_zero_embedding = marian
    projection = weights.get("lm_head.weight")
    tied = weights.get("model.decoder.embed_tokens.weight", shared)
    spec.decoder.projection.weight = _rows(
        tied if projection is None else projection, "lm_head.weight", marian
    )
    bias = weights.get("final_logits_bias")
    if bias is not None and bias.any():
        spec.decoder.projection.bias = bias.reshape(-1)[: len(spec.decoder.projection.weight)]
    return spec


def _rows(matrix: Array | None, name: str, without_last: bool) -> Array:
    """A matrix with a row for each token; OPUS-MT's without padding, from which decoding would start."""
    if matrix is None:
        raise KeyError(name)
    return matrix[:-1] if without_last else matrix


def _bart_layer(spec: Any, weights: Weights, name: str, decoder: bool) -> None:
    names = ("q_proj", "k_proj", "v_proj", "out_proj")
    _attention(spec.self_attention, weights, f"{name}.self_attn", names, alone=True)
    _norm(spec.self_attention.layer_norm, weights, f"{name}.self_attn_layer_norm")
    if decoder:
        _attention(spec.attention, weights, f"{name}.encoder_attn", names, alone=False)
        _norm(spec.attention.layer_norm, weights, f"{name}.encoder_attn_layer_norm")
    _linear(spec.ffn.linear_0, weights, f"{name}.fc1")
    _linear(spec.ffn.linear_1, weights, f"{name}.fc2")
    _norm(spec.ffn.layer_norm, weights, f"{name}.final_layer_norm")


def positions(width: int, marian: bool) -> Array:
    """Sinusoidal embeddings (positions × width): sines in the first half, then cosines.

    OPUS-MT's have wave lengths of 10000^(2i/width), M2M-100's 10000^(i/(n-1)) of n, from position 2 on.
    """
    waves = width // 2
    exponents = np.arange(waves) / (waves if marian else waves - 1)
    first = 0 if marian else _OFFSET
    angles = np.arange(first, first + POSITIONS)[:, None] * np.power(10000.0, -exponents)
    table: Array = np.hstack([np.sin(angles), np.cos(angles)]).astype(np.float32)
    return table


def _t5(config: Config, weights: Weights) -> Any:
    """The architecture of T5, mT5 and MADLAD, whose layers have no biases and know distances alone."""
    activation = str(config.get("feed_forward_proj", "relu"))
    gated = activation.startswith("gated-")
    name = "gelu_new" if activation == "gated-gelu" else activation.removeprefix("gated-")
    layers = int(config["num_layers"])
    spec = transformer_spec.TransformerSpec.from_config(
        (layers, int(config.get("num_decoder_layers") or layers)),
        config["num_heads"],
        pre_norm=True,
        activation=ACTIVATIONS[name],
        ffn_glu=gated,
        relative_attention_bias=True,
        rms_norm=True,
    )
    for side, part in (("encoder", spec.encoder), ("decoder", spec.decoder)):
        _t5_stack(part, config, weights, side)
    tied = bool(config.get("tie_word_embeddings", True))
    spec.decoder.projection.weight = weights["shared.weight" if tied else "lm_head.weight"]
    if tied:
        spec.decoder.scale_outputs = int(config["d_model"]) ** -0.5
    return spec


def _t5_stack(spec: Any, config: Config, weights: Weights, side: str) -> None:
    table = spec.embeddings[0] if side == "encoder" else spec.embeddings
    table.weight = weights.get(f"{side}.embed_tokens.weight", weights["shared.weight"])
    spec.scale_embeddings = False
    spec.layer_norm.gamma = weights[f"{side}.final_layer_norm.weight"]
    farthest = np.dtype("int32").type(config.get("relative_attention_max_distance") or 128)
    bias = weights[f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"]
    for number, layer in enumerate(spec.layer):
        name = f"{side}.block.{number}.layer"
        names = ("q", "k", "v", "o")
        _attention(layer.self_attention, weights, f"{name}.0.SelfAttention", names, alone=True)
        layer.self_attention.queries_scale = 1.0
        layer.self_attention.layer_norm.gamma = weights[f"{name}.0.layer_norm.weight"]
        layer.self_attention.relative_attention_bias = bias
        layer.self_attention.relative_attention_max_distance = farthest
        if side == "decoder":
            _attention(layer.attention, weights, f"{name}.1.EncDecAttention", names, alone=False)
            layer.attention.queries_scale = 1.0
            layer.attention.layer_norm.gamma = weights[f"{name}.1.layer_norm.weight"]
        last = f"{name}.{2 if side == 'decoder' else 1}"
        dense = f"{last}.DenseReluDense"
        if f"{dense}.wi.weight" in weights:
            _linear(layer.ffn.linear_0, weights, f"{dense}.wi")
        else:
            _linear(layer.ffn.linear_0, weights, f"{dense}.wi_0")
            _linear(layer.ffn.linear_0_noact, weights, f"{dense}.wi_1")
        _linear(layer.ffn.linear_1, weights, f"{dense}.wo")
        layer.ffn.layer_norm.gamma = weights[f"{last}.layer_norm.weight"]


def _attention(spec: Any, weights: Weights, name: str, names: Sequence[str], alone: bool) -> None:
    """Attention to oneself has queries, keys and values in one matrix, that to the source keys and values."""
    groups = (names[:3],) if alone else (names[:1], names[1:3])
    for number, group in enumerate(groups):
        spec.linear[number].weight = np.concatenate([weights[f"{name}.{one}.weight"] for one in group])
        if f"{name}.{names[0]}.bias" in weights:
            spec.linear[number].bias = np.concatenate([weights[f"{name}.{one}.bias"] for one in group])
    _linear(spec.linear[-1], weights, f"{name}.{names[3]}")


def _linear(spec: Any, weights: Weights, name: str) -> None:
    spec.weight = weights[f"{name}.weight"]
    if f"{name}.bias" in weights:
        spec.bias = weights[f"{name}.bias"]


def _norm(spec: Any, weights: Weights, name: str) -> None:
    spec.gamma, spec.beta = weights[f"{name}.weight"], weights[f"{name}.bias"]


def read_config(folder: Path) -> dict[str, Any]:
    """The options of a model. Raises InputError when it has none that can be read."""
    try:
        return dict(json.loads((folder / "config.json").read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            f"The model has no config.json that can be read ({error}). Fetch it again."
        ) from error


def stats_of(config: Config, weights: Weights, converted: Path) -> dict[str, Any]:
    """What stats.json holds of a model, whose weights are in the file `converted`."""
    return {
        "parameters": sum(weight.size for weight in weights.values()),
        "bytes": {converted.name: converted.stat().st_size},
        "type": config["model_type"],
    }


def read_tokens(folder: Path, config: Config, weights: Weights, side: str) -> list[str]:
    """The tokens of a side (`source` or `target`) of a model in the order of its embeddings.

    They are in tokenizer.json, else vocab.json and special_tokens_map.json, else in the SentencePiece model.
    Rows without a token have one that no text has.
    """
    marian, own = config.get("model_type") == "marian", folder / "target_vocab.json"
    coder = "encoder" if side == "source" else "decoder"
    names = (f"model.{coder}.embed_tokens.weight", "model.shared.weight", "shared.weight")
    rows = next((len(weights[name]) for name in names if name in weights), 0) - marian  # without padding
    numbers: dict[str, int] = {}
    if side == "target" and own.is_file() and config.get("share_encoder_decoder_embeddings") is False:
        numbers = {str(token): int(number) for token, number in _read_json(own).items()}
    elif (folder / "tokenizer.json").is_file() and not marian:
        numbers = _of_tokenizer(_read_json(folder / "tokenizer.json"))
    elif (folder / "vocab.json").is_file():
        numbers = {str(token): int(number) for token, number in _read_json(folder / "vocab.json").items()}
        numbers |= _more(folder, len(numbers), numbers)
    elif (folder / "spiece.model").is_file():
        loaded = load_vocabulary(folder / "spiece.model")
        numbers = {loaded.id_to_piece(number): number for number in range(loaded.get_piece_size())}
    else:
        raise InputError("The model has no tokenizer.json, vocab.json or spiece.model. Choose another one.")
    tokens = [f"<no token {number}>" for number in range(rows)]
    for token, number in numbers.items():
        if number < rows:
            tokens[number] = token
    return tokens


def _of_tokenizer(told: Any) -> dict[str, int]:
    vocabulary = told["model"]["vocab"]
    if isinstance(vocabulary, dict):
        numbers = {str(token): int(number) for token, number in vocabulary.items()}
    else:
        numbers = {str(token): number for number, (token, _) in enumerate(vocabulary)}
    return numbers | {str(added["content"]): int(added["id"]) for added in told.get("added_tokens", ())}


def _more(folder: Path, first: int, known: Mapping[str, int]) -> dict[str, int]:
    """Tokens of languages, which M2M-100 has after its vocabulary."""
    path = folder / "special_tokens_map.json"
    told = _read_json(path) if path.is_file() else {}
    more = [str(token) for token in told.get("additional_special_tokens", ()) if str(token) not in known]
    return {token: first + number for number, token in enumerate(more)}


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except ValueError as error:
        raise InputError(f"{path.name} is no JSON ({error}). Fetch the model again.") from error
