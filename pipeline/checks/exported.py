"""Loads exported files as an engine would and translates some sentences with them.

    python -m pipeline.checks.exported --exported exported/* --text dev.en.zst --seed 1 --output numbers

takes the files that pipeline.quantize.export wrote and writes numbers.json: whether they load, and are those
that records.json tells of, how many of 20 sentences come out empty or untranslated, and the translations. The
engine is fxtranslate, Firefox's in native code.
"""

import argparse
import hashlib
import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipeline.checks.letters import Letters
from pipeline.common.engine import find_file, load_engine
from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines
from pipeline.common.sampling import sample
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged

logger = logging.getLogger(__name__)

SENTENCES = 20
SAMPLE_CHARACTERS = 300


def main(argv: Sequence[str] | None = None) -> None:
    """Write numbers.json."""
    args = parse_arguments(argv)
    sentences = sample(filter(str.strip, read_lines(args.text)), SENTENCES, f"exported {args.seed}")
    if not sentences:
        raise InputError(f"{args.text} has no sentence to translate.")
    with staged(args.output) as (output, _):
        numbers = export_numbers(args.exported, sentences)
        write_json(output / "numbers.json", numbers)
    logger.info("%s", {name: value for name, value in numbers.items() if name != "samples"})


def export_numbers(files: Sequence[Path], sentences: Sequence[str]) -> dict[str, Any]:
    """Load, translate; what does not load is no error of this script but a number."""
    try:
        check_records(files)
        engine = load_engine(files)
        translations = [engine.translate(sentence) for sentence in sentences]
    except InputError as error:
        return {"loads": False, "error": str(error), "sentences": len(sentences)}
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


def check_records(files: Sequence[Path]) -> None:
    """Raise InputError when a file is not that of records.json: an engine may load it all the same."""
    found = {file.name: file for file in files}
    for record in json.loads(find_file(files, "records", ".json").read_text(encoding="utf-8")):
        name = record["name"]
        if name not in found:
            raise InputError(f"{name} is missing, which records.json names. Give all exported files.")
        if hashlib.sha256(found[name].read_bytes()).hexdigest() != record["decompressedHash"]:
            raise InputError(f"{name} is not the file of records.json. Export it again.")


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--exported", required=True, nargs="+", type=Path, help="the exported files, records.json included")
    add("--text", required=True, type=Path, help="text in the source language")
    add("--seed", required=True, type=int, help="seed of the choice of sentences")
    add("--output", required=True, type=Path, help="new folder for numbers.json")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
