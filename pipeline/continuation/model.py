"""Fetch a model of an earlier run: to use it as it is, or to begin or go on training with it.

    python -m pipeline.continuation.model --src ru --trg en --best-model chrf \\
        --url https://example.org/run/backwards --output backwards

The URL is that of a folder: a model's folder of this pipeline, or one of Mozilla's, with weights such as
final.model.npz.best-chrf.npz, and vocab.spm or vocab.{lang}.spm; or that of an exported student, whose 8-bit
weights become floats. --vocab-urls tells of the vocabularies of a folder that has none. --src and --trg are
in the model's own direction. The output is

    model.npz source.spm target.spm decoder.yml    the model, checked to fit its vocabularies
    marian-args.yml                                what its architecture is, as options of Marian
    stats.json                                     what was fetched from where

and with --state also last.npz last.optimizer.npz last.progress.yml: what its training had saved last.
"""

import argparse
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import yaml

from pipeline.common.downloads import fetch_first
from pipeline.common.errors import InputError
from pipeline.common.marian import DECODER_CONFIG, SOURCE_VOCAB, TARGET_VOCAB, decoder_config
from pipeline.common.marian_options import SHAPING, Options, read_options, write_options
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.common.vocabulary import load_vocabulary
from pipeline.common.web import NotFound, Source
from pipeline.continuation.addresses import (
    METRICS,
    decoder_urls,
    state_urls,
    told_of,
    vocabulary_urls,
    weights_urls,
)
from pipeline.continuation.exported import SUFFIX, write_floats

WEIGHTS = "model.npz"
CONFIG = "special:model.yml"  # Marian's own description of a model, in the file of its weights
DECODING: Options = {"beam-size": 12, "normalize": 0}  # Marian's defaults
BATCHES: Options = {"mini-batch": 32, "maxi-batch": 100, "maxi-batch-sort": "src"}

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write the model's folder, marian-args.yml and stats.json."""
    args = parse_arguments(argv)
    with staged(args.output) as (output, scratch):
        weights = fetch_weights(args, output / WEIGHTS, scratch)
        described = describe(output / WEIGHTS, weights.url)
        vocabs = fetch_vocabularies(args, output)
        check_vocabularies(described, output, [weights, *vocabs])
        state = fetch_state(args.url, output) if args.state else []
        write_options(output / DECODER_CONFIG, decoder_config(WEIGHTS, decoding(weights.url, scratch)))
        write_options(output / "marian-args.yml", architecture(described))
        sources = [asdict(source) for source in (weights, *vocabs, *state)]
        write_json(output / "stats.json", {"source": sources, "architecture": architecture(described)})


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--src", required=True, help="language the model translates from")
    add("--trg", required=True, help="language the model translates to")
    add("--url", required=True, help="the model's folder, http(s)://, gs:// or file://")
    add("--best-model", required=True, choices=METRICS, help="what the model shall be best at, if it says so")
    add("--vocab-urls", nargs=2, help="its vocabularies, source first, if its folder has none")
    add("--state", action="store_true", help="fetch what is needed to go on with its training, too")
    add("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def fetch_weights(args: argparse.Namespace, target: Path, scratch: Path) -> Source:
    """Fetch the weights, those of an exported student as floats."""
    fetched = fetch_first(weights_urls(args.url, args.best_model, args.src + args.trg), target)
    if fetched.url.endswith(SUFFIX):
        target.rename(scratch / "exported")
        with told_of([fetched.url], scratch):
            write_floats(scratch / "exported", target)
    return fetched


def describe(weights: Path, url: str) -> Mapping[str, Any]:
    """What Marian wrote of the model into the file of its weights; InputError when that is no such file."""
    try:
        with weights.open("rb") as file, np.load(file) as arrays:
            text = arrays[CONFIG].tobytes().rstrip(b"\0").decode("utf-8")
        described = yaml.safe_load(text)
    except (ValueError, TypeError, KeyError, EOFError, BadZipFile, yaml.YAMLError) as error:
        raise InputError(f"{url} is no model of Marian ({error}). Check the address.") from error
    if not isinstance(described, dict):
        raise InputError(f"{url} is no model of Marian: it does not describe itself. Check the address.")
    return described


def fetch_vocabularies(args: argparse.Namespace, output: Path) -> list[Source]:
    """Fetch the vocabularies in the model's order."""
    sides = vocabulary_urls(args.url, args.src, args.trg)
    given = [[url] for url in args.vocab_urls] if args.vocab_urls else [[], []]
    try:
        return [
            fetch_first([*urls, *other], output / name)
            for urls, other, name in zip(sides, given, (SOURCE_VOCAB, TARGET_VOCAB), strict=True)
        ]
    except NotFound as error:
        raise NotFound(
            f"{args.url} has no vocabulary ({error}) Give that of its run (continuation.vocab)."
        ) from error


def check_vocabularies(described: Mapping[str, Any], folder: Path, sources: Sequence[Source]) -> None:
    """Raise InputError when the model was trained with vocabularies of other sizes."""
    weights, *vocabs = sources
    sizes = [load_vocabulary(folder / name).get_piece_size() for name in (SOURCE_VOCAB, TARGET_VOCAB)]
    trained = described.get("dim-vocabs")
    if trained and all(trained) and trained != sizes:
        raise InputError(
            f"{weights.url} was trained with vocabularies of {trained} pieces, and "
            f"{' and '.join(source.url for source in vocabs)} have {sizes}. They belong to another model."
        )


def fetch_state(url: str, output: Path) -> list[Source]:
    """Fetch the last save of the model's training."""
    try:
        return [fetch_first(urls, output / name) for name, urls in state_urls(url).items()]
    except NotFound as error:
        raise NotFound(
            f"{url} does not have all that is needed to go on with its training ({error}) With "
            "mode: init training begins with its weights, and a new optimizer."
        ) from error


def decoding(weights: str, scratch: Path) -> Options:
    """How the model is to be decoded, as its folder says, else as Marian does by default."""
    found: Options = {}
    try:
        fetch_first(decoder_urls(weights), scratch / DECODER_CONFIG)
        found = read_options(scratch / DECODER_CONFIG)
    except NotFound:
        log.info("There is no %s: decoding as Marian does by default", DECODER_CONFIG)
    given = {name: found[name] for name in (*DECODING, "word-penalty") if name in found}
    return {**DECODING, **given, **BATCHES}


def architecture(described: Mapping[str, Any]) -> Options:
    """The options of Marian that build such a model."""
    return {name: described[name] for name in sorted(described) if name.startswith(SHAPING)}


if __name__ == "__main__":
    run(main)
