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
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

import xxhash

from pipeline.common.sampling import sample
from pipeline.common.script import new_folder, run
from pipeline.data.imports import SEED, Origin, publish, refuse_empty, scratch_folder
from pipeline.data.parallel import Pair, write_pairs
from pipeline.data.texts import file_pairs

CHARACTERS = 2  # of a word, where no spaces part words


def main(argv: Sequence[str] | None = None) -> None:
    """Write corpus.{src}.zst, corpus.{trg}.zst and stats.json."""
    args = _arguments(argv)
    output = new_folder(args.output)
    kept = {_digest(pair) for pair in file_pairs(args.kept_src, args.kept_trg)} if args.kept_src else None
    unspaced = args.src_unspaced, args.trg_unspaced
    pairs = list(file_pairs(args.corpus_src, args.corpus_trg))
    windows = [window for run in _runs(pairs, kept) for window in _windows(run, args.max_words, unspaced)]
    drawn = sample(windows, max(1, round(args.share * len(pairs))), SEED) if args.share else windows
    with scratch_folder(output, args.corpus_src.name) as scratch:
        files = [scratch / f"corpus.{args.src}.zst", scratch / f"corpus.{args.trg}.zst"]
        written, samples = write_pairs((_joined(window, args.separator) for window in drawn), files)
        if not args.kept_src:
            refuse_empty(written, Origin())
        stats: dict[str, object] = {
            "windows": len(windows),
            "lines in windows": sum(map(len, windows)),
            "lines": {"in": len(windows), "kept": written, "dropped": {"not drawn": len(windows) - written}},
            "samples": samples,
        }
        publish(files, stats, output)


def _digest(pair: Pair) -> int:
    text = "\t".join(" ".join(side.split()) for side in pair)
    return xxhash.xxh3_64_intdigest(text.encode())


def _runs(pairs: Iterable[Pair], kept: Collection[int] | None) -> Iterator[list[Pair]]:
    """Neighbouring pairs between others that are empty, or are not kept."""
    run: list[Pair] = []
    for src, trg in pairs:
        if src.strip() and trg.strip() and (kept is None or _digest((src, trg)) in kept):
            run.append((src.strip(), trg.strip()))
        elif run:
            yield run
            run = []
    if run:
        yield run


def _windows(run: Sequence[Pair], most: int, unspaced: Sequence[bool]) -> Iterator[list[Pair]]:
    window: list[Pair] = []
    sizes = [0, 0]
    for pair in run:
        own = [_words(side, without) for side, without in zip(pair, unspaced, strict=True)]
        if window and max(size + more for size, more in zip(sizes, own, strict=True)) > most:
            if len(window) > 1:
                yield window
            window, sizes = [], [0, 0]
        window.append(pair)
        sizes = [size + more for size, more in zip(sizes, own, strict=True)]
    if len(window) > 1:
        yield window


def _words(text: str, unspaced: bool) -> int:
    return len(text) // CHARACTERS if unspaced else len(text.split())


def _joined(window: Sequence[Pair], separator: str) -> Pair:
    src, trg = (f" {separator} ".join(side) for side in zip(*window, strict=True))
    return src, trg


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--src", required=True, help="source language")
    add("--trg", required=True, help="target language")
    add("--corpus-src", required=True, type=Path, help="source side, in the order of its documents")
    add("--corpus-trg", required=True, type=Path, help="target side")
    add("--kept-src", type=Path, help="source side of the pairs that windows may have; all when left out")
    add("--kept-trg", type=Path, help="their target side")
    add("--src-unspaced", action="store_true", help="the source language has no spaces between words")
    add("--trg-unspaced", action="store_true", help="nor has the target language")
    add("--max-words", required=True, type=int, help="words of a window on its longer side")
    add("--share", type=float, help="windows for each line of the corpus, at most; all when left out")
    add("--separator", required=True, help="what stands between two lines, and a space on each side")
    add("--output", required=True, type=Path, help="new folder for the windows")
    args = parser.parse_args(argv)
    if bool(args.kept_src) != bool(args.kept_trg):
        parser.error("--kept-src and --kept-trg go together")
    return args


if __name__ == "__main__":
    run(main)
