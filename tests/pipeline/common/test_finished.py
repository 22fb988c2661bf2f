"""Lines that are finished, kept in checkpoint sets."""

import errno
import os
import shutil
import signal
import time
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import pytest

from pipeline.common import finished
from pipeline.common.errors import InputError, Stopped, TemporaryError
from pipeline.common.finished import finished_lines, rows_of_a_block
from pipeline.common.lines import read_lines, write_lines
from pipeline.common.made_from import FILE, MadeFrom

INPUT = MadeFrom({}, {"text": "line"})


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of checkpoint sets; one is saved behind each block."""
    monkeypatch.setenv("TRANSLATIONS_CHECKPOINTS", str(tmp_path / "kept"))
    monkeypatch.setattr(finished, "SAVE_SECONDS", 0.0)
    return tmp_path / "kept"


def scratch(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return folder / name


def blocks(*sizes: int, first: int = 0) -> Generator[list[str], None, None]:
    for size in sizes:
        yield [f"line {number}" for number in range(first, first + size)]
        first += size


def lines(number: int) -> list[str]:
    return [f"line {each}" for each in range(number)]


def sets(kept: Path) -> dict[str, list[str]]:
    """The names of the sets and of their parts."""
    return {path.name: sorted(part.name for part in path.glob("*.zst")) for path in sorted(kept.iterdir())}


def test_another_attempt_goes_on_after_what_is_kept(tmp_path: Path, kept: Path) -> None:
    def first_attempt() -> None:
        with finished_lines(scratch(tmp_path, "first"), INPUT) as first:
            first.add_all(blocks(2, 3))
            first.add(f"{1 // 0}" if number else "torn" for number in range(2))

    with pytest.raises(ZeroDivisionError):
        first_attempt()
    assert list(sets(kept)) == ["rows-000000000002", "rows-000000000005"]
    with finished_lines(scratch(tmp_path, "second"), INPUT) as second:
        assert second.number == 5
        second.add_all(blocks(4, first=5))
        assert [*second.read()] == lines(9)
        assert second.write(tmp_path / "out.zst") == 9
    write_lines(tmp_path / "whole.zst", lines(9))
    assert (tmp_path / "out.zst").read_bytes() == (tmp_path / "whole.zst").read_bytes()


def test_a_disk_that_is_full_leaves_no_torn_end(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finished, "SAVE_SECONDS", 300.0)

    def fill(source: BinaryIO, target: BinaryIO) -> None:
        target.write(source.read()[:9])
        raise OSError(28, "No space left on device")

    def first_attempt() -> None:
        with finished_lines(scratch(tmp_path, "first"), INPUT) as first:
            first.add_all(blocks(2, 3))
            monkeypatch.setattr(shutil, "copyfileobj", fill)
            first.add_all(blocks(4, first=5))

    with pytest.raises(OSError, match="No space"):
        first_attempt()
    with finished_lines(scratch(tmp_path, "second"), INPUT) as second:
        assert [*second.read()] == lines(5)


def test_lines_are_as_they_were_added_wherever_files_begin(tmp_path: Path, kept: Path) -> None:
    odd = ["\ufeffa", "b\r", "\ufeff", "", "\x85c\u2028d", " "]
    with finished_lines(scratch(tmp_path, "first"), INPUT) as first:
        first.add_all([line] for line in odd)
    with finished_lines(scratch(tmp_path, "second"), INPUT) as second:
        assert [*second.read()] == odd


def test_a_set_has_the_files_of_the_one_before(tmp_path: Path, kept: Path) -> None:
    with finished_lines(scratch(tmp_path, "first"), INPUT) as first:
        first.add_all(blocks(2, 2, 1))
    parts = [
        "000000000000-000000000002.zst",
        "000000000002-000000000004.zst",
        "000000000004-000000000005.zst",
    ]
    assert sets(kept) == {
        "rows-000000000002": parts[:1],
        "rows-000000000004": parts[:2],
        "rows-000000000005": parts,
    }
    for part, names in zip(parts, ([*sets(kept)], [*sets(kept)][1:]), strict=False):
        assert len({(kept / name / part).stat().st_ino for name in names}) == 1


@pytest.mark.parametrize("on_one_disk", [True, False], ids=["another disk", "no hard links"])
def test_sets_on_a_disk_without_links_to_the_scripts_do_not_grow_with_the_square(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch, on_one_disk: bool
) -> None:
    link = os.link

    def link_inside(path: Path, target: Path) -> None:
        if not (on_one_disk and path.is_relative_to(kept) and target.is_relative_to(kept)):
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        link(path, target)

    monkeypatch.setattr(os, "link", link_inside)
    with finished_lines(scratch(tmp_path, "first"), INPUT) as first:
        first.add_all(blocks(2, 2))
    with finished_lines(scratch(tmp_path, "second"), INPUT) as second:
        second.add_all(blocks(2, 2, first=4))
    files = {path.stat().st_ino for path in kept.glob("*/*.zst")}
    if on_one_disk:
        assert (len(sets(kept)), len(files)) == (4, 4)
    else:
        assert list(sets(kept)) == ["rows-000000000006", "rows-000000000008"]
    with finished_lines(scratch(tmp_path, "third"), INPUT) as third:
        assert [*third.read()] == lines(8)


def test_between_two_sets_blocks_grow_into_one_file(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finished, "SAVE_SECONDS", 300.0)

    def first_attempt() -> None:
        with finished_lines(scratch(tmp_path, "first"), INPUT) as first:
            first.add_all(blocks(*[10] * 50))
            assert not kept.exists()
            raise TemporaryError

    with pytest.raises(TemporaryError):
        first_attempt()
    assert sets(kept) == {"rows-000000000500": ["000000000000-000000000500.zst"]}
    with finished_lines(scratch(tmp_path, "second"), INPUT) as second:
        assert [*second.read()] == lines(500)


@pytest.mark.parametrize("name", ["torn", "short", "missing"])
def test_what_is_whole_of_damaged_sets_is_used_and_the_rest_made_again(
    tmp_path: Path, kept: Path, name: str
) -> None:
    with finished_lines(scratch(tmp_path, "first"), INPUT) as first:
        first.add_all(blocks(2, 2, 2))
    damaged = kept / "rows-000000000006" / "000000000002-000000000004.zst"
    contents = damaged.read_bytes()
    damaged.unlink()
    if name == "torn":
        damaged.write_bytes(contents[:-3])
    elif name == "short":
        write_lines(damaged, ["line 2"])
    with finished_lines(scratch(tmp_path, "second"), INPUT) as second:
        assert second.number == 4  # of the set before, which has that part whole
        assert not (kept / "rows-000000000006").exists()
        second.add_all(blocks(2, first=4))
        assert [*second.read()] == lines(6)
    assert sets(kept)["rows-000000000006"] == sets(kept)["rows-000000000004"] + [
        "000000000004-000000000006.zst"
    ]
    for path in (kept / "rows-000000000004").iterdir():
        path.unlink()
    last = kept / "rows-000000000006" / "000000000004-000000000006.zst"
    last.unlink()
    last.write_bytes(b"")
    with finished_lines(scratch(tmp_path, "third"), INPUT) as third:
        assert third.number == 4  # of the last set, which has those parts whole
        assert [*third.read()] == lines(4)
    assert list(sets(kept)) == ["rows-000000000002"]


def test_sigterm_keeps_what_is_finished_at_once(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything else is tidied up, which may take longer than there is time."""
    monkeypatch.setattr(finished, "SAVE_SECONDS", 300.0)
    before = signal.getsignal(signal.SIGTERM)
    kept_at_once: list[str] = []

    def attempt() -> None:
        with finished_lines(scratch(tmp_path, "first"), INPUT) as first:
            first.add_all(blocks(3))
            try:
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(5)
            finally:
                kept_at_once.extend(sets(kept))

    with pytest.raises(Stopped, match="Stopped by SIGTERM"):
        attempt()
    assert kept_at_once == ["rows-000000000003"]
    assert signal.getsignal(signal.SIGTERM) is before


