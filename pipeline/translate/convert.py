"""Convert a model of Marian to CTranslate2's form, with its vocabularies.

    python -m pipeline.translate.convert --model teacher --output converted

Writes model.bin, with weights of 32 bits, config.json, source_vocabulary.json and target_vocabulary.json,
which CTranslate2 reads; the model's source.spm and target.spm; and stats.json. It is the folder that
`pipeline.translate.with_ctranslate2` takes.

Only models such as Marian's `transformer-base` and `transformer-big` can be converted; others are refused
with the options in which they differ.
"""

import argparse
import json
import logging
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import yaml
from ctranslate2.converters import MarianConverter

from pipeline.common.errors import InputError
from pipeline.common.marian import SOURCE_VOCAB, TARGET_VOCAB, Model, load_model
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.common.vocabulary import load_vocabulary
from pipeline.translate.ctranslate2_options import POSITIONS

WEIGHTS = "model.bin"
SIDES = ("source", "target")
CONFIG = "special:model.yml"  # what model.npz calls the options with which the model was built
POSITION_TABLE = "Wpos"  # where the converter looks for embeddings of positions

# What the converter takes without asking, with the values for which scores are Marian's. They were compared;
# with `transformer-preprocess: n`, and with gelu, they are others. The converter refuses the rest itself.
ALIKE: Mapping[str, tuple[object, ...]] = {
    "transformer-preprocess": ("",),
    "transformer-ffn-activation": ("relu", "swish"),
    "transformer-ffn-depth": (2,),
    "transformer-decoder-ffn-depth": (0, 2),  # 0: as in the encoder
    "transformer-tied-layers": ([],),
    "transformer-train-position-embeddings": (False,),
    "transformer-disable-position-embeddings": (False,),
    "transformer-alibi-shift": (False,),
    "transformer-attention-mask": ("default",),
    "transformer-no-affine": (False,),
    "transformer-no-bias": (False,),
    "transformer-pool": (False,),
    "lemma-dependency": ("",),
    "input-types": ([],),
    "right-left": (False,),
    "ulr": (False,),
}

Arrays = dict[str, npt.NDArray[np.generic]]

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write the converted model and stats.json."""
    args = parse_arguments(argv)
    model = load_model(args.model)
    arrays, options = read_weights(model.weights)
    require_alike(options, model.weights)
    arrays[POSITION_TABLE] = position_embeddings(POSITIONS, int(str(options["dim-emb"])))
    # Marian pads the options with zeros, of which the converter takes off one.
    text = yaml.safe_dump(options).encode() + b"\0"
    arrays[CONFIG] = np.frombuffer(text, dtype=np.int8)
    with staged(args.output) as (output, scratch):
        publish(convert(arrays, model, scratch), model, output)
        require_same_pieces(output)
        stats = summarize(model, arrays, output)
        write_json(output / "stats.json", stats)
    log.info("Converted: %s", stats)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True, type=Path, help="folder of the trained model")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the converted model")
    return parser.parse_args(argv)


def read_weights(weights: Path) -> tuple[Arrays, dict[str, object]]:
    """The arrays of a model.npz, and the options with which it was built. Raises InputError without them."""
    try:
        with weights.open("rb") as file, np.load(file) as loaded:
            arrays = dict(loaded)
        options = yaml.safe_load(arrays[CONFIG].tobytes().rstrip(b"\0"))
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile, yaml.YAMLError) as error:
        raise InputError(f"{weights} is not a model of Marian ({error}). Train the model again.") from error
    return arrays, options


def require_alike(options: Mapping[str, object], weights: Path) -> None:
    """Raise InputError for a model that CTranslate2 would take, and compute otherwise than Marian."""
    others = [
        f"{name}: {options[name]}"
        for name, values in ALIKE.items()
        if name in options and options[name] not in values
    ]
    if others:
        raise InputError(_refusal(weights, ", ".join(others)))


def position_embeddings(positions: int, width: int) -> npt.NDArray[np.float32]:
    """Marian's sinusoidal embeddings of positions (positions × width): sines in the first half, then cosines.

    Of n wave lengths the i-th is 10000^(i/(n-1)). The converter's own table has 10000^(i/n), as in Vaswani et
    al. 2017, with which the model was not trained: its translations would be other ones.
    """
    waves = width // 2
    frequencies = np.exp(-np.log(10000.0) / (waves - 1) * np.arange(waves))
    angles = np.arange(positions)[:, None] * frequencies
    table: npt.NDArray[np.float32] = np.hstack([np.sin(angles), np.cos(angles)]).astype(np.float32)
    return table


def convert(arrays: Arrays, model: Model, scratch: Path) -> Path:
    """Write CTranslate2's files to a folder in `scratch`. Raises InputError if it cannot."""
    np.savez(scratch / "model.npz", **arrays)  # type: ignore[arg-type]
    vocabularies = [scratch / f"{side}.yml" for side in SIDES]
    for path, pieces in zip(vocabularies, (model.source_vocab, model.target_vocab), strict=True):
        write_vocabulary(path, read_pieces(pieces))
    try:
        converter = MarianConverter(str(scratch / "model.npz"), [str(path) for path in vocabularies])
        return Path(converter.convert(str(scratch / "converted")))
    except (ValueError, KeyError) as error:
        reason = str(error)  # and no more of it: it holds the file that the converter has left open
    raise InputError(_refusal(model.weights, reason))


