"""Split a parallel text of two files into text to train on, a dev set and a test set.

    python -m pipeline.data.hold_out --src en --trg lt --corpus-src a.en --corpus-trg a.lt \\
        --mono-trg more.lt --output own

    own/train.en.zst, own/train.lt.zst   what is left of the pairs
    own/dev.en.zst, own/dev.lt.zst       one pair in 20, at most 1,000, or those of --dev-src and --dev-trg
    own/test.en.zst, own/test.lt.zst     as many, or those of --test-src and --test-trg
    own/mono.lt.zst                      the text in one language, if there is one; likewise --mono-src
    own/stats.json                       how many lines each has

Files are .zst, .gz or plain. Pairs are chosen by a hash of the source's letters and digits, so that the same
pairs give the same sets, wherever they stand. They have 10 to 300 letters a side, each side once. What agrees
in letters and digits with a dev or test line, on either side, is left out of the text to train on, whatever
its case and punctuation are: so no cleaning makes it the same again. Vowel signs of scripts such as
Devanagari and Thai are letters.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import blake2b
from heapq import heappop, heappush
from pathlib import Path
from unicodedata import normalize

import regex

from pipeline.common.errors import InputError
from pipeline.common.lines import LineWriter
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.data.files import counted_pairs, recognised
from pipeline.data.imports import one_line
from pipeline.data.texts import file_lines

SHARE = 20  # one pair in so many goes into each set
MOST = 1000  # pairs of a set: as many as public dev and test sets have
FEWEST = 50  # of less, scores say nothing
LETTERS = range(10, 301)  # of a line that is chosen
SETS = ("test", "dev")
# Marks of no script are accents, Arabic vowel signs, the dot of a small `İ`: the same word may lack them.
NO_LETTERS = regex.compile(r"(?V1)[[^\p{L}\p{M}\p{N}]\p{Script=Inherited}]+")
LIKE = "like dev or test"

Pair = tuple[str, str]


def main(argv: Sequence[str] | None = None) -> None:
    """Write the sets, the rest and stats.json."""
    args = parse_arguments(argv)
    with staged(args.output) as (folder, scratch):
        split(args, folder, scratch)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--src", required=True, help="source language, for the files' names")
    parser.add_argument("--trg", required=True, help="target language")
    for name, meaning in (("corpus", "the pairs"), ("dev", "a dev set"), ("test", "a test set")):
        for side in ("src", "trg"):
            parser.add_argument(
                f"--{name}-{side}",
                required=name == "corpus",
                type=Path,
                help=f"{meaning}: the file of {side}",
            )
    for side in ("src", "trg"):
        parser.add_argument(f"--mono-{side}", type=Path, help=f"more text of {side} alone")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the files")
    args = parser.parse_args(argv)
    files = files_of(args)
    for name in SETS:
        if bool(files[f"{name}_src"]) != bool(files[f"{name}_trg"]):
            parser.error(f"--{name}-src and --{name}-trg belong together")
    return args


def files_of(args: argparse.Namespace) -> dict[str, Path | None]:
    """The files that were given, by set and side."""
    return {
        "corpus_src": args.corpus_src,
        "corpus_trg": args.corpus_trg,
        "dev_src": args.dev_src,
        "dev_trg": args.dev_trg,
        "test_src": args.test_src,
        "test_trg": args.test_trg,
        "mono_src": args.mono_src,
        "mono_trg": args.mono_trg,
    }


def split(args: argparse.Namespace, folder: Path, scratch: Path) -> None:
    """Write what the arguments ask for into a folder."""

    files = {name: file for name, file in files_of(args).items() if file}

    def given(name: str) -> Path:
        file = files[name]
        return recognised(file, file.name, scratch)

    def pairs_of(name: str) -> Iterator[Pair]:
        return counted_pairs(given(f"{name}_src"), given(f"{name}_trg"))

    langs, held_out = (args.src, args.trg), HeldOut()
    sets = {name: list(pairs_of(name)) for name in SETS if f"{name}_src" in files}
    for pairs in sets.values():
        held_out.add(pairs)
    chosen = choose(pairs_of("corpus"), [name for name in SETS if name not in sets], held_out)
    sets |= chosen
    stats = {name: write(folder, name, langs, pairs) for name, pairs in sets.items()}
    kept = (pair for pair in pairs_of("corpus") if held_out.allows(pair))
    stats["train"] = write(folder, "train", langs, kept)
    held_out.left_out[LIKE] -= sum(map(len, chosen.values()))  # they themselves
    for side, lang in enumerate(langs):
        name = ("mono_src", "mono_trg")[side]
        if name in files:
            lines = ((line,) for line in file_lines(given(name)) if held_out.allows_line(side, line))
            stats[name] = write(folder, "mono", (lang,), lines)
    write_json(folder / "stats.json", stats | {"left_out": dict(+held_out.left_out)})


@dataclass
class HeldOut:
    """The letters of dev and test lines, by side, and how much was left out, by reason."""

    keys: tuple[set[bytes], set[bytes]] = field(default_factory=lambda: (set(), set()))
    left_out: Counter[str] = field(default_factory=Counter)

    def add(self, pairs: Sequence[Pair]) -> None:
        """Hold pairs out. Their lines of a few letters ("Cancel") alone give nothing away."""
        for pair in pairs:
            for known, line in zip(self.keys, pair, strict=True):
                if len(letters := letters_of(line)) >= LETTERS.start:
                    known.add(digest(letters))

    def allows_line(self, side: int, line: str) -> bool:
        """Whether a line of a side may be trained on."""
        letters = letters_of(line)
        reason = LIKE if digest(letters) in self.keys[side] else "" if line.strip() else "empty"
        self.left_out.update([reason] if reason else [])
        return not reason

    def allows(self, pair: Pair) -> bool:
        """Whether a pair may be trained on."""
        return all(self.allows_line(side, line) for side, line in enumerate(pair))


def choose(pairs: Iterator[Pair], names: Sequence[str], held_out: HeldOut) -> dict[str, list[Pair]]:
    """A set of pairs for each of some names, which are held out then.

    Raises InputError when there are too few.
    """
    if not names:
        return {}
    total, candidates = 0, Candidates(2 * MOST * len(names))
    for pair in pairs:
        if all(line.strip() for line in pair):
            total += 1
            candidates.add(pair)
    found = [pair for pair in candidates.each_once() if held_out.allows(pair)]
    held_out.left_out.clear()
    size = min(MOST, total // SHARE, len(found) // len(names))
    if size < FEWEST:
        raise InputError(
            f"Of {total:,} pairs {size:,} could be held out for each of {' and '.join(names)}, and at least "
            f"{FEWEST} are needed. Give more pairs (of sentences, not of single words), or files for these."
        )
    sets = {name: found[number * size : (number + 1) * size] for number, name in enumerate(names)}
    for chosen in sets.values():
        held_out.add(chosen)
    return sets


class Candidates:
    """The pairs with the lowest hashes of their sources' letters, as many as are wanted, each source once.

    Of several targets of a source the one with the lowest hash counts, whatever their order is.
    """

    def __init__(self, wanted: int) -> None:
        self._wanted = wanted
        self._heap: list[int] = []  # the hashes with their sign changed: the highest first
        self._pairs: dict[int, Pair] = {}  # by their hashes

    def add(self, pair: Pair) -> None:
        """Offer a pair; those that are too short or too long are left alone."""
        letters = [letters_of(line) for line in pair]
        place = int.from_bytes(digest(letters[0]), "big")
        if not all(len(side) in LETTERS for side in letters):
            return
        if place in self._pairs:
            self._pairs[place] = min(self._pairs[place], pair, key=_by_target)
            return
        self._pairs[place] = pair
        heappush(self._heap, -place)
        if len(self._heap) > self._wanted:
            del self._pairs[-heappop(self._heap)]

    def each_once(self) -> Iterator[Pair]:
        """The pairs by their hashes, the first of each target."""
        targets: set[str] = set()
        for _, pair in sorted(self._pairs.items()):
            target = letters_of(pair[1])
            if target not in targets:
                targets.add(target)
                yield pair


def _by_target(pair: Pair) -> tuple[bytes, Pair]:
    return digest(letters_of(pair[1])), pair


def letters_of(line: str) -> str:
    """The letters and digits of a line, without case."""
    return NO_LETTERS.sub("", normalize("NFKC", line).casefold())


def digest(letters: str) -> bytes:
    """A short hash of letters."""
    return blake2b(letters.encode(), digest_size=8).digest()


def write(folder: Path, name: str, langs: Sequence[str], rows: Iterable[Sequence[str]]) -> dict[str, int]:
    """Write rows of lines, a file a language; how many there were, and the characters of the first side."""
    lines = characters = 0
    with ExitStack() as stack:
        files = [folder / f"{name}.{lang}.zst" for lang in langs]
        writers = [stack.enter_context(LineWriter(file)) for file in files]
        for row in rows:
            lines, characters = lines + 1, characters + len(row[0])
            for writer, line in zip(writers, row, strict=True):
                writer.write(one_line(line))
    if not lines:
        raise InputError(f"Nothing is left for {name}: its lines are empty, or those of dev and test sets.")
    return {"lines": lines, "characters": characters}


if __name__ == "__main__":
    run(main)
