"""Lines: only a line feed ends one, bytes depend on lines alone, and no damage goes unnoticed."""

import gzip
import random
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from pipeline.common.errors import InputError
from pipeline.common.lines import LineWriter, count_lines, read_lines, write_lines, zip_lines

SUFFIXES = ["txt", "gz", "zst"]
TRICKY = ["", " ", "a\rb", "one\u2028line", "\x0b\x0c\x1c\x85", "Ĉu vi?", "\t", "end"]


def _random_lines(count: int) -> list[str]:
    rng = random.Random(1)
    return [str(rng.random()) for _ in range(count)]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_written_is_read(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"text.{suffix}"
    assert write_lines(path, TRICKY) == len(TRICKY)
    assert list(read_lines(path)) == TRICKY
    assert count_lines(path) == len(TRICKY)


@given(st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))))
def test_any_lines_come_back(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    path = tmp_path_factory.mktemp("lines") / "text.zst"
    write_lines(path, lines)
    expected = [line.removesuffix("\r") for line in lines]
    if lines:
        expected[0] = lines[0].removeprefix("\ufeff").removesuffix("\r")
    assert list(read_lines(path)) == expected


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_bytes_depend_on_the_lines_alone(suffix: str, tmp_path: Path) -> None:
    first, second = tmp_path / f"one.{suffix}", tmp_path / "folder" / f"two.{suffix}"
    second.parent.mkdir()
    write_lines(first, _random_lines(50_000))
    write_lines(second, _random_lines(50_000))
    assert first.read_bytes() == second.read_bytes()


def test_a_last_line_without_line_feed_counts(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo")
    assert list(read_lines(tmp_path / "a.txt")) == ["one", "two"]


def test_a_byte_order_mark_is_dropped_at_the_start_only(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\ufeffone\n\ufefftwo\n", encoding="utf-8")
    assert list(read_lines(tmp_path / "a.txt")) == ["one", "\ufefftwo"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_empty_file_has_no_lines(suffix: str, tmp_path: Path) -> None:
    write_lines(tmp_path / f"a.{suffix}", [])
    assert list(read_lines(tmp_path / f"a.{suffix}")) == []


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_line_of_a_megabyte(suffix: str, tmp_path: Path) -> None:
    lines = ["before", "ĉ" * 500_000, "after"]
    write_lines(tmp_path / f"a.{suffix}", lines)
    assert list(read_lines(tmp_path / f"a.{suffix}")) == lines


def test_invalid_utf8_is_told_with_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"good\nb\xff\xfed\ngood\n")
    with pytest.raises(InputError, match=r"Invalid UTF-8 in .*a\.txt, line 2: .* at byte 1"):
        list(read_lines(tmp_path / "a.txt"))


@pytest.mark.parametrize("suffix", ["gz", "zst"])
@pytest.mark.parametrize("keep", [0.1, 0.5, 0.999])
def test_a_cut_off_file_is_told(suffix: str, keep: float, tmp_path: Path) -> None:
    path = tmp_path / f"a.{suffix}"
    write_lines(path, _random_lines(100_000))
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * keep)])
    with pytest.raises(InputError, match=rf"a\.{suffix} is damaged after line"):
        list(read_lines(path))


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_a_changed_byte_is_told(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{suffix}"
    write_lines(path, _random_lines(100_000))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(InputError, match="damaged"):
        list(read_lines(path))


def test_rubbish_after_the_end_is_told(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.zst", ["one"])
    with (tmp_path / "a.zst").open("ab") as file:
        file.write(b"rubbish, not a frame")
    with pytest.raises(InputError, match="damaged"):
        list(read_lines(tmp_path / "a.zst"))


@pytest.mark.parametrize("window_log", [27, 28])
def test_a_window_that_takes_too_much_memory_is_no_damage(window_log: int, tmp_path: Path) -> None:
    """A frame by hand (RFC 8878): magic, no flags, the window, and a last block of four bytes as they are."""
    window = bytes([0, (window_log - 10) << 3])
    (tmp_path / "a.zst").write_bytes(zstandard.FRAME_HEADER + window + b"\x21\0\0" + b"one\n")
    if window_log <= 27:
        assert list(read_lines(tmp_path / "a.zst")) == ["one"]
        return
    with pytest.raises(InputError, match=r"a\.zst is packed with a window .* without --long"):
        list(read_lines(tmp_path / "a.zst"))


def test_gzip_holds_neither_time_nor_name(tmp_path: Path) -> None:
    """Bytes 4 to 7 of the header are the time of writing; bit 3 of byte 3: a name follows (RFC 1952)."""
    write_lines(tmp_path / "a.gz", ["one"])
    header = (tmp_path / "a.gz").read_bytes()[:10]
    assert header[4:8] == bytes(4)
    assert not header[3] & 8


def test_several_frames_are_one_text(tmp_path: Path) -> None:
    frames = [zstandard.compress(b"one\ntw"), zstandard.compress(b"o\n" + b"three\n" * 50_000)]
    (tmp_path / "a.zst").write_bytes(b"".join(frames))
    assert list(read_lines(tmp_path / "a.zst")) == ["one", "two"] + ["three"] * 50_000
    members = [gzip.compress(b"one\ntw"), gzip.compress(b"o\n")]
    (tmp_path / "a.gz").write_bytes(b"".join(members))
    assert list(read_lines(tmp_path / "a.gz")) == ["one", "two"]


def test_a_line_feed_inside_a_line_is_refused(tmp_path: Path) -> None:
    with LineWriter(tmp_path / "a.txt") as writer, pytest.raises(ValueError, match="inside line 1"):
        writer.write("one\ntwo")


def test_zip_lines(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.txt", ["a", "b"])
    write_lines(tmp_path / "b.gz", ["A", "B"])
    write_lines(tmp_path / "c.zst", ["1", "2", "3"])
    assert list(zip_lines(tmp_path / "a.txt", tmp_path / "b.gz")) == [("a", "A"), ("b", "B")]
    with pytest.raises(InputError, match=r"a\.txt, .*b\.gz ends after 2 lines, .*c\.zst goes on"):
        list(zip_lines(tmp_path / "a.txt", tmp_path / "b.gz", tmp_path / "c.zst"))
