"""The first difference between two files, as people are told of it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import zstandard

from translations_assets.store.differing import first_difference

TEXT = "a dog\nla hundo – ĉiuj\na bird\n"


def difference(folder: Path, name: str, before: bytes, after: bytes) -> str:
    paths = folder / "before" / name, folder / "after" / name
    for path, data in zip(paths, (before, after), strict=True):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    return first_difference(*paths)


@pytest.mark.parametrize("name", ["text.txt", "text.zst", "text.gz"])
def test_the_first_line_is_named(tmp_path: Path, name: str) -> None:
    other = TEXT.replace("hundo", "kato").replace("bird", "cat").encode()
    texts = TEXT.encode(), other
    if name.endswith(".zst"):
        texts = zstandard.compress(texts[0]), zstandard.compress(texts[1], 3)
    if name.endswith(".gz"):
        texts = gzip.compress(texts[0]), gzip.compress(texts[1])
    said = difference(tmp_path, name, *texts)
    assert said == "line 2 is 'la kato – ĉiuj', and was 'la hundo – ĉiuj'"


def test_a_line_that_is_missing_is_named(tmp_path: Path) -> None:
    said = difference(tmp_path, "text.txt", TEXT.encode(), TEXT.encode()[:-7])
    assert said == "line 3 is '', and was 'a bird'"


def test_a_difference_far_from_the_beginning_is_found(tmp_path: Path) -> None:
    lines = [f"line number {number}" for number in range(1, 40_001)]
    before = "\n".join(lines)
    lines[34_566] = "another"
    said = difference(tmp_path, "text.txt", before.encode(), "\n".join(lines).encode())
    assert said == "line 34,567 is 'another', and was 'line number 34567'"


def test_a_long_line_is_shown_around_its_difference(tmp_path: Path) -> None:
    before, after = b"x" * 200_000 + b"A" + b"y" * 500, b"x" * 200_000 + b"B" + b"y" * 500
    said = difference(tmp_path, "text.txt", before, after)
    assert said == f"line 1 is '{'x' * 60}B{'y' * 59}', and was '{'x' * 60}A{'y' * 59}'"


def test_of_other_files_the_byte_is_named(tmp_path: Path) -> None:
    said = difference(tmp_path, "model.bin", bytes(1000), bytes(700) + b"\1" + bytes(300))
    assert said == "byte 701 differs (1,001 bytes, and were 1,000)"


def test_the_same_text_in_another_form_is_told(tmp_path: Path) -> None:
    before, after = (gzip.compress(TEXT.encode(), mtime=moment) for moment in (1, 2))
    said = difference(tmp_path, "text.gz", before, after)
    assert said.startswith("its contents are the same, and compressed in another way: byte 5 differs")


@pytest.mark.parametrize("name", ["text.zst", "text.gz"])
def test_what_is_not_what_its_name_says_is_compared_as_it_is(tmp_path: Path, name: str) -> None:
    said = difference(tmp_path, name, b"no archive", b"no Archive")
    assert said == "byte 4 differs (10 bytes, and were 10)"
