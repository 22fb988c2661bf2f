"""Loads exported files as an engine would and translates some sentences with them.

    python -m pipeline.checks.exported --exported exported/* --text dev.en.zst --seed 1 --output numbers

takes the files that pipeline.quantize.export wrote and writes numbers.json: whether they load, whether the
model is the one that metadata.json tells of, how many of 20 sentences come out empty or untranslated, and
the translations. The engine is Marian, which numbers one type of tensor otherwise than browsers' engine does:
that number is put back. The model is held in memory, and unpacked in the output folder until this ends.
"""

import argparse
import gzip
import hashlib
import json
import logging
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipeline.checks.letters import Letters
from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, write_lines
from pipeline.common.marian import DECODER_CONFIG, SOURCE_VOCAB, TARGET_VOCAB, decode, decoder_config
from pipeline.common.marian_options import write_options
from pipeline.common.sampling import sample
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.quantize.export import MODEL, SHORTLIST
from pipeline.quantize.marian_binary import INTGEMM8, INTGEMM8_BROWSER, read_model, renumber, serialize

logger = logging.getLogger(__name__)

SENTENCES = 20
SAMPLE_CHARACTERS = 300


def main(argv: Sequence[str] | None = None) -> None:
    """Write numbers.json."""
    args = parse_arguments(argv)
    sentences = sample(filter(str.strip, read_lines(args.text)), SENTENCES, f"exported {args.seed}")
    if not sentences:
        raise InputError(f"{args.text} has no sentence to translate.")
    with staged(args.output) as (output, scratch):
        numbers = export_numbers(args.exported, sentences, scratch)
        write_json(output / "numbers.json", numbers)
    logger.info("%s", {name: value for name, value in numbers.items() if name != "samples"})


def export_numbers(files: Sequence[Path], sentences: Sequence[str], scratch: Path) -> dict[str, Any]:
    """Unpack, load, translate; what does not load is no error of this script but a number."""
    try:
        unpack(files, scratch / "model")
        write_lines(scratch / "text", sentences)
        decode([scratch / "model"], scratch / "text", scratch / "translations")
    except InputError as error:
        message = str(error).replace(str(scratch), "").strip()
        return {"loads": False, "error": message, "sentences": len(sentences)}
    translations = list(read_lines(scratch / "translations"))
    same = Letters(sentences).line_hashes == Letters(translations).line_hashes
    return {
        "loads": True,
        "sentences": len(sentences),
        "empty": sum(not translation.strip() for translation in translations),
        "copied": int((same & (Letters(sentences).lengths > 0)).sum()),
        "distinct": len(set(translations)),
        "samples": [
            [sentence[:SAMPLE_CHARACTERS], translation[:SAMPLE_CHARACTERS]]
            for sentence, translation in zip(sentences, translations, strict=True)
        ],
    }


def unpack(files: Sequence[Path], folder: Path) -> None:
    """Make a model's folder of exported files. Raises InputError when one is missing, damaged or another."""
    folder.mkdir()
    model = _content(files, "model.")
    metadata = json.loads(_find(files, "metadata.json").read_text(encoding="utf-8"))
    if hashlib.sha256(model).hexdigest() != metadata["hash"] or len(model) != metadata["byteSize"]:
        raise InputError("The model is not the one of metadata.json: size or hash differ. Export it again.")
    (folder / MODEL).write_bytes(model)
    (folder / MODEL).write_bytes(
        serialize(renumber(read_model(folder / MODEL), {INTGEMM8_BROWSER: INTGEMM8}))
    )
    (folder / SHORTLIST).write_bytes(_content(files, "lex."))
    joint = any(file.name.startswith("vocab.") for file in files)
    (folder / SOURCE_VOCAB).write_bytes(_content(files, "vocab." if joint else "srcvocab."))
    (folder / TARGET_VOCAB).write_bytes(_content(files, "vocab." if joint else "trgvocab."))
    write_options(folder / DECODER_CONFIG, decoder_config(MODEL, {}, SHORTLIST))


def _content(files: Sequence[Path], prefix: str) -> bytes:
    try:
        return gzip.decompress(_find(files, prefix).read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{prefix}* cannot be unzipped ({error}).") from error


def _find(files: Sequence[Path], prefix: str) -> Path:
    for file in files:
        if file.name.startswith(prefix):
            return file
    raise InputError(f"No file of the export is called {prefix}*.")


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--exported", required=True, nargs="+", type=Path, help="the exported files, metadata.json included")
    add("--text", required=True, type=Path, help="text in the source language")
    add("--seed", required=True, type=int, help="seed of the choice of sentences")
    add("--output", required=True, type=Path, help="new folder for numbers.json")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