def test_sigterm_that_something_swallows_ends_the_next_block(tmp_path: Path, kept: Path) -> None:
    def attempt() -> None:
        with finished_lines(scratch(tmp_path, "first"), INPUT) as first:
            with suppress(TemporaryError):
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(5)
            first.add_all(blocks(3, 3))

    with pytest.raises(TemporaryError, match="Stopped by SIGTERM"):
        attempt()
    assert [*sets(kept)] == ["rows-000000000003"]


def test_a_fork_that_is_told_to_stop_keeps_nothing(tmp_path: Path, kept: Path) -> None:
    with finished_lines(scratch(tmp_path, "first"), INPUT) as first:
        first.add_all(blocks(3))
        for path in kept.iterdir():
            path.rename(tmp_path / path.name)
        child = os.fork()
        if not child:
            first._saved = 0
            os.kill(os.getpid(), signal.SIGTERM)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 75
    assert sets(kept) == {}


def test_without_a_folder_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRANSLATIONS_CHECKPOINTS", raising=False)
    monkeypatch.setattr(finished, "SAVE_SECONDS", 0.0)
    with finished_lines(scratch(tmp_path, "first"), INPUT) as first:
        first.add_all(blocks(2, 0, 3))
        assert first.number == 5
        first.write(tmp_path / "out")
    assert [*read_lines(tmp_path / "out")] == lines(5)


