"""Import a test set that sacreBLEU knows: source and first reference.

Files come through the mirror, like all downloads, and are checked against sacreBLEU's MD5 sums.

    python -m pipeline.data.parallel_sacrebleu --dataset wmt20 \\
        --src en --trg ru --src-code en --trg-code ru --output wmt20
"""

import argparse
import copy
import hashlib
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import sacrebleu
from sacrebleu.dataset.base import Dataset

from pipeline.common.downloads import fetch
from pipeline.common.errors import InputError
from pipeline.common.script import run
from pipeline.common.web import Source
from pipeline.data.imports import Origin
from pipeline.data.parallel import Corpus, Request, import_parallel
from pipeline.data.texts import file_pairs


def main(argv: Sequence[str] | None = None) -> None:
    """Write corpus.{src}.zst, corpus.{trg}.zst and stats.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    import_parallel(parser, argv, download)


def download(request: Request, scratch: Path) -> Corpus:
    """The test set in the wanted direction, or in the other one with its two sides exchanged."""
    known = _known(request.dataset)
    wanted = f"{request.src_code}-{request.trg_code}"
    reverse = f"{request.trg_code}-{request.src_code}"
    pair = next((pair for pair in (wanted, reverse) if pair in known.langpairs), None)
    if pair is None:
        raise InputError(
            f"sacreBLEU has it neither for {wanted} nor for {reverse}, only for {_pairs(known)}."
        )
    local, sources = _fetched(known, scratch)
    source_side, reference = Path(local.get_source_file(pair)), Path(local.get_reference_files(pair)[0])
    sides = (source_side, reference) if pair == wanted else (reference, source_side)
    release = f"sacreBLEU {sacrebleu.__version__}"
    origin = Origin(sources, revision=release, details={"direction": pair})
    return Corpus(file_pairs(*sides), origin)


def _known(name: str) -> Dataset:
    if name not in sacrebleu.DATASETS:
        near = get_close_matches(name, sacrebleu.DATASETS, n=8, cutoff=0.3)
        raise InputError(
            f"sacreBLEU {sacrebleu.__version__} has no such test set. Near it: {', '.join(near)}."
        )
    return sacrebleu.DATASETS[name]


def _pairs(known: Dataset) -> str:
    return ", ".join(sorted(known.langpairs))


def _fetched(known: Dataset, scratch: Path) -> tuple[Any, list[Source]]:
    """The test set with its files at hand, to be unpacked in the scratch folder, not in ~/.sacrebleu."""
    local: Any = copy.copy(known)
    local._outdir = str(scratch / "sacrebleu")
    local._rawdir = str(scratch / "sacrebleu" / "raw")
    sources = []
    files = []
    for number, (url, md5) in enumerate(zip(known.data or [], known.md5 or [], strict=True)):
        folder = scratch / f"fetched-{number}"
        folder.mkdir()
        file = folder / url.rsplit("/", 1)[-1]
        sources.append(fetch(url, file))
        _check_md5(file, md5, url)
        files.append(file.resolve().as_uri())
    local.data = files
    return local, sources


def _check_md5(file: Path, md5: str, url: str) -> None:
    digest = hashlib.md5(usedforsecurity=False)
    with file.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    if (found := digest.hexdigest()) != md5:
        raise InputError(f"{url} has changed: MD5 {found}, but sacreBLEU expects {md5}. Update sacreBLEU.")


if __name__ == "__main__":
    run(main)
