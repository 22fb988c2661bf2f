"""Import text from a field of a dataset of the Hugging Face hub; every line of a document becomes a line.

Files are visited in a seeded order, one at a time, until they have held as many lines as are wanted; the
text is a uniform sample of those lines. HF_TOKEN holds the token for datasets that ask for one.

    python -m pipeline.data.mono_hf --dataset HuggingFaceFW/fineweb-2:rus_Cyrl:train:text \\
        --lang ru --code ru --max-sentences 100000 --output mono
"""

import argparse
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from pipeline.common.script import run
from pipeline.data.hub import Commit, find_files, parse_name
from pipeline.data.imports import Origin
from pipeline.data.mono import Request, Text, import_mono
from pipeline.data.tables import field_of, read_rows

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write mono.{lang}.zst and stats.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    import_mono(parser, argv, download)


def download(request: Request, scratch: Path) -> Text:
    """The documents' lines, file by file."""
    name = parse_name(request.dataset, fields=1)
    commit, files = find_files(name, scratch)
    Random(name.repository).shuffle(files)
    origin = Origin(revision=commit.sha, licence=commit.licence)
    return Text(_lines(commit, files, name.fields[0], request.max_sentences, origin, scratch), origin)


def _lines(
    commit: Commit, files: Sequence[str], field: str, enough: int, origin: Origin, scratch: Path
) -> Iterator[str]:
    lines = 0
    for number, file in enumerate(files, start=1):
        if lines >= enough:
            break
        log.info("File %s of %s: %s", number, len(files), file)
        origin.details["files"] = {"of the split": len(files), "read": number}
        path = scratch / Path(file).name
        origin.sources.append(commit.fetch(file, path))
        for row in read_rows(path, (field, "translation")):
            for line in field_of(row, field, path).split("\n"):
                if line.strip():
                    lines += 1
                    yield line.strip()
        path.unlink()


if __name__ == "__main__":
    run(main)