def test_without_a_line_nothing_is_kept_either(tmp_path: Path, kept: Path) -> None:
    with finished_lines(scratch(tmp_path, "first"), INPUT) as first:
        first.add_all(blocks(0))
        assert first.write(tmp_path / "out.zst") == 0
    assert [*read_lines(tmp_path / "out.zst")] == []
    assert not kept.exists()


def test_sets_of_another_input_are_refused_and_stay(tmp_path: Path, kept: Path) -> None:
    with finished_lines(scratch(tmp_path, "first"), INPUT) as first:
        first.add_all(blocks(2, 3))
    before = sets(kept)
    other = MadeFrom({}, {"text": "other"})
    with (
        pytest.raises(InputError, match='of another input: text is "other", and was "line"'),
        finished_lines(scratch(tmp_path, "second"), other),
    ):
        pytest.fail("went on")
    assert sets(kept) == before
    with finished_lines(scratch(tmp_path, "third"), INPUT) as third:
        assert third.number == 5


def test_a_set_that_does_not_tell_its_input_is_made_again(tmp_path: Path, kept: Path) -> None:
    with finished_lines(scratch(tmp_path, "first"), INPUT) as first:
        first.add_all(blocks(2, 3))
    (kept / "rows-000000000005" / FILE).unlink()
    with finished_lines(scratch(tmp_path, "second"), INPUT) as second:
        assert second.number == 2
    for path in kept.iterdir():
        (path / FILE).write_text("{")
    with finished_lines(scratch(tmp_path, "third"), INPUT) as third:
        assert third.number == 0


def test_lines_are_as_many_as_are_wanted(tmp_path: Path) -> None:
    with finished_lines(scratch(tmp_path, "first"), INPUT) as first:
        first.add_all(blocks(2, 3))
        first.require(5, tmp_path / "text")
        with pytest.raises(InputError, match="5 lines were made of .*text, which wants 4; none is kept"):
            first.require(4, tmp_path / "text")


@pytest.mark.parametrize(("together", "rows"), [(1, 10_000), (32, 9_984), (10_000, 10_000), (32_000, 32_000)])
def test_a_block_is_a_whole_number_of_batches(together: int, rows: int) -> None:
    assert rows_of_a_block(together) == rows
