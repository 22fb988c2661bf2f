"""Convert a model of MetricX-24 of the Hugging Face hub to CTranslate2's form.

    python -m pipeline.translate.convert_metricx --model fetched/model.tar --pieces mt5/model.tar \\
        --output converted

The model is an mT5 that is asked for a single token, of which one output, that of `--token`, is the error of
the translation (MT5ForRegression in google-research/metricx). Of its last layer that row is kept, and one of
zeros to measure by. Writes model.bin, config.json, source_vocabulary.json, target_vocabulary.json, source.spm
and stats.json, for `pipeline.translate.metricx`.
"""

import argparse
import logging
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.common.errors import InputError
from pipeline.common.packed import unpack
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.common.vocabulary import load_vocabulary
from pipeline.translate.hub_model import Config, Weights, build, read_config, read_tokens, stats_of
from pipeline.translate.hub_weights import read_weights
from pipeline.translate.metricx import NOTHING, PIECES, SCORE

TOKEN = 250_089  # <extra_id_10> of mT5, by which all models of MetricX tell the error
MT5_PIECES = "spiece.model"
FILES = ("model.bin", "config.json", "source_vocabulary.json", "target_vocabulary.json")

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write the converted model and stats.json."""
    args = parse_arguments(argv)
    with staged(args.output) as (output, scratch):
        folder = unpack(args.model, scratch / "model")
        config, weights = read_config(folder), read_weights(folder)
        pieces = unpack(args.pieces, scratch / "pieces") / MT5_PIECES
        spec = regression(config, weights, pieces, args.token)
        converted = scratch / "converted"
        converted.mkdir()
        spec.save(str(converted))
        for name in FILES:
            (converted / name).rename(output / name)
        shutil.copyfile(pieces, output / PIECES)
        stats = stats_of(config, weights, output / "model.bin")
        log.info("Converted: %s", stats)
        write_json(output / "stats.json", stats)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--model", required=True, type=Path, help="what pipeline.translate.fetch_hugging_face has fetched")
    add("--pieces", required=True, type=Path, help="tar with mT5's spiece.model, which MetricX lacks")
    add("--token", type=int, default=TOKEN, help=f"number of the token that tells the error, {TOKEN}")
    add("--output", required=True, type=Path, help="new folder for the converted model")
    return parser.parse_args(argv)


def regression(config: Config, weights: Weights, pieces: Path, token: int) -> Any:
    """The specification of a model whose decoder begins with token 0 and has four outputs.

    Raises InputError for another model, or pieces of another one.
    """
    kind = config.get("model_type")
    if kind not in ("mt5", "t5"):
        raise InputError(f"The model is of the type {kind!r}, and MetricX of mT5's. Check its name.")
    rows, known = len(weights.get("shared.weight", ())), load_vocabulary(pieces).get_piece_size()
    if not known <= rows or not token < rows:
        raise InputError(
            f"The model has {rows:,} tokens, the SentencePiece model {known:,} pieces, and the error's token "
            f"is number {token:,}: they do not belong together. Check their addresses."
        )
    tied = bool(config.get("tie_word_embeddings", True))
    head = weights["shared.weight" if tied else "lm_head.weight"]
    last, first = (np.zeros((SCORE + 1, head.shape[1]), np.float32) for _ in range(2))
    last[SCORE] = head[token] * (head.shape[1] ** -0.5 if tied else 1)
    first[NOTHING] = weights["shared.weight"][0]
    spec = build(
        {**config, "tie_word_embeddings": False, "decoder_start_token_id": 0},
        {**weights, "lm_head.weight": last, "decoder.embed_tokens.weight": first},
        (read_tokens(pieces.parent, config, weights, "source"), ["<pad>", "</s>", "<unk>", "<error>"]),
    )
    spec.config.add_source_eos = False
    return spec


if __name__ == "__main__":
    run(main)
