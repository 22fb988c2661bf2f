"""Convert a model of OPUS-MT in Marian's form to CTranslate2's.

    python -m pipeline.translate.convert_opusmt --model fetched/model.tar --output converted

Takes what `pipeline.translate.fetch_opusmt` has fetched: decoder.yml, the weights and the vocabularies (.yml)
that it names, source.spm and target.spm. The vocabularies number the pieces of these SentencePiece models in
another way, so Marian could not read a text with them.

Writes a folder as `pipeline.translate.convert_hugging_face` does. A model into several languages wants a
token before each sentence: --source-prefix '>>rus<<'.
"""

import argparse
import json
import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import yaml
from ctranslate2.converters import MarianConverter

from pipeline.common.errors import InputError
from pipeline.common.marian import DECODER_CONFIG, SOURCE_VOCAB, TARGET_VOCAB, Model
from pipeline.common.marian_options import read_options
from pipeline.common.packed import unpack
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.translate.convert import (
    ALIKE,
    CONFIG,
    POSITION_TABLE,
    SIDES,
    WEIGHTS,
    position_embeddings,
    publish,
    read_pieces,
    read_weights,
)
from pipeline.translate.convert_hugging_face import require_token
from pipeline.translate.ctranslate2_decoder import TOKENS
from pipeline.translate.ctranslate2_options import POSITIONS
from pipeline.translate.fetch_opusmt import weights_and_vocabularies

KNOWN = 0.5  # least share of a SentencePiece model's pieces that the model's vocabulary must have

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write the converted model and stats.json."""
    args = parse_arguments(argv)
    with staged(args.output) as (output, scratch):
        folder = unpack(args.model, scratch / "model")
        weights, *vocabularies = find_files(folder)
        converted, parameters = convert(weights, vocabularies, scratch)
        model = Model(weights, folder / SOURCE_VOCAB, folder / TARGET_VOCAB, None, {})
        publish(converted, model, output)
        require_vocabularies(output, args.source_prefix)
        write_json(output / TOKENS, {"source-prefix": args.source_prefix, "target-prefix": []})
        sizes = {path.name: path.stat().st_size for path in (weights, output / WEIGHTS)}
        stats = {"parameters": parameters, "bytes": sizes, "source-prefix": args.source_prefix}
        write_json(output / "stats.json", stats)
    log.info("Converted: %s", stats)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True, type=Path, help="model.tar, as it was fetched")
    parser.add_argument("--source-prefix", nargs="*", default=[], help="tokens before each sentence: >>rus<<")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the converted model")
    return parser.parse_args(argv)


def find_files(model: Path) -> list[Path]:
    """The weights, and the vocabulary or the two. Raises InputError when a file is missing."""
    if not (model / DECODER_CONFIG).is_file():
        raise InputError(f"The model has no {DECODER_CONFIG}. Fetch a release of OPUS-MT.")
    files = [model / name for name in weights_and_vocabularies(read_options(model / DECODER_CONFIG))]
    for file in (*files, model / SOURCE_VOCAB, model / TARGET_VOCAB):
        if not file.is_file():
            raise InputError(f"The model has no {file.name}. Fetch the whole release again.")
    return files


def convert(weights: Path, vocabularies: Sequence[Path], scratch: Path) -> tuple[Path, int]:
    """Write CTranslate2's files to a folder in `scratch`; returns it, and the number of parameters.

    Raises InputError if it cannot.
    """
    arrays, options = read_weights(weights)
    others = [
        f"{name}: {options[name]}"
        for name, values in ALIKE.items()
        if name in options and options[name] not in values
    ]
    if others:
        raise InputError(_refusal(weights, ", ".join(others)))
    parameters = sum(array.size for name, array in arrays.items() if name != CONFIG)
    arrays[POSITION_TABLE] = position_embeddings(POSITIONS, int(str(options["dim-emb"])))
    # Marian pads the options with zeros, of which the converter takes off one.
    arrays[CONFIG] = np.frombuffer(yaml.safe_dump(options).encode() + b"\0", dtype=np.int8)
    np.savez(scratch / "model.npz", **arrays)  # type: ignore[arg-type]
    try:
        converter = MarianConverter(str(scratch / "model.npz"), [str(path) for path in vocabularies])
        return Path(converter.convert(str(scratch / "converted"))), parameters
    except (ValueError, KeyError) as error:
        reason = str(error)  # and no more of it: it holds the file that the converter has left open
    raise InputError(_refusal(weights, reason))


def require_vocabularies(output: Path, prefix: Sequence[str]) -> None:
    """Raise InputError for a token that the model does not have, and when it has few of the pieces.

    Then the SentencePiece models are another model's: every translation would be nonsense.
    """
    for side, name in zip(SIDES, (SOURCE_VOCAB, TARGET_VOCAB), strict=True):
        vocabulary = json.loads((output / f"{side}_vocabulary.json").read_bytes())
        pieces = read_pieces(output / name)
        known = len({*vocabulary} & {*pieces})
        if known < KNOWN * len(pieces):
            raise InputError(
                f"The model has {known:,} of the {len(pieces):,} pieces of {name}: they belong to different "
                "models. Fetch the whole release again."
            )
        for token in prefix if side == "source" else ():
            require_token(token, vocabulary)


def _refusal(weights: Path, reason: str) -> str:
    return (
        f"CTranslate2 cannot decode {weights.name} as Marian does: {reason.strip()}. Take another release of "
        "OPUS-MT, or the model's copy on the Hugging Face hub."
    )


if __name__ == "__main__":
    run(main)
