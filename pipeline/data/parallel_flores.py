"""Import a set of FLORES-200: `dev` (997 sentences) or `devtest` (1,012), in 204 languages.

    python -m pipeline.data.parallel_flores --dataset devtest \\
        --src en --trg ru --src-code eng_Latn --trg-code rus_Cyrl --output flores
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from pipeline.common.archives import extract
from pipeline.common.downloads import fetch
from pipeline.common.errors import InputError
from pipeline.common.script import run
from pipeline.data.imports import Origin
from pipeline.data.parallel import Corpus, Request, import_parallel
from pipeline.data.texts import file_pairs

URL = "https://dl.fbaipublicfiles.com/nllb/flores200_dataset.tar.gz"
SHA256 = (
    "b8b0b76783024b85797e5cc75064eb83fc5288b41e9654dabc7be6ae944011f6"  # as its Croissant metadata declares
)
SETS = ("dev", "devtest")
LICENCE = "CC-BY-SA-4.0"


def main(argv: Sequence[str] | None = None) -> None:
    """Write corpus.{src}.zst, corpus.{trg}.zst and stats.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    import_parallel(parser, argv, download)


def download(request: Request, scratch: Path) -> Corpus:
    """The files of the two languages out of the archive of them all."""
    if request.dataset not in SETS:
        raise InputError(f"FLORES-200 has the sets {' and '.join(SETS)} only.")
    archive = scratch / "flores.tar.gz"
    source = fetch(URL, archive, SHA256)
    names = [f"{code}.{request.dataset}" for code in (request.src_code, request.trg_code)]
    extract(archive, {f"flores200_dataset/{request.dataset}/{name}": scratch / name for name in names})
    origin = Origin([source], revision="FLORES-200", licence=LICENCE)
    return Corpus(file_pairs(*(scratch / name for name in names)), origin)


if __name__ == "__main__":
    run(main)
