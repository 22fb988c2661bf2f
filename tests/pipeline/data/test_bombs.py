"""Files that unpack to too much, given to the real commands: they end, with a message, in bounded memory."""

from __future__ import annotations

import bz2
import gzip
import io
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

from pipeline.common.errors import InputError
from pipeline.data import mtdata_entries
from tests.pipeline.data.conftest import Mirror

MOST_MEMORY = 400 << 20  # bytes; imports that unpack nothing need up to 150 MB
MOST_SECONDS = 120
BIG = 700 << 20  # bytes that a bomb unpacks to
HOST = "https://example.org"
MIB = 1 << 20
# Prints the peak memory (KiB) of a command. Of a process that we start ourselves the kernel counts ours, too:
# until the command takes its place it is a copy of us.
MEASURING = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""


def zeros(packer: str, content: bytes = b"\0", size: int = BIG, before: bytes = b"") -> bytes:
    """So many bytes of the same content, packed."""
    packed = io.BytesIO()
    with (
        zstandard.ZstdCompressor().stream_writer(packed, closefd=False)
        if packer == "zst"
        else gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1)
    ) as stream:
        stream.write(before)
        block = content * (MIB // len(content))
        for _ in range(size // len(block)):
            stream.write(block)
    return packed.getvalue()


def importing(tmp_path: Path, module: str, dataset: str, *more: str) -> str:
    """Run an importer; it must fail in time and in bounded memory. Returns what it said to people."""
    langs = ("--src", "en", "--trg", "ru", "--src-code", "eng_Latn", "--trg-code", "rus_Cyrl")
    command = [sys.executable, "-m", f"pipeline.data.{module}", "--dataset", dataset, *(more or langs)]
    measured = [sys.executable, "-c", MEASURING, *command, "--output", str(tmp_path / "out")]
    done = subprocess.run(measured, capture_output=True, text=True, timeout=MOST_SECONDS, check=False)
    said = done.stderr
    assert done.returncode == 1, said
    assert int(done.stdout) << 10 < MOST_MEMORY, f"{int(done.stdout) >> 10} MB"
    assert "Traceback" not in said
    assert not (tmp_path / "out").exists() or not any((tmp_path / "out").iterdir())
    return said.splitlines()[-1]


@pytest.mark.parametrize("packer", ["zst", "gz"])
@pytest.mark.parametrize("content", [b"\0", b"a line of 15 ch\n"], ids=["one line", "many lines"])
def test_a_text(packer: str, content: bytes, mirror: Mirror, tmp_path: Path) -> None:
    for lang in ("eng_Latn", "rus_Cyrl"):
        mirror.put(f"{HOST}/corpus.{lang}", zeros(packer, content, 20 * MIB if packer == "gz" else BIG))
    said = importing(tmp_path, "parallel_url", f"{HOST}/corpus.[LANG]")
    assert "bytes, unpacks to " in said
    assert "No text packs that well; it is not unpacked." in said


def test_a_line_without_end(mirror: Mirror, tmp_path: Path) -> None:
    """In a file that is not compressed, and so within what it may unpack to."""
    for lang in ("eng_Latn", "rus_Cyrl"):
        mirror.put(f"{HOST}/corpus.{lang}", b"a" * (80 * MIB))
    assert "is longer than 64 MiB" in importing(tmp_path, "parallel_url", f"{HOST}/corpus.[LANG]")


def pax_header(size: int) -> bytes:
    """A header of a tar archive, which says that so many bytes of fields follow."""
    header = tarfile.TarInfo("././@PaxHeader")
    header.type, header.size = tarfile.XHDTYPE, size
    return header.tobuf(tarfile.USTAR_FORMAT)


def many_members() -> bytes:
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1) as stream:
        block = b"".join(tarfile.TarInfo(f"{number}").tobuf() for number in range(1000))
        for _ in range(120):
            stream.write(block)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (lambda: zeros("gz", before=pax_header(BIG)), "says that it has a header of 734,003,200 bytes"),
        (lambda: zeros("gz", before=tarfile.TarInfo("a").tobuf()), "flores.tar.gz, of "),
        (many_members, "more than 100,000 files in it"),
        (lambda: gzip.compress(pax_header(0) * 100_000, 1), "flores.tar.gz is no zip or tar archive"),
    ],
    ids=["a header without end", "zeros after the end", "members without end", "headers without a member"],
)
def test_a_tar_archive(content: object, says: str, mirror: Mirror, tmp_path: Path) -> None:
    assert callable(content)
    mirror.put("https://dl.fbaipublicfiles.com/nllb/flores200_dataset.tar.gz", content())
    assert says in importing(tmp_path, "parallel_flores", "devtest")


@pytest.mark.parametrize(
    ("method", "says"),
    [(zipfile.ZIP_DEFLATED, "unpacks to"), (zipfile.ZIP_BZIP2, "Pack it as zip (deflate)")],
)
def test_a_zip_archive(method: int, says: str, mirror: Mirror, tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as file, file.open("Tiny.en-ru.en", "w") as member:
        for _ in range((BIG if method == zipfile.ZIP_DEFLATED else 4 * MIB) // MIB):
            member.write(bytes(MIB))
    url = "https://object.pouta.csc.fi/OPUS-Tiny/v1/moses/eng_Latn-rus_Cyrl.txt.zip"
    mirror.put(url, packed.getvalue())
    assert says in importing(tmp_path, "parallel_opus", "Tiny/v1")


TMX = b'<?xml version="1.0" encoding="utf-8"?>\n<tmx version="1.4"><body>'


def names() -> Iterator[bytes]:
    for number in range(100_000):
        yield b"<n%d/>" % number


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (lambda: zeros("gz", b"a", before=TMX + b'<tu id="'), "a tag without end"),
        (lambda: zeros("gz", b"<tu>", 7 * MIB, before=TMX), "more than 100 elements in one another"),
        (lambda: gzip.compress(TMX + b"<tu>" + b"<tuv><seg/></tuv>" * 400_000), "a unit without end"),
        (lambda: gzip.compress(TMX + b"".join(names())), "more names of elements than a TMX"),
        (lambda: zeros("gz", b"<tu></tu>" + b" " * 1015, 100 * MIB, before=TMX), "No text packs that well"),
    ],
    ids=["a tag", "depth", "variants", "names", "units"],
)
def test_a_translation_memory(content: object, says: str, mirror: Mirror, tmp_path: Path) -> None:
    assert callable(content)
    mirror.put(f"{HOST}/memory.tmx", content())
    assert says in importing(tmp_path, "parallel_tmx", f"{HOST}/memory.tmx")


def test_a_shard_of_a_crawl(mirror: Mirror, tmp_path: Path) -> None:
    host = "https://data.hplt-project.org/three/sorted/rus_Cyrl"
    mirror.put(f"{host}.map", f"{host}/10_1.jsonl.zst\n")
    mirror.put(f"{host}/10_1.jsonl.zst", zeros("zst", b"{}             \n"))
    options = (
        "--lang",
        "ru",
        "--code",
        "rus_Cyrl",
        "--max-sentences",
        "10",
        "--min-score",
        "7",
    )
    assert "No text packs that well" in importing(tmp_path, "mono_hplt", "mono/v3.0", *options)


def test_a_file_packed_by_bzip2(tmp_path: Path) -> None:
    path = tmp_path / "corpus.bz2"
    path.write_bytes(bz2.compress(bytes(20 * MIB)))
    with pytest.raises(InputError, match=r"corpus\.bz2, of [\d,]+ bytes, unpacks to"):
        mtdata_entries._decompressed(path)
