"""Join neighbouring lines of a corpus to windows of several sentences, with a separator between them.

    python -m pipeline.data.windows --src en --trg ru --corpus-src corpus.en.zst --corpus-trg corpus.ru.zst \\
        --kept-src merged.en.zst --kept-trg merged.ru.zst --share 0.1 \\
        --max-words 60 --separator ¶ --output windows

The corpus stands in its order, and its lines are taken for neighbours. With --kept-src and --kept-trg windows
have only pairs that stand there, too, after cleaning and without held-out lines: any other pair ends a
window, as an empty line does. A window has two lines at least, and --max-words at most on its longer side; a
line stands in one window. With --share so many for each line of the corpus are drawn at random, at most.

A word is what white space parts; of languages without spaces (--src-unspaced, --trg-unspaced) two characters.
"""

import argparse
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import xxhash

from pipeline.common.lines import count_lines
from pipeline.common.script import run
from pipeline.common.words import count_words
from pipeline.data.corpus_script import corpus_parser, drawn, write_corpus
from pipeline.data.imports import SEED, Origin, refuse_empty
from pipeline.data.parallel import Pair
from pipeline.data.texts import file_pairs

Digests = npt.NDArray[np.uint64]


def main(argv: Sequence[str] | None = None) -> None:
    """Write corpus.{src}.zst, corpus.{trg}.zst and stats.json."""
    args = _arguments(argv)
    kept = _digests(args) if args.kept_src else None
    windows = lines = 0
    for window in _windows(args, kept):
        windows, lines = windows + 1, lines + len(window)
    most = max(1, round(args.share * count_lines(args.corpus_src))) if args.share else windows
    wanted = drawn(_windows(args, kept), windows, most, SEED)

    def stats(written: int) -> dict[str, object]:
        if not args.kept_src:
            refuse_empty(written, Origin())
        counts = {"in": windows, "kept": written, "dropped": {"not drawn": windows - written}}
        return {"windows": windows, "lines in windows": lines, "lines": counts}

    write_corpus(args, (_joined(window, args.separator) for window in wanted), stats)


def _digest(pair: Pair) -> int:
    text = "\t".join(" ".join(side.split()) for side in pair)
    return xxhash.xxh3_64_intdigest(text.encode())


def _digests(args: argparse.Namespace) -> Digests:
    """The digests of the pairs that windows may have, in order: eight bytes each."""
    found = array("Q", map(_digest, file_pairs(args.kept_src, args.kept_trg)))
    return np.sort(np.array(found, dtype=np.uint64))


def _windows(args: argparse.Namespace, kept: Digests | None) -> Iterator[list[Pair]]:
    """Windows of at least two pairs; a pair that is empty or not kept ends one."""
    unspaced = args.src_unspaced, args.trg_unspaced
    window: list[Pair] = []
    sizes = [0, 0]
    for src, trg in file_pairs(args.corpus_src, args.corpus_trg):
        pair = src.strip(), trg.strip()
        is_kept = all(pair) and (kept is None or _is_among(kept, _digest(pair)))
        more = [count_words(side, without) for side, without in zip(pair, unspaced, strict=True)]
        if not is_kept or max(map(sum, zip(sizes, more, strict=True))) > args.max_words:
            if len(window) > 1:
                yield window
            window, sizes = [], [0, 0]
        if is_kept:
            window.append(pair)
            sizes = list(map(sum, zip(sizes, more, strict=True)))
    if len(window) > 1:
        yield window


def _is_among(kept: Digests, digest: int) -> bool:
    place = int(np.searchsorted(kept, np.uint64(digest)))
    return place < len(kept) and int(kept[place]) == digest


def _joined(window: Sequence[Pair], separator: str) -> Pair:
    src, trg = (f" {separator} ".join(side) for side in zip(*window, strict=True))
    return src, trg


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = corpus_parser(__doc__)
    add = parser.add_argument
    add("--kept-src", type=Path, help="source side of the pairs that windows may have; all when left out")
    add("--kept-trg", type=Path, help="their target side")
    add("--src-unspaced", action="store_true", help="the source language has no spaces between words")
    add("--trg-unspaced", action="store_true", help="nor has the target language")
    add("--max-words", required=True, type=int, help="words of a window on its longer side")
    add("--share", type=float, help="windows for each line of the corpus, at most; all when left out")
    add("--separator", required=True, help="what stands between two lines, and a space on each side")
    args = parser.parse_args(argv)
    if bool(args.kept_src) != bool(args.kept_trg):
        parser.error("--kept-src and --kept-trg go together")
    return args


if __name__ == "__main__":
    run(main)
