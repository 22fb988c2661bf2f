"""Convert a sequence-to-sequence model of the Hugging Face hub to CTranslate2's form.

    python -m pipeline.translate.convert_hugging_face --model fetched/model.tar \\
        --source-prefix eng_Latn --target-prefix rus_Cyrl --output converted

OPUS-MT, M2M-100, NLLB, T5, mT5 and MADLAD, in 32 bits. Writes model.bin, config.json,
source_vocabulary.json and target_vocabulary.json, which CTranslate2 reads; source.spm and target.spm, which
cut text into pieces; tokens.json, with the tokens before a sentence and before its translation, which tell
the languages; and stats.json. It is the folder that `pipeline.translate.with_ctranslate2` takes.
"""

import argparse
import difflib
import logging
import shutil
from collections.abc import Sequence
from pathlib import Path

from pipeline.common.errors import InputError
from pipeline.common.marian import SOURCE_VOCAB, TARGET_VOCAB
from pipeline.common.packed import unpack
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.translate.ctranslate2_decoder import TOKENS
from pipeline.translate.hub_model import build, read_config, read_tokens, stats_of
from pipeline.translate.hub_weights import read_weights

SIDES = ("source", "target")
# What cuts text into pieces, of source and target, by the files that a model has
PIECES = (
    ("source.spm", "target.spm"),
    ("sentencepiece.bpe.model", "sentencepiece.bpe.model"),
    ("spiece.model", "spiece.model"),
)

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write the converted model and stats.json."""
    args = parse_arguments(argv)
    with staged(args.output) as (output, scratch):
        folder = unpack(args.model, scratch / "model")
        config, weights = read_config(folder), read_weights(folder)
        source, target = (read_tokens(folder, config, weights, side) for side in SIDES)
        given = {"source-prefix": args.source_prefix, "target-prefix": args.target_prefix}
        for tokens, prefix in ((source, args.source_prefix), (target, args.target_prefix)):
            for token in prefix:
                require_token(token, tokens)
        build(config, weights, (source, target)).save(str(_new(scratch / "converted")))
        _publish(scratch / "converted", folder, output)
        write_json(output / TOKENS, given)
        stats = {**stats_of(config, weights, output / "model.bin"), **given}
        log.info("Converted: %s", stats)
        write_json(output / "stats.json", stats)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--model", required=True, type=Path, help="what pipeline.translate.fetch_hugging_face has fetched")
    add("--source-prefix", nargs="*", default=[], help="tokens before each sentence: eng_Latn, or >>rus<<")
    add("--target-prefix", nargs="*", default=[], help="tokens that each translation begins with: rus_Cyrl")
    add("--output", required=True, type=Path, help="new folder for the converted model")
    return parser.parse_args(argv)


def require_token(token: str, tokens: Sequence[str]) -> None:
    """Raise InputError for a token that the model does not have; it names those that are nearest."""
    if token not in tokens:
        special = [one for one in tokens if not one.startswith("▁")]
        near = difflib.get_close_matches(token, special, n=3, cutoff=0.5)
        told = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise InputError(f"The model has no token {token!r}.{told} Its card says how it tells languages.")


def _new(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _publish(converted: Path, model: Path, output: Path) -> None:
    """Put the files that belong together into `output`: always the same ones."""
    for name in ("model.bin", "config.json"):
        (converted / name).rename(output / name)
    for side in SIDES:
        own = converted / f"{side}_vocabulary.json"
        shutil.copyfile(own if own.exists() else converted / "shared_vocabulary.json", output / own.name)
    for source, target in PIECES:
        if (model / source).is_file() and (model / target).is_file():
            shutil.copyfile(model / source, output / SOURCE_VOCAB)
            shutil.copyfile(model / target, output / TARGET_VOCAB)
            return
    raise InputError(
        "The model has no SentencePiece model (source.spm and target.spm, sentencepiece.bpe.model or "
        "spiece.model), by which its text is cut. Choose another one."
    )


if __name__ == "__main__":
    run(main)
