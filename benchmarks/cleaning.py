"""The speed of cleaning pairs and single lines, and a comparison of upstream's filters with OpusCleaner.

    python -m benchmarks.cleaning [--pairs 200000] [--threads 2] [--compare 20000]

Prints pairs a second of the whole script, reading and writing included, apart from it the time of each
filter, and lines of monolingual text a second; languages are not identified. With OPUSCLEANER_PYTHON, the
interpreter of an environment with OpusCleaner 0.7.1, it runs both on the same pairs, with upstream's files.
Real pairs are the mirror's, where TRANSLATIONS_MIRROR names one.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from pipeline.clean.clean_parallel import main as clean_pairs
from pipeline.clean.cleaning import clean
from pipeline.clean.filtering.block import Block
from pipeline.clean.filtering.cleaner import FilterCleaner
from pipeline.clean.filtering.filter_file import read_filter_file
from pipeline.clean.filtering.lengths import letter_table
from pipeline.clean.filtering.opuscleaner import OpusCleaner
from pipeline.clean.filtering.registry import make_filters
from pipeline.clean.identification import Heli
from pipeline.clean.rules import Tokens, mono_filters
from pipeline.common.lines import write_lines
from tests.pipeline.clean.filtering.opuscleaner import FILTERS, filter_file, ours, resources, theirs
from tests.pipeline.clean.filtering.pairs import SENTENCES, Pair, mirrored_pairs, random_pairs

NOISY = 0.05  # of the pairs that are timed
NEED_WORDS = ("src_trg_ratio",)  # alone, OpusCleaner ends with an error where a side is empty


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures; see the module's text."""
    parser = argparse.ArgumentParser(description="How fast pairs are cleaned by the default filters.")
    parser.add_argument("--pairs", type=int, default=200_000, help="pairs that are timed")
    parser.add_argument("--threads", type=int, default=2, help="processes that clean")
    parser.add_argument("--compare", type=int, default=20_000, help="pairs that OpusCleaner cleans as well")
    args = parser.parse_args(argv)
    os.environ["TRANSLATIONS_THREADS"] = str(args.threads)
    real = list(mirrored_pairs(Path(os.environ.get("TRANSLATIONS_MIRROR", "no mirror"))))
    with tempfile.TemporaryDirectory(prefix="cleaning-") as folder:
        filters = without_language(Path(folder), "default")
        _time_script(filters, _typical(args.pairs, real), Path(folder), args.threads)
        _time_filters(filters, _typical(50_000, real))
        _time_mono([pair[1] for pair in _typical(args.pairs, real)], Path(folder), args.threads)
        if "OPUSCLEANER_PYTHON" in os.environ:
            generated = list(random_pairs(max(0, args.compare - len(real)), 1, [*SENTENCES, *real[:2000]]))
            _compare(Path(folder), [*real, *generated][: args.compare])


def _typical(size: int, real: Sequence[Pair]) -> list[Pair]:
    """Pairs as corpora have them, one in twenty of them with noise; repeated, as little is real here."""
    clean = list(real) or SENTENCES
    noisy = list(random_pairs(int(size * NOISY), 2, clean))
    return [
        noisy[number // 20] if number % 20 == 19 else clean[number % len(clean)] for number in range(size)
    ]


def without_language(folder: Path, name: str) -> Path:
    """A filter file of the project, by its name, without the filter that identifies languages."""
    filters = json.loads((FILTERS / f"{name}.filters.json").read_text(encoding="utf-8"))["filters"]
    return filter_file(folder, *(entry for entry in filters if entry["filter"] != "fasttext_filter"))


def _time_script(filters: Path, pairs: Sequence[Pair], folder: Path, threads: int) -> None:
    for side, lang in enumerate(("en", "ru")):
        write_lines(folder / f"corpus.{lang}.zst", (pair[side] for pair in pairs))
    command = ["--src", "en", "--trg", "ru", "--src-script", "Latin", "--trg-script", "Cyrillic"]
    command += ["--corpus-src", f"{folder}/corpus.en.zst", "--corpus-trg", f"{folder}/corpus.ru.zst"]
    command += ["--filters", str(filters), "--patterns", str(FILTERS / "remove_frequent_patterns.txt")]
    command += [*("--alphabets", f"{FILTERS}/alphabets.json"), *("--words", f"{FILTERS}/words.json")]
    command += ["--currencies", f"{FILTERS}/currencies.json"]
    work = partial(clean_pairs, [*command, "--output", f"{folder}/clean"])
    characters = sum(len(source) + len(target) for source, target in pairs)
    _time("pairs", len(pairs), characters, threads, work)


def _time_mono(lines: Sequence[str], folder: Path, threads: int) -> None:
    write_lines(folder / "mono.ru.zst", lines)
    alphabets = json.loads((FILTERS / "alphabets.json").read_text(encoding="utf-8"))
    filters = mono_filters(
        Tokens(unspaced=False, most=200), letter_table(alphabets["ru"]), Heli([], "Cyrillic")
    )
    work = partial(clean, [folder / "mono.ru.zst"], FilterCleaner(filters), ["mono.ru.zst"], folder / "mono")
    _time("lines", len(lines), sum(map(len, lines)), threads, work)


def _time(what: str, number: int, characters: int, threads: int, work: Callable[[], None]) -> None:
    start, before = time.perf_counter(), os.times()
    work()
    seconds, after = time.perf_counter() - start, os.times()
    processor = sum(after[:4]) - sum(before[:4])
    print(
        f"{number:,} {what} of {characters / number:.0f} characters, {threads} processes: "
        f"{number / seconds:,.0f} {what}/s ({seconds:.1f} s, {processor:.1f} s of processors; "
        f"bar: 100,000 {what}/s)"
    )


def _time_filters(filters: Path, pairs: Sequence[Pair]) -> None:
    cleaner = FilterCleaner(made := make_filters(read_filter_file(filters, ("en", "ru")), resources()))
    sides = [list(side) for side in zip(*pairs[:5_000], strict=True)]
    cleaner(sides)  # tables are made when they are first asked for
    block = Block(sides)
    for name, work in made:
        assert not isinstance(work, OpusCleaner)  # the default filters do not need it
        start = time.process_time()
        work(block)
        print(f"  {name}: {(time.process_time() - start) / len(block.alive) * 1e6:.2f} µs a pair")


def _compare(folder: Path, pairs: Sequence[Pair]) -> None:
    for name, filters in _filters(folder):
        start = time.perf_counter()
        expected = theirs(filters, pairs)
        between, middle = time.perf_counter(), time.process_time()
        found = ours(filters, pairs)
        verdict = "identical" if found == expected else "DIFFERENT"
        print(
            f"{name}: {verdict}, {len(expected):,} of {len(pairs):,} pairs left; OpusCleaner "
            f"{between - start:.1f} s, here {time.process_time() - middle:.1f} s of a processor"
        )


def _filters(folder: Path) -> Iterator[tuple[str, Path]]:
    default = without_language(folder, "upstream/default")
    yield "upstream's default filters", default
    for entry in json.loads(default.read_text(encoding="utf-8"))["filters"]:
        if entry["filter"] not in NEED_WORDS:
            yield f"{entry['filter']} {entry['language'] or ''}".strip(), filter_file(folder, entry)


if __name__ == "__main__":
    main()
