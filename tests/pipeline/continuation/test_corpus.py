"""Fetching a corpus of an earlier run."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, write_lines
from pipeline.continuation.corpus import main

ENGLISH = ["The dog sees the cat.", "Tab\there.", ""]
RUSSIAN = ["Собака видит кошку.", "Здесь.", ""]


def fetch(folder: Path, src: str, trg: str) -> Path:
    """Fetch two files of a folder."""
    urls = ["--src-url", (folder / src).as_uri(), "--trg-url", (folder / trg).as_uri()]
    main(["--src", "en", "--trg", "ru", *urls, "--output", str(folder / "out")])
    return folder / "out"


def write_sides(folder: Path, src: Sequence[str] = ENGLISH, trg: Sequence[str] = RUSSIAN) -> None:
    write_lines(folder / "a.en.zst", src)
    write_lines(folder / "a.ru.gz", trg)


def test_both_sides_are_fetched_and_no_line_is_dropped(tmp_path: Path) -> None:
    write_sides(tmp_path)
    out = fetch(tmp_path, "a.en.zst", "a.ru.gz")
    assert sorted(path.name for path in out.iterdir()) == ["corpus.en.zst", "corpus.ru.zst", "stats.json"]
    assert list(read_lines(out / "corpus.en.zst")) == ["The dog sees the cat.", "Tab here.", ""]
    assert list(read_lines(out / "corpus.ru.zst")) == RUSSIAN


def test_stats_tell_what_came_from_where(tmp_path: Path) -> None:
    write_sides(tmp_path)
    stats = json.loads((fetch(tmp_path, "a.en.zst", "a.ru.gz") / "stats.json").read_text())
    assert stats["lines"] == {"in": 3, "kept": 3, "dropped": {}}
    assert [source["url"] for source in stats["source"]] == [
        (tmp_path / name).as_uri() for name in ("a.en.zst", "a.ru.gz")
    ]
    assert [source["bytes"] for source in stats["source"]] == [
        (tmp_path / name).stat().st_size for name in ("a.en.zst", "a.ru.gz")
    ]
    assert all(len(source["sha256"]) == 64 for source in stats["source"])
    assert ["Tab here.", "Здесь."] in stats["samples"]


def test_the_compression_is_seen_in_the_file_not_in_its_name(tmp_path: Path) -> None:
    write_sides(tmp_path)
    (tmp_path / "a.ru").write_bytes(gzip.compress("\n".join(RUSSIAN).encode() + b"\n"))
    assert list(read_lines(fetch(tmp_path, "a.en.zst", "a.ru") / "corpus.ru.zst")) == RUSSIAN


@pytest.mark.parametrize(
    ("src", "trg", "message"),
    [
        (ENGLISH, RUSSIAN[:2], r"a\.en\.zst, \S+/a\.ru\.gz: Unequal numbers of lines: ru\.gz ends after 2"),
        ([], [], r"a\.ru\.gz: There is no line"),
    ],
)
def test_what_is_wrong_is_told_with_the_addresses(
    tmp_path: Path, src: list[str], trg: list[str], message: str
) -> None:
    write_sides(tmp_path, src, trg)
    with pytest.raises(InputError, match=message):
        fetch(tmp_path, "a.en.zst", "a.ru.gz")
    assert list((tmp_path / "out").iterdir()) == []


def test_another_encoding_is_told_with_the_line(tmp_path: Path) -> None:
    write_sides(tmp_path)
    (tmp_path / "a.en").write_bytes(b"good\nb\xe4d\nx\n")
    with pytest.raises(InputError, match=r"a\.en, \S+: Invalid UTF-8 in en\.txt, line 2"):
        fetch(tmp_path, "a.en", "a.ru.gz")


def test_a_file_that_is_cut_off(tmp_path: Path) -> None:
    write_sides(tmp_path, ["The dog sees the cat."] * 3)
    whole = (tmp_path / "a.en.zst").read_bytes()
    (tmp_path / "a.en.zst").write_bytes(whole[:-4])
    with pytest.raises(InputError, match=r"en\.zst is damaged"):
        fetch(tmp_path, "a.en.zst", "a.ru.gz")
