"""Fetch the vocabularies of an earlier run, in place of learning them.

    python -m pipeline.continuation.vocabulary --src en --trg ru --vocab-size 32000 \\
        --src-url https://example.org/run/vocab.en.spm --trg-url https://example.org/run/vocab.ru.spm \\
        --output vocab

    python -m pipeline.continuation.vocabulary --src en --trg ru --vocab-size 32000 \\
        --model-url https://example.org/run/teacher --output vocab

The output is vocab.{src}.spm and vocab.{trg}.spm, with identical bytes when they are joint, and stats.json.
With --model-url they are those of a model from --src to --trg. Both must have --vocab-size pieces, and be the
same file, or with --split two different ones.
"""

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from sentencepiece import SentencePieceProcessor

from pipeline.common.downloads import fetch_first
from pipeline.common.errors import InputError
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.common.vocabulary import load_vocabulary
from pipeline.common.web import Source
from pipeline.continuation.addresses import vocabulary_urls

SIZE_STEP = 8  # training configs give sizes in multiples of this
SAMPLES = 10


def main(argv: Sequence[str] | None = None) -> None:
    """Write the vocabularies and stats.json."""
    args = parse_arguments(argv)
    with staged(args.output) as (output, _):
        files = [output / f"vocab.{lang}.spm" for lang in (args.src, args.trg)]
        sources = [fetch_first(urls, file) for urls, file in zip(addresses(args), files, strict=True)]
        sides = [_opened(file, source) for file, source in zip(files, sources, strict=True)]
        check_split(sources, args.split)
        for vocabulary, source in zip(sides, sources, strict=True):
            check_size(vocabulary.get_piece_size(), args.vocab_size, source.url)
        write_json(output / "stats.json", stats(sides, sources))


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--src", required=True, help="source language, for the file name")
    add("--trg", required=True, help="target language, for the file name")
    add("--src-url", help="where the source language's vocabulary is")
    add("--trg-url", help="where the target language's vocabulary is")
    add("--model-url", help="in place of these, the folder of a model from --src to --trg")
    add("--vocab-size", required=True, type=int, help="number of pieces that they must have")
    add("--split", action="store_true", help="a vocabulary of its own for each side")
    add("--output", required=True, type=Path, help="new folder for the result")
    args = parser.parse_args(argv)
    if bool(args.model_url) == bool(args.src_url and args.trg_url):
        parser.error("give --src-url and --trg-url, or --model-url")
    return args


def addresses(args: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Where the vocabularies may be, source first."""
    if args.model_url:
        return vocabulary_urls(args.model_url, args.src, args.trg)
    return [args.src_url], [args.trg_url]


def _opened(file: Path, source: Source) -> SentencePieceProcessor:
    try:
        return load_vocabulary(file)
    except InputError as error:
        raise InputError(f"{source.url} is no SentencePiece model. Check the address.") from error


def check_split(sources: Sequence[Source], split: bool) -> None:
    """Raise InputError when there is one vocabulary and two are asked for, or the other way round."""
    joint = sources[0].sha256 == sources[1].sha256
    if joint and split:
        raise InputError(
            f"{sources[0].url} and {sources[1].url} are the same: a joint vocabulary. Set spm-vocab-split: "
            "false, or correct the addresses."
        )
    if not joint and not split:
        raise InputError(
            f"{sources[0].url} and {sources[1].url} differ: a vocabulary for each side. Set "
            "spm-vocab-split: true, or correct the addresses."
        )


def check_size(pieces: int, wanted: int, url: str) -> None:
    """Raise InputError unless a vocabulary has as many pieces as the training config says."""
    if pieces % SIZE_STEP:
        raise InputError(
            f"{url} has {pieces:,} pieces. A model needs a multiple of {SIZE_STEP}: take another vocabulary."
        )
    if pieces != wanted:
        raise InputError(
            f"{url} has {pieces:,} pieces, and {wanted:,} are asked for. Set spm-vocab-size: {pieces}, or "
            "correct the address."
        )


def stats(sides: Sequence[SentencePieceProcessor], sources: Sequence[Source]) -> dict[str, object]:
    """What stats.json holds: as `pipeline.train.vocab` writes it, without lines, and where they are from."""
    first = sides[0]
    learned = [
        piece
        for number in range(first.get_piece_size())
        if not (first.is_control(number) or first.is_unknown(number) or first.is_byte(number))
        and not (piece := first.id_to_piece(number)).startswith("__")
    ]
    return {
        "vocabularies": len({source.sha256 for source in sources}),
        "size": first.get_piece_size(),
        "source": [asdict(source) for source in sources],
        "samples": learned[:SAMPLES],
    }


if __name__ == "__main__":
    run(main)
