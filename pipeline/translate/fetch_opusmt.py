"""Fetch a model of OPUS-MT in Marian's form, as OPUS-MT releases it.

    python -m pipeline.translate.fetch_opusmt --url https://example.org/eng-rus/opus-2021-02-18.zip \\
        --output fetched

--url is that of an archive (.zip, .tar, .tar.gz) or of a folder. Writes model.tar, with decoder.yml, the
weights and vocabularies that it names, source.spm and target.spm, for `pipeline.translate.convert_opusmt`;
and stats.json, with what was fetched from where.
"""

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from pipeline.common.archives import extract, members
from pipeline.common.downloads import fetch
from pipeline.common.errors import InputError
from pipeline.common.marian import DECODER_CONFIG, SOURCE_VOCAB, TARGET_VOCAB
from pipeline.common.marian_options import read_options
from pipeline.common.packed import pack
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.common.web import Source

ARCHIVE = re.compile(r"\.(zip|tar|tgz|tar\.(gz|bz2|xz))$", re.IGNORECASE)


def main(argv: Sequence[str] | None = None) -> None:
    """Write model.tar and stats.json."""
    args = parse_arguments(argv)
    with staged(args.output) as (output, scratch):
        folder = scratch / "model"
        folder.mkdir()
        if ARCHIVE.search(urlsplit(args.url).path):
            sources = [fetch(args.url, scratch / "archive")]
            unpack_release(scratch / "archive", folder)
        else:
            sources = fetch_folder(args.url, folder)
        pack(folder, output / "model.tar")
        files = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
        write_json(output / "stats.json", {"bytes": files, "source": [asdict(source) for source in sources]})


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--url", required=True, help="http(s)://, gs:// or file:// of an archive or a folder")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def unpack_release(archive: Path, folder: Path) -> None:
    """Write decoder.yml and the files that it names to a folder."""
    by_name = {PurePosixPath(member).name: member for member in members(archive)}
    extract(archive, {by_name.get(DECODER_CONFIG, DECODER_CONFIG): folder / DECODER_CONFIG})
    names = [*named_files(folder / DECODER_CONFIG)]
    extract(archive, {by_name.get(name, name): folder / name for name in names})


def fetch_folder(url: str, folder: Path) -> list[Source]:
    """Fetch decoder.yml and what it names from below a URL."""
    decoder = fetch(f"{url.rstrip('/')}/{DECODER_CONFIG}", folder / DECODER_CONFIG)
    names = [*named_files(folder / DECODER_CONFIG)]
    return [decoder, *(fetch(f"{url.rstrip('/')}/{name}", folder / name) for name in names)]


def named_files(config: Path) -> Iterator[str]:
    """The files that belong to a model, without decoder.yml itself: each once."""
    options = read_options(config)
    yield from dict.fromkeys([*weights_and_vocabularies(options), SOURCE_VOCAB, TARGET_VOCAB])


def weights_and_vocabularies(options: Mapping[str, object]) -> list[str]:
    """Names of the weights, then of one vocabulary or of two, source first, in a decoder.yml.

    Raises InputError when it names others.
    """
    models, vocabs = options.get("models"), options.get("vocabs")
    if not isinstance(models, list) or len(models) != 1 or not isinstance(vocabs, list) or len(vocabs) > 2:
        raise InputError(
            f"{DECODER_CONFIG} must name one model and one or two vocabularies, not {models!r} and "
            f"{vocabs!r}. Give one model's release."
        )
    names = [PurePosixPath(str(name)).name for name in (*models, *vocabs)]
    if not vocabs or not names[0] or not all(name.endswith((".yml", ".yaml")) for name in names[1:]):
        raise InputError(
            f"{DECODER_CONFIG} names the model {models!r} and the vocabularies {vocabs!r}, and OPUS-MT's are "
            ".yml files. Of a model with vocabularies in .spm files write type: default."
        )
    return names


if __name__ == "__main__":
    run(main)
