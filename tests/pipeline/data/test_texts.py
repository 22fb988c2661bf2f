"""Texts from outside: bounded lines, named encodings, damage."""

import gzip
import io
from pathlib import Path

import pytest
import zstandard

from pipeline.common import limits
from pipeline.common.errors import InputError
from pipeline.data import texts
from pipeline.data.texts import file_lines, file_pairs, stream_lines


def test_lines_end_at_line_feeds_alone(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("\ufeffone\r\ntwo\u2028three\x0bfour\n\nfive".encode())
    assert list(file_lines(tmp_path / "a.txt")) == ["one", "two\u2028three\x0bfour", "", "five"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-be"])
def test_an_encoding_with_a_mark_is_named(encoding: str) -> None:
    content = ("\ufeff" if encoding.endswith("be") else "").encode(encoding) + "one\ntwo\n".encode(encoding)
    with pytest.raises(InputError, match=f"a.txt is in {encoding[:6].upper()}. Convert it to UTF-8"):
        list(stream_lines(io.BytesIO(content), "a.txt"))


def test_a_line_without_end_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "LONGEST_LINE", 1 << 20)
    stream = io.BytesIO(b"short\n" + b"a" * (5 << 20))
    with pytest.raises(InputError, match="Line 2 of a.txt is longer than 1 MiB"):
        list(stream_lines(stream, "a.txt"))
    assert stream.tell() < 2 << 20


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_file_that_unpacks_to_far_too_much_is_refused(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "UNASKED", 1 << 16)
    pack = gzip.compress if suffix == ".gz" else zstandard.compress
    path = tmp_path / f"a{suffix}"
    path.write_bytes(pack(b"a line\n" * 1_000_000))
    with pytest.raises(InputError, match=rf"a\{suffix}, of [\d,]+ bytes, unpacks to [\d,]+ bytes or more"):
        list(file_lines(path))


def test_the_side_that_ends_first_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.en").write_text("1\n2\n3\n")
    (tmp_path / "a.ru").write_text("1\n2\n")
    with pytest.raises(InputError, match=r"a\.ru ends after 2 lines, .*a\.en goes on"):
        list(file_pairs(tmp_path / "a.en", tmp_path / "a.ru"))
