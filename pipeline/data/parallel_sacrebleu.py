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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import sacrebleu
from sacrebleu.dataset.base import Dataset

from pipeline.common.downloads import fetch
from pipeline.common.errors import InputError
from pipeline.common.script import run
from pipeline.common.web import Source
from pipeline.data.imports import Origin
from pipeline.data.parallel import Corpus, Request, import_parallel
from pipeline.data.texts import file_lines, file_pairs

Line = TypeVar("Line")

SOURCE, TARGET = "source-original", "target-original"
ORIGINAL = "origlang"  # as sacreBLEU calls the language that a line was written in


def main(argv: Sequence[str] | None = None) -> None:
    """Write corpus.{src}.zst, corpus.{trg}.zst and stats.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    import_parallel(parser, argv, download)


@dataclass(frozen=True)
class LocalSet:
    """A test set with its files at hand.

    known       as sacreBLEU describes it
    direction   the pair of languages that its files have, as sacreBLEU writes it
    written_in  the language whose original lines are meant; "" for all lines
    """

    known: Any
    direction: str
    written_in: str
    sources: list[Source]

    def files(self) -> dict[str, Path]:
        """The files of each field that sacreBLEU knows: `src`, `docid`, `origlang` and others."""
        paths = map(Path, self.known.get_files(self.direction))
        return dict(zip(self.known.fieldnames(self.direction), paths, strict=True))

    def meant(self, lines: Iterable[Line]) -> Iterator[Line]:
        """Of what there is for each line that of the meant lines.

        Raises InputError for a set that does not tell in which languages its lines were written.
        """
        if not self.written_in:
            return iter(lines)
        files = self.files()
        if ORIGINAL not in files:
            raise InputError(f"{self.known.name} does not tell in which languages its lines were written.")
        languages = zip(lines, file_lines(files[ORIGINAL]), strict=True)
        return (line for line, language in languages if language == self.written_in)


def download(request: Request, scratch: Path) -> Corpus:
    """The test set in the wanted direction, or in the other one with its two sides exchanged."""
    found = local_set(request, scratch)
    source_side = Path(found.known.get_source_file(found.direction))
    reference = Path(found.known.get_reference_files(found.direction)[0])
    is_wanted = found.direction == f"{request.src_code}-{request.trg_code}"
    sides = (source_side, reference) if is_wanted else (reference, source_side)
    release = f"sacreBLEU {sacrebleu.__version__}"
    origin = Origin(found.sources, revision=release, details={"direction": found.direction})
    return Corpus(found.meant(file_pairs(*sides)), origin)


def local_set(request: Request, scratch: Path) -> LocalSet:
    """Fetch and unpack a test set, or the lines of it that were written in one of its languages."""
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
    written_in = {SOURCE: request.src_code, TARGET: request.trg_code}.get(original, "")
    return LocalSet(local, pair, written_in, sources)


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
