"""A seeded shuffle of more lines than memory holds."""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from hashlib import blake2b
from pathlib import Path

BUDGET = 100_000_000  # characters sorted in memory, in two to four times as many bytes
BUCKETS = 256  # files open at once, well below the usual limit of 1,024


def shuffled(
    lines: Iterable[str], characters: int, seed: int, folder: Path, budget: int = BUDGET
) -> Iterator[str]:
    """Yield the lines in a random order that the seed and their number fix.

    The n-th line's place is that of blake2b(n, keyed by the seed) among all: lines are dealt by their hash to
    buckets on disk, and each bucket is sorted in memory. `characters`, their total, roughly, sets the number
    of buckets, at most 256, so beyond 256 budgets (also in characters) a bucket grows with the corpus.
    """
    buckets = min(BUCKETS, max(1, math.ceil(characters / budget)))
    keyed = _keyed(lines, seed)
    if buckets == 1:
        yield from (line for _, line in sorted(keyed))
        return
    paths = [folder / f"shuffle.{number:03d}" for number in range(buckets)]
    _deal(keyed, paths)
    for path in paths:
        yield from (line for _, line in sorted(_read_bucket(path)))
        path.unlink()


def _keyed(lines: Iterable[str], seed: int) -> Iterator[tuple[bytes, str]]:
    secret = str(seed).encode()
    for number, line in enumerate(lines):
        # The number makes the key distinct, so that equal hashes cannot let the text decide the order.
        place = number.to_bytes(8, "big")
        yield blake2b(place, key=secret, digest_size=8).digest() + place, line


def _deal(keyed: Iterable[tuple[bytes, str]], paths: Sequence[Path]) -> None:
    with ExitStack() as stack:
        files = [stack.enter_context(path.open("wb")) for path in paths]
        for key, line in keyed:
            bucket = int.from_bytes(key[:4], "big") * len(paths) >> 32
            files[bucket].write(key.hex().encode() + b" " + line.encode("utf-8") + b"\n")


def _read_bucket(path: Path) -> Iterator[tuple[bytes, str]]:
    with path.open("rb") as file:
        for raw in file:
            key, line = raw.decode("utf-8").removesuffix("\n").split(" ", maxsplit=1)
            yield bytes.fromhex(key), line
