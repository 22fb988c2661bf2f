"""Names a quantised model's files as Firefox and its engines expect, and packs them for Remote Settings.

    python -m pipeline.quantize.export --model quantized --src en --trg eo --src-name English \\
        --trg-name Esperanto --architecture tiny --output exported

writes

    model.eneo.intgemm.alphas.bin  the weights; Firefox chooses how to compute by `intgemm.alphas`
    lex.50.50.eneo.s2t.bin         the binary shortlist, if there is one
    vocab.eneo.spm                 the vocabulary; with --split srcvocab.eneo.spm and trgvocab.eneo.spm
    *.zst                          each of them compressed: the attachments of Remote Settings
    records.json                   what Remote Settings says of the attachments (translations-models-v2)
    metadata.json                  languages, size and hash of the model, configuration, statistics
    model_info.json, config.intgemm8bitalpha.yml   what makes the folder a model of translateLocally's
    stats.json                     sizes

Engines load the folder as it is. `50.50` is part of the name that Firefox expects, whatever number of pieces
the shortlist always allows. With --intgemm8 there is model.eneo.intgemm8.bin besides, for engines that find
the multipliers of activations themselves. The model is held in memory.
"""

import argparse
import hashlib
import logging
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import yaml
import zstandard

from pipeline.common.errors import InputError
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.quantize import translate_locally
from pipeline.quantize.alphas import MULTIPLIER
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

MODEL = "model.intgemm.alphas.bin"
MARIAN_MODEL = "model.intgemm8.bin"
SHORTLIST = "lex.bin"
VOCABULARIES = ("source.spm", "target.spm")

ZSTD_LEVEL = 19

# Word embeddings of both sides: `Wemb` when all are tied, else `encoder_Wemb` and `decoder_Wemb`; an output
# layer that is tied to none is one more.
EMBEDDINGS = ("Wemb", "decoder_ff_logit_out_W")


def check_folder(model: Path) -> None:
    """Raise InputError unless a folder holds the files of a quantised model."""
    missing = [name for name in (MODEL, MARIAN_MODEL, *VOCABULARIES) if not (model / name).is_file()]
    if missing:
        raise InputError(f"{model} lacks {', '.join(missing)}. Give the folder that `quantize` wrote.")


def for_browsers(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Marian's model as browsers' engine reads it; raises InputError for a type that was not checked."""
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
    """Numbers of parameters and bytes. Embeddings are counted by themselves, not with encoder or decoder.

    Multipliers of activations are no parameters.
    """
    weights = [tensor for tensor in tensors if tensor.name != CONFIG and not tensor.name.endswith(MULTIPLIER)]
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


def metadata(model: Path) -> dict[str, object]:
    """What metadata.json says about the file of a model, besides its languages and architecture."""
    content, tensors = model.read_bytes(), read_model(model)
    return {
        "byteSize": len(content),
        "hash": hashlib.sha256(content).hexdigest(),
        "modelConfig": model_config(tensors),
        "modelStatistics": model_statistics(tensors),
    }


def vocabulary_names(model: Path, pair: str, split: bool) -> dict[str, Path]:
    """File name → vocabulary. Raises InputError when the two differ and would be exported as one."""
    source, target = (model / name for name in VOCABULARIES)
    if split:
        return {f"srcvocab.{pair}.spm": source, f"trgvocab.{pair}.spm": target}
    if source.read_bytes() != target.read_bytes():
        raise InputError(
            f"{source} and {target} differ: the model has two vocabularies. Export it with --split."
        )
    return {f"vocab.{pair}.spm": source}


def attachment(path: Path) -> dict[str, object]:
    """Compress a file beside itself, and tell of both as Remote Settings does."""
    content = path.read_bytes()
    packed = zstandard.ZstdCompressor(level=ZSTD_LEVEL, write_content_size=True).compress(content)
    zipped = path.with_name(f"{path.name}.zst")
    zipped.write_bytes(packed)
    logger.info("%s: %s bytes, compressed %s", path.name, f"{len(content):,}", f"{len(packed):,}")
    return {
        "decompressedHash": hashlib.sha256(content).hexdigest(),
        "decompressedSize": len(content),
        "attachment": {
            "hash": hashlib.sha256(packed).hexdigest(),
            "size": len(packed),
            "filename": zipped.name,
            "mimetype": "application/zstd",
        },
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Write the files named above."""
    args = _parser().parse_args(argv)
    check_folder(args.model)
    pair = f"{args.src}{args.trg}"
    languages = {"sourceLanguage": args.src, "targetLanguage": args.trg, "architecture": args.architecture}
    model, shortlist = f"model.{pair}.intgemm.alphas.bin", f"lex.50.50.{pair}.s2t.bin"
    has_shortlist = (args.model / SHORTLIST).exists()
    vocabularies = vocabulary_names(args.model, pair, args.split)
    files = {
        model: args.model / MODEL,
        **({shortlist: args.model / SHORTLIST} if has_shortlist else {}),
        **vocabularies,
    }
    with staged(args.output) as (output, _):
        for name, file in files.items():
            shutil.copyfile(file, output / name)
        if args.intgemm8:
            other = serialize(for_browsers(read_model(args.model / MARIAN_MODEL)))
            (output / f"model.{pair}.intgemm8.bin").write_bytes(other)
        sizes = {path.name: path.stat().st_size for path in sorted(output.iterdir())}
        records = [
            {"name": name, "fileType": name.split(".")[0], **languages, **attachment(output / name)}
            for name in files
        ]
        write_json(output / "records.json", records)
        write_json(output / "metadata.json", {**languages, **metadata(output / model)})
        config = translate_locally.engine_config(
            model, list(vocabularies), shortlist if has_shortlist else None
        )
        (output / translate_locally.CONFIG).write_text(yaml.safe_dump(config, sort_keys=False))
        info = translate_locally.model_info(
            (args.src, args.trg), (args.src_name or args.src, args.trg_name or args.trg), args.architecture
        )
        write_json(output / translate_locally.INFO, info)
        write_json(output / "stats.json", {"bytes": sizes})


def _parameters(tensors: Iterable[Tensor]) -> int:
    return sum(tensor.size for tensor in tensors)


def _bytes(tensors: Iterable[Tensor]) -> int:
    return sum(len(tensor.data) for tensor in tensors)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, required=True, help="folder that the script quantize wrote")
    parser.add_argument("--src", required=True, help="source language, for file names and metadata")
    parser.add_argument("--trg", required=True, help="target language")
    parser.add_argument("--src-name", help="the source language's English name; --src by default")
    parser.add_argument("--trg-name", help="the target language's; --trg by default")
    parser.add_argument("--architecture", required=True, help="the student's architecture: tiny, base, …")
    parser.add_argument("--split", action="store_true", help="the model has a vocabulary for each side")
    parser.add_argument(
        "--intgemm8", action="store_true", help="write model.*.intgemm8.bin, without multipliers, as well"
    )
    parser.add_argument("--output", type=Path, required=True, help="new folder for the results")
    return parser


if __name__ == "__main__":
    run(main)
