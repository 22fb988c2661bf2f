"""Import a parallel corpus from two fields of a dataset of the Hugging Face hub.

The fields are columns, or languages in the column `translation`. Pairs with an empty side are left out.
HF_TOKEN holds the token for datasets that ask for one.

    python -m pipeline.data.parallel_hfp --dataset Helsinki-NLP/europarl:en-es:train:en:es \\
        --src en --trg es --src-code en --trg-code es --output europarl
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.common.script import run
from pipeline.data.hub import Commit, find_files, parse_name
from pipeline.data.imports import Origin
from pipeline.data.parallel import Corpus, Pair, Request, import_parallel
from pipeline.data.tables import field_of, read_rows


def main(argv: Sequence[str] | None = None) -> None:
    """Write corpus.{src}.zst, corpus.{trg}.zst and stats.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    import_parallel(parser, argv, download)


def download(request: Request, scratch: Path) -> Corpus:
    """The pairs of all files of the split, in the order of their names."""
    name = parse_name(request.dataset, fields=2)
    commit, files = find_files(name, scratch)
    origin = Origin(revision=commit.sha, licence=commit.licence, details={"files": len(files)})
    return Corpus(_pairs(commit, sorted(files), name.fields, origin, scratch), origin)


def _pairs(
    commit: Commit, files: Sequence[str], fields: Sequence[str], origin: Origin, scratch: Path
) -> Iterator[Pair]:
    for file in files:
        path = scratch / Path(file).name
        origin.sources.append(commit.fetch(file, path))
        for row in read_rows(path, (*fields, "translation")):
            src, trg = (" ".join(field_of(row, field, path).split("\n")).strip() for field in fields)
            if src and trg:
                yield src, trg
            else:
                origin.dropped["empty side"] += 1
        path.unlink()


if __name__ == "__main__":
    run(main)