def publish(converted: Path, model: Model, output: Path) -> None:
    """Put the files that belong together into `output`: always the same ones, joint vocabulary or not."""
    for name in (WEIGHTS, "config.json"):
        (converted / name).rename(output / name)
    shared = converted / "shared_vocabulary.json"
    for side in SIDES:
        own = converted / f"{side}_vocabulary.json"
        shutil.copyfile(shared if shared.exists() else own, output / own.name)
    shutil.copyfile(model.source_vocab, output / SOURCE_VOCAB)
    shutil.copyfile(model.target_vocab, output / TARGET_VOCAB)


def write_vocabulary(path: Path, pieces: Sequence[str]) -> None:
    """Write a vocabulary in the form of Marian's YAML: a piece in quotes, and its number."""
    quoted = (piece.replace("'", "''") for piece in pieces)
    lines = (f"'{piece}': {number}\n" for number, piece in enumerate(quoted))
    path.write_text("".join(lines), encoding="utf-8", newline="\n")


def read_pieces(vocabulary: Path) -> list[str]:
    """The pieces of a SentencePiece vocabulary in the order of their numbers."""
    loaded = load_vocabulary(vocabulary)
    return [loaded.id_to_piece(number) for number in range(loaded.get_piece_size())]


def require_same_pieces(output: Path) -> None:
    """Raise InputError when a vocabulary was not understood: every translation would be nonsense."""
    for side, vocabulary in zip(SIDES, (SOURCE_VOCAB, TARGET_VOCAB), strict=True):
        converted = json.loads((output / f"{side}_vocabulary.json").read_text(encoding="utf-8"))
        if converted != read_pieces(output / vocabulary):
            raise InputError(
                f"CTranslate2's converter has read other pieces than {vocabulary} has. "
                "Decode with Marian: experiment.teacher-decoder: marian (or backwards-decoder)"
            )


def summarize(model: Model, arrays: Arrays, output: Path) -> dict[str, object]:
    """Sizes in bytes, and the number of the model's parameters."""
    weights = [array.size for name, array in arrays.items() if name not in (CONFIG, POSITION_TABLE)]
    return {
        "parameters": sum(weights),
        "bytes": {path.name: path.stat().st_size for path in (model.weights, output / WEIGHTS)},
    }


def _refusal(weights: Path, reason: str) -> str:
    return (
        f"CTranslate2 cannot decode {weights} as Marian does: {reason.strip()}. Decode with Marian "
        "(experiment.teacher-decoder: marian, or backwards-decoder), or train a transformer without these "
        "options."
    )


if __name__ == "__main__":
    run(main)
