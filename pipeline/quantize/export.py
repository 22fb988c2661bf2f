"""Packs a quantised model for the translation engine of browsers, under the file names that Firefox expects.

    python -m pipeline.quantize.export --model quantized --src en --trg eo --architecture tiny \\
        --output exported

writes

    model.eneo.intgemm8.bin.gz   the weights; Firefox chooses how to compute by `intgemm8.bin`
    lex.50.50.eneo.s2t.bin.gz    the binary shortlist
    vocab.eneo.spm.gz            the vocabulary; with --split srcvocab.eneo.spm.gz, trgvocab.eneo.spm.gz
    metadata.json                languages, size and hash of the unzipped model, configuration, statistics
    stats.json                   sizes

The engine (browsermt's Marian, as in @browsermt/bergamot-translator 0.4.9) reads the file that Marian writes,
but gives another number to the type intgemm8. Only these numbers are changed. `50.50` is part of the name
that Firefox expects, whatever number of pieces the shortlist always allows. The model is held in memory.
"""

import argparse
import gzip
import hashlib
import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

from pipeline.common.errors import InputError
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.quantize.marian_binary import (
    CONFIG,
    FLOAT32,
    INT8,
    INTGEMM8,
    INTGEMM8_BROWSER,
    Tensor,
    model_config,
    read_model,
    renumber,
    serialize,
)

logger = logging.getLogger(__name__)

MODEL = "model.intgemm8.bin"
SHORTLIST = "lex.bin"
VOCABULARIES = ("source.spm", "target.spm")

# Word embeddings of both sides: `Wemb` when all are tied, else `encoder_Wemb` and `decoder_Wemb`; an output
# layer that is tied to none is one more.
EMBEDDINGS = ("Wemb", "decoder_ff_logit_out_W")


def check_folder(model: Path) -> None:
    """Raise InputError unless a folder holds the files of a quantised model."""
    missing = [name for name in (MODEL, SHORTLIST, *VOCABULARIES) if not (model / name).is_file()]
    if missing:
        raise InputError(f"{model} lacks {', '.join(missing)}. Give the folder that `quantize` wrote.")


def for_browsers(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The model as browsers' engine reads it; raises InputError when it holds a type that was not checked."""
    unknown = sorted(
        {hex(tensor.type) for tensor in tensors} - {hex(kind) for kind in (FLOAT32, INT8, INTGEMM8)}
    )
    if unknown:
        raise InputError(
            f"The model holds tensors of type {', '.join(unknown)}, which browsers may number otherwise. "
            "Export a model that `quantize` wrote."
        )
    return renumber(tensors, {INTGEMM8: INTGEMM8_BROWSER})


def model_statistics(tensors: Iterable[Tensor]) -> dict[str, int]:
    """Numbers of parameters and bytes. Embeddings are counted by themselves, not with encoder or decoder."""
    weights = [tensor for tensor in tensors if tensor.name != CONFIG]
    embeddings = [tensor for tensor in weights if tensor.name.endswith(EMBEDDINGS)]
    layers = [tensor for tensor in weights if not tensor.name.endswith(EMBEDDINGS)]
    encoder = [tensor for tensor in layers if tensor.name.startswith("encoder_")]
    decoder = [tensor for tensor in layers if tensor.name.startswith("decoder_")]
    return {
        "parameters": _parameters(weights),
        "encoder_parameters": _parameters(encoder),
        "decoder_parameters": _parameters(decoder),
        "encoder_bytes": _bytes(encoder),
        "decoder_bytes": _bytes(decoder),
        "embeddings_bytes": _bytes(embeddings),
    }


def metadata(
    src: str, trg: str, architecture: str, model: bytes, tensors: Sequence[Tensor]
) -> dict[str, object]:
    """What metadata.json says about a model; `model` are the bytes of its file before zipping."""
    return {
        "sourceLanguage": src,
        "targetLanguage": trg,
        "architecture": architecture,
        "byteSize": len(model),
        "hash": hashlib.sha256(model).hexdigest(),
        "modelConfig": model_config(tensors),
        "modelStatistics": model_statistics(tensors),
    }


def vocabulary_names(model: Path, pair: str, split: bool) -> dict[str, Path]:
    """File name → vocabulary. Raises InputError when the two differ and would be exported as one."""
    source, target = (model / name for name in VOCABULARIES)
    if split:
        return {f"srcvocab.{pair}.spm.gz": source, f"trgvocab.{pair}.spm.gz": target}
    if source.read_bytes() != target.read_bytes():
        raise InputError(
            f"{source} and {target} differ: the model has two vocabularies. Export it with --split."
        )
    return {f"vocab.{pair}.spm.gz": source}


def zip_file(path: Path, content: bytes) -> int:
    """Write zipped content without a date or name in it, so that the same content gives the same bytes."""
    path.write_bytes(gzip.compress(content, compresslevel=9, mtime=0))
    logger.info("%s: %s bytes, zipped %s", path.name, f"{len(content):,}", f"{path.stat().st_size:,}")
    return len(content)


def main(argv: Sequence[str] | None = None) -> None:
    """Renumber the model's types, zip the files, and write the files named above."""
    args = _parser().parse_args(argv)
    check_folder(args.model)
    pair = f"{args.src}{args.trg}"
    tensors = for_browsers(read_model(args.model / MODEL))
    model = serialize(tensors)
    contents = {
        f"model.{pair}.intgemm8.bin.gz": model,
        f"lex.50.50.{pair}.s2t.bin.gz": (args.model / SHORTLIST).read_bytes(),
    }
    for name, vocabulary in vocabulary_names(args.model, pair, args.split).items():
        contents[name] = vocabulary.read_bytes()
    with staged(args.output) as (output, _):
        sizes = {name: zip_file(output / name, content) for name, content in contents.items()}
        zipped = {name: (output / name).stat().st_size for name in contents}
        write_json(output / "metadata.json", metadata(args.src, args.trg, args.architecture, model, tensors))
        write_json(output / "stats.json", {"bytes": sizes, "zipped_bytes": zipped})


def _parameters(tensors: Iterable[Tensor]) -> int:
    return sum(tensor.size for tensor in tensors)


def _bytes(tensors: Iterable[Tensor]) -> int:
    return sum(len(tensor.data) for tensor in tensors)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--model", type=Path, required=True, help="folder that pipeline.quantize.quantize wrote"
    )
    parser.add_argument("--src", required=True, help="source language, for file names and metadata")
    parser.add_argument("--trg", required=True, help="target language")
    parser.add_argument("--architecture", required=True, help="the student's architecture: tiny, base, …")
    parser.add_argument("--split", action="store_true", help="the model has a vocabulary for each side")
    parser.add_argument("--output", type=Path, required=True, help="new folder for the results")
    return parser


if __name__ == "__main__":
    run(main)
