"""Import NTREX-128: the 1,997 English sentences of newstest2019 and their translations into 128 languages.

Its only set is `test`.

    python -m pipeline.data.parallel_ntrex --dataset test \\
        --src en --trg ru --src-code eng --trg-code rus --output ntrex
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from pipeline.common.downloads import fetch
from pipeline.common.errors import InputError
from pipeline.common.script import run
from pipeline.data.imports import Origin
from pipeline.data.parallel import Corpus, Request, import_parallel
from pipeline.data.texts import file_pairs

COMMIT = "468c6b6"
FOLDER = f"https://github.com/MicrosoftTranslator/NTREX/raw/{COMMIT}/NTREX-128"
LICENCE = "CC-BY-SA-4.0"


def main(argv: Sequence[str] | None = None) -> None:
    """Write corpus.{src}.zst, corpus.{trg}.zst and stats.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    import_parallel(parser, argv, download)


def download(request: Request, scratch: Path) -> Corpus:
    """The files of the two languages, which are parallel to each other."""
    if request.dataset != "test":
        raise InputError("NTREX has the set test only.")
    names = [_file_name(code) for code in (request.src_code, request.trg_code)]
    sources = [fetch(f"{FOLDER}/{name}", scratch / name) for name in names]
    origin = Origin(sources, revision=COMMIT, licence=LICENCE)
    return Corpus(file_pairs(*(scratch / name for name in names)), origin)


def _file_name(code: str) -> str:
    """English is what was translated, and the only language with a source file."""
    return f"newstest2019-{'src' if code == 'eng' else 'ref'}.{code}.txt"


if __name__ == "__main__":
    run(main)
