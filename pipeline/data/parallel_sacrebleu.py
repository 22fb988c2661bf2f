"""Import a test set that sacreBLEU knows: source and first reference.

Files come through the mirror, like all downloads, and are checked against sacreBLEU's MD5 sums. Of a set of
WMT whose files say in which language each document was written, `wmt19/source-original` has the lines that
were written in the source language, `wmt19/target-original` those written in the target language.

    python -m pipeline.data.parallel_sacrebleu --dataset wmt20 \\
        --src en --trg ru --src-code en --trg-code ru --output wmt20
"""

import argparse
import copy
import hashlib
from collections.abc import Iterator, Sequence
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
from pipeline.data.texts import file_lines, file_pairs

SOURCE, TARGET = "source-original", "target-original"
ORIGINAL = "origlang"  # as sacreBLEU calls the language that a line was written in


def main(argv: Sequence[str] | None = None) -> None:
    """Write corpus.{src}.zst, corpus.{trg}.zst and stats.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    import_parallel(parser, argv, download)


def download(request: Request, scratch: Path) -> Corpus:
    """The test set in the wanted direction, or in the other one with its two sides exchanged."""
    name, _, original = request.dataset.rpartition("/")
    if original not in (SOURCE, TARGET):  # names of sets have slashes, too: multi30k/2018
        name, original = request.dataset, ""
    known = _known(name)
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
    pairs = file_pairs(*sides)
    if original:
        written_in = request.src_code if original == SOURCE else request.trg_code
        languages = _original_languages(local, pair)
        pairs = (lines for lines, own in zip(pairs, languages, strict=True) if own == written_in)
    return Corpus(pairs, origin)


def _original_languages(local: Any, pair: str) -> Iterator[str]:
    """The language in which each line was written. Raises InputError for a set that does not tell."""
    files = dict(zip(local.fieldnames(pair), local.get_files(pair), strict=True))
    if ORIGINAL not in files:
        raise InputError(f"{local.name} does not tell in which languages its lines were written.")
    return file_lines(Path(files[ORIGINAL]))


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
