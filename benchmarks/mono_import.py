"""Importing a monolingual text of generated lines: peak memory, seconds, disk, evenness of the sample.

    python -m benchmarks.mono_import [--lines N]

The text has a fifth more lines than are wanted, numbered, of 20 to 200 bytes. It is made as it is sent, by
a server on 127.0.0.1, to `pipeline.data.mono_url` as users run it. Bar: 50,000,000 lines in at most 2 GB.
Beside it: what a reservoir of a million of the lines takes, which would hold them in memory.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from random import Random

import psutil
import zstandard

from benchmarks.memory import Peak
from benchmarks.uniformity import p_value
from pipeline.common.lines import read_lines
from pipeline.common.sampling import sample

PIECE = 50_000  # lines that are made and sent at a time
STRETCHES = 20
PAUSE = 0.2  # seconds between looks at the disk
RESERVOIR = 1_000_000


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lines", type=int, default=1_000_000, help="how many lines are wanted")
    wanted = parser.parse_args().lines
    total = wanted + wanted // 5
    server = HTTPServer(("127.0.0.1", 0), _sender(total))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as name:
        _measure(f"http://127.0.0.1:{server.server_port}/text.zst", Path(name), wanted, total)
    server.shutdown()
    with ProcessPoolExecutor(1) as pool:
        bytes_a_line = pool.submit(reservoir_bytes).result() / RESERVOIR
    print(f"a reservoir: {bytes_a_line:.0f} bytes a line, {bytes_a_line * wanted / 1e6:,.0f} MB for so many")


def reservoir_bytes() -> int:
    """Measure the memory of a reservoir's sample in this process."""
    before = psutil.Process().memory_info().rss
    lines = (
        line for frame in generated(RESERVOIR) for line in zstandard.decompress(frame).decode().splitlines()
    )
    kept = sample(lines, RESERVOIR, 1)
    return psutil.Process().memory_info().rss - before if kept else 0


def generated(total: int) -> Iterator[bytes]:
    """The text in zstd frames of 50,000 lines; every line begins with its number."""
    random, compressor = Random(1), zstandard.ZstdCompressor(level=1)
    words = ["".join(random.choices("etaoinshrdlu", k=random.randint(2, 9))) for _ in range(5_000)]
    endings = [" ".join(random.choices(words, k=random.randint(2, 28))) for _ in range(PIECE)]
    for first in range(0, total, PIECE):
        numbers = range(first, min(first + PIECE, total))
        lines = [f"{number} {ending}\n" for number, ending in zip(numbers, endings, strict=False)]
        yield compressor.compress("".join(lines).encode())


def _sender(total: int) -> type[BaseHTTPRequestHandler]:
    class Sender(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            for frame in generated(total):
                self.wfile.write(frame)

        def log_message(self, *_: object) -> None:
            pass

    return Sender


def _measure(url: str, folder: Path, wanted: int, total: int) -> None:
    output, start = folder / "mono", time.perf_counter()
    command = [
        sys.executable,
        "-m",
        "pipeline.data.mono_url",
        "--dataset",
        url,
        "--lang",
        "en",
        "--code",
        "en",
    ]
    process = subprocess.Popen(
        [*command, "--max-sentences", str(wanted), "--output", str(output)], stderr=subprocess.PIPE
    )
    peak, disk = Peak(process.pid), 0
    while process.poll() is None:
        disk = max(disk, _size(folder))
        time.sleep(PAUSE)
    peak.stop()
    wall, used = time.perf_counter() - start, os.times()
    if process.returncode:
        assert process.stderr is not None
        sys.exit(process.stderr.read().decode())
    print(
        f"{wanted:,} of {total:,} lines: at most {peak.megabytes:,.0f} MB of memory (bar: 2,000) and "
        f"{disk / 1e6:,.0f} MB of disk, for a result of {_size(output) / 1e6:,.0f} MB; "
        f"{wall:.0f} s, {used.children_user + used.children_system:.0f} s of processors"
    )
    _print_evenness(output / "mono.en.zst", wanted, total)


def _size(folder: Path) -> int:
    size = 0
    with suppress(FileNotFoundError):  # what is renamed or removed meanwhile
        for path in folder.rglob("*"):
            size += path.stat().st_size
    return size


def _print_evenness(file: Path, wanted: int, total: int) -> None:
    counts, previous, lines = [0] * STRETCHES, -1, 0
    for line in read_lines(file):
        number = int(line.split(" ", 1)[0])
        if number <= previous:
            sys.exit(f"Line {number:,} comes after line {previous:,}.")
        counts[number * STRETCHES // total] += 1
        previous, lines = number, lines + 1
    if lines != wanted:
        sys.exit(f"{lines:,} lines were written.")
    chance = p_value(counts, [1.0] * STRETCHES, (total - 1) / (total - wanted))
    print(f"in the text's order, each line once; evenness over {STRETCHES} stretches: p = {chance:.3f}")


if __name__ == "__main__":
    main()
