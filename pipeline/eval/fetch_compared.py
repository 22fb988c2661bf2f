"""Fetches the files of a model in Firefox's form or CTranslate2's from the URL of its folder.

    python -m pipeline.eval.fetch_compared --form firefox --src en --trg ru --output model \\
        --url https://example.org/models/en-ru/spring/exported

writes model.tar, which holds the files as engines read them, and stats.json: what was fetched from where. In
Firefox's form files may be packed (.zst, .gz), as Mozilla's are.
"""

import argparse
import logging
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path

from pipeline.common.downloads import fetch
from pipeline.common.errors import InputError
from pipeline.common.packed import pack
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.common.web import NotFound, Source
from pipeline.eval.unpacking import unpack_file

PACKED = ("", ".zst", ".gz")
# Of each set of files the first that is there is taken; a set of one file that may be missing ends with "".
CTRANSLATE2 = (
    *(("model.bin",), ("config.json",), ("source.spm",), ("target.spm",)),
    *(("shared_vocabulary.json", "source_vocabulary.json"), ("target_vocabulary.json", "")),
    ("tokens.json", ""),  # of a model of others: what stands before its sentences and translations
)

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write model.tar and stats.json."""
    args = _parser().parse_args(argv)
    wanted = _firefox(f"{args.src}{args.trg}") if args.form == "firefox" else CTRANSLATE2
    with staged(args.output) as (output, scratch):
        files = scratch / "files"
        files.mkdir()
        sources = [*_fetch_all(args.url, wanted, args.form == "firefox", files, scratch)]
        pack(files, output / "model.tar")
        write_json(output / "stats.json", {"source": [asdict(source) for source in sources]})


def _firefox(pair: str) -> tuple[tuple[str, ...], ...]:
    return (
        (f"model.{pair}.intgemm.alphas.bin", f"model.{pair}.intgemm8.bin"),
        (f"vocab.{pair}.spm", f"srcvocab.{pair}.spm"),
        (f"trgvocab.{pair}.spm", ""),
        (f"lex.50.50.{pair}.s2t.bin", ""),
    )


def _fetch_all(
    url: str, wanted: Sequence[Sequence[str]], packed: bool, folder: Path, scratch: Path
) -> Iterator[Source]:
    for names in wanted:
        found = _fetch_one(url, names, PACKED if packed else ("",), folder, scratch)
        if found:
            yield found
        elif "" not in names:
            raise InputError(f"{url} holds neither {' nor '.join(names)}. Check the address, and the form.")


def _fetch_one(
    url: str, names: Sequence[str], ends: Sequence[str], folder: Path, scratch: Path
) -> Source | None:
    for name, end in product(filter(None, names), ends):
        try:
            source = fetch(f"{url.rstrip('/')}/{name}{end}", scratch / f"{name}{end}")
        except NotFound as error:
            log.info("%s", error)
            continue
        unpack_file(scratch / f"{name}{end}", folder / name)
        return source
    return None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--form", required=True, choices=("firefox", "ctranslate2"), help="whose engine reads the model")
    add("--src", required=True, help="source language, as names of files have it")
    add("--trg", required=True, help="target language")
    add("--url", required=True, help="the model's folder, http(s)://, gs:// or file://")
    add("--output", required=True, type=Path, help="new folder for the result")
    return parser


if __name__ == "__main__":
    run(main)
