"""Stores a trained student in 8-bit integers, with the binary shortlist that it is decoded with.

    python -m pipeline.quantize.quantize --model finetuned --shortlist lex.s2t.zst --text dev.en.zst \\
        --output quantized

writes a folder that `pipeline.translate.translate`, `pipeline.eval.evaluate` and `pymarian decode` take as a
model: model.intgemm8.bin, lex.bin (binary shortlist), source.spm, target.spm, decoder.yml (paths relative to
it, beam 1, fixed batches), and stats.json. Without --shortlist there is no lex.bin, and the decoder computes
the whole vocabulary. model.intgemm.alphas.bin is the same model as browsers' engines read it: its embeddings,
too, are in 8 bits, and each matrix has a multiplier for what enters it, found by translating at most 2,000
lines of the text.

A source piece allows its likeliest target pieces (--best). Always allowed are the control, symbol and byte
pieces of the target vocabulary, so that every character can be written, and some pieces after them, the
language's most frequent ones (--frequent).

The model's embeddings and feed-forward layers must have sizes that are multiples of 64.
"""

import argparse
import logging
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, write_lines
from pipeline.common.marian import (
    DECODER_CONFIG,
    QUANTISED,
    SOURCE_VOCAB,
    TARGET_VOCAB,
    Model,
    decoder_config,
    load_model,
)
from pipeline.common.marian_options import write_options
from pipeline.common.marian_process import marian_error
from pipeline.common.processes import dying_with_parent
from pipeline.common.resources import marian_command
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.common.vocabulary import load_vocabulary
from pipeline.quantize.alphas import browser_model
from pipeline.quantize.calibration import multipliers
from pipeline.quantize.lexical_shortlist import (
    always_allowed,
    read_shortlist,
    vocabulary_share,
)
from pipeline.quantize.marian_binary import clear_padding, read_model, serialize
from pipeline.quantize.student import Weights, check_family, read_weights

logger = logging.getLogger(__name__)

WEIGHTS = "model.intgemm8.bin"
BROWSER_WEIGHTS = "model.intgemm.alphas.bin"
SHORTLIST = "lex.bin"

BEST = FREQUENT = 50

# Processors with AVX-512 multiply 64 numbers of 8 bits at a time. Marian converts and loads matrices of other
# heights, too, but decoding ends with a segmentation fault.
INT8_WIDTH = 64
SIZES = ("dim-emb", "transformer-dim-ffn", "transformer-decoder-dim-ffn")


def check_sizes(weights: Weights, path: Path) -> None:
    """Raise InputError for a model whose 8-bit form could not be decoded."""
    config = weights.config
    wrong = [f"{name} {config[name]}" for name in SIZES if config.get(name, 0) % INT8_WIDTH]
    if wrong:
        raise InputError(
            f"{path} cannot be quantised: it has {', '.join(wrong)}, and 8-bit decoding needs multiples "
            f"of {INT8_WIDTH}. Train the student with others (marian-args.training-student)."
        )


def convert_weights(weights: Path, output: Path) -> None:
    """model.npz → the binary model with matrices of 8-bit integers, the same bytes each time."""
    _convert("--from", weights, "--to", output, "--gemm-type", "intgemm8")
    output.write_bytes(serialize(clear_padding(read_model(output))))


def convert_shortlist(text: Path, model: Model, first: int, best: int, output: Path) -> None:
    """Text shortlist, not compressed → binary shortlist. The source vocabulary must come first."""
    limits = (first, best, 0)  # 0: no least probability
    vocabularies = (model.source_vocab, model.target_vocab)
    _convert("--shortlist", text, *limits, "--dump-shortlist", output, "--vocabs", *vocabularies)


def main(argv: Sequence[str] | None = None) -> None:
    """Convert weights and shortlist, and write the files named above."""
    args = _parser().parse_args(argv)
    model = load_model(args.model)
    if model.quantised:
        raise InputError(f"{args.model} is quantised already. Give the folder of the trained model.")
    weights = read_weights(model.weights)
    check_family(weights)
    check_sizes(weights, model.weights)
    with staged(args.output) as (output, scratch):
        narrowed = write_shortlist(args, model, scratch, output / SHORTLIST) if args.shortlist else {}
        convert_weights(model.weights, output / WEIGHTS)
        alphas = multipliers(model, args.text, scratch)
        (output / BROWSER_WEIGHTS).write_bytes(serialize(browser_model(weights, alphas)))
        shutil.copyfile(model.source_vocab, output / SOURCE_VOCAB)
        shutil.copyfile(model.target_vocab, output / TARGET_VOCAB)
        settings = {**model.settings, **QUANTISED}
        name = SHORTLIST if args.shortlist else None
        write_options(output / DECODER_CONFIG, decoder_config(WEIGHTS, settings, name))
        files = (model.weights, *(output / name for name in (WEIGHTS, BROWSER_WEIGHTS, SHORTLIST)))
        sizes = {file.name: file.stat().st_size for file in files if file.exists()}
        stats = {"bytes": sizes, "shortlist": narrowed}
        write_json(output / "stats.json", stats)
    logger.info("Quantised: %s", stats)


def write_shortlist(args: argparse.Namespace, model: Model, scratch: Path, output: Path) -> dict[str, object]:
    """Write the binary shortlist; returns how far it narrows the target vocabulary."""
    source, target = load_vocabulary(model.source_vocab), load_vocabulary(model.target_vocab)
    shortlist = read_shortlist(args.shortlist, source, target, args.best)
    first, vocabulary = always_allowed(target, args.frequent), target.get_piece_size()
    logger.info("Always allowed: the first %d of %d target pieces", first, vocabulary)
    write_lines(scratch / "lex.s2t", read_lines(args.shortlist))
    convert_shortlist(scratch / "lex.s2t", model, first, args.best, output)
    return {
        "source_pieces": len(shortlist),
        "entries": sum(map(len, shortlist.values())),
        "always_allowed": first,
        "target_vocabulary": vocabulary,
        "vocabulary_share_of_a_line": round(vocabulary_share(shortlist, first, vocabulary), 4),
    }


def _convert(*arguments: object) -> None:
    command = [*marian_command(), "convert", *map(str, arguments)]
    logger.info("%s", " ".join(command))
    result = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, preexec_fn=dying_with_parent(), check=False
    )
    if result.returncode:
        raise marian_error("convert", result.returncode, result.stderr.decode("utf-8", errors="replace"))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, required=True, help="folder of the trained student")
    add = parser.add_argument
    add("--shortlist", type=Path, help="lex.s2t.zst of pipeline.alignments.shortlist; none when left out")
    add("--best", type=int, default=BEST, help="target pieces that a source piece allows")
    add("--frequent", type=int, default=FREQUENT, help="frequent pieces that are always allowed")
    parser.add_argument(
        "--text", type=Path, required=True, help="text in the source language, such as that of the dev set"
    )
    parser.add_argument("--output", type=Path, required=True, help="new folder for the results")
    return parser


if __name__ == "__main__":
    run(main)
