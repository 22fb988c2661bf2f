"""Tiny models with random weights in the layout of MetricX-24: mT5 with an output for the error.

`metricx_reference.py` scores with Transformers by the same files; what it printed is in
metricx_expected.json.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from pipeline.translate import convert_metricx
from pipeline.translate.hub_weights import read_weights
from tests.pipeline.translate.hub_models import write_model, write_safetensors
from tests.pipeline.translate.torch_files import write_torch

TOKEN = 7  # whose output is the error
MT5_TOKENS = 250_112
ROWS = [
    (
        "The old woman has bought 12 apples.",
        "La vieille femme a acheté 12 pommes.",
        "Elle a acheté 12 pommes.",
    ),
    ("My brother", "Mon frère", "Mon frère"),
    ("My brother", "", "Mon frère"),
    ("Our neighbour has bought letters before the summer.", "An unknown 猫 here.", "source: candidate:"),
    ("The old woman " * 120, "La vieille femme " * 120, "La vieille femme " * 120),
    (
        "The teacher has bought 5 books at the market.",
        "Le professeur a acheté 5 livres.",
        "Il a acheté des livres.",
    ),
    ("The young doctor", "Mon frère a acheté 3 bougies", "Le jeune médecin"),
]


def write_whole(folder: Path, mt5: Path) -> None:
    """A model with the files that MetricX has on the hub, its number of tokens and its token for the error.

    The pieces are mT5's, in another folder.
    """
    write_metricx("untied", folder)
    arrays = dict(read_weights(folder))
    for name in ("shared.weight", "lm_head.weight"):
        known = arrays[name]
        arrays[name] = np.zeros((MT5_TOKENS, known.shape[1]), np.float32)
        arrays[name][: len(known)] = known
    arrays["lm_head.weight"][convert_metricx.TOKEN] = arrays["lm_head.weight"][TOKEN]
    (folder / "model.safetensors").unlink()
    write_torch(folder / "pytorch_model.bin", arrays)
    mt5.mkdir(parents=True)
    (folder / convert_metricx.MT5_PIECES).rename(mt5 / convert_metricx.MT5_PIECES)


def write_metricx(kind: str, folder: Path) -> Path:
    """A model with weights of its own for the head, `untied`, or those of the pieces, `tied`."""
    write_model("t5", folder)
    config = json.loads((folder / "config.json").read_text())
    arrays = dict(read_weights(folder))
    config |= {"model_type": "mt5", "architectures": ["MT5ForConditionalGeneration"]}
    config |= {"tie_word_embeddings": kind == "tied", "decoder_start_token_id": 0}
    if kind == "tied":
        arrays["shared.weight"] = arrays["shared.weight"] * 6
        del arrays["lm_head.weight"]
    else:
        arrays["lm_head.weight"] = arrays["lm_head.weight"] * -12  # errors lie beyond 0 and 25, too
    (folder / "config.json").write_text(json.dumps(config))
    write_safetensors(folder / "model.safetensors", arrays)
    return folder


if __name__ == "__main__":
    import sys

    for made in ("untied", "tied"):
        write_metricx(made, Path(sys.argv[1], made))
