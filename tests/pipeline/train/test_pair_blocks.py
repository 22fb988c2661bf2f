"""Tests of pipeline.train.pair_blocks."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines
from pipeline.train.pair_blocks import BLOCK, INDEX, PAIRS, PairBlocks, PairBlockWriter, compress_block


def made_up(number: int) -> list[str]:
    return [f"the cat {n}\tкошка 猫 {n} \u2028\x85\t0-0 1-1" for n in range(number)]


def written(folder: Path, lines: list[str]) -> Path:
    folder.mkdir()
    with PairBlockWriter(folder) as writer:
        for line in lines:
            writer.write(line)
    return folder


@pytest.mark.parametrize("number", [1, BLOCK - 1, BLOCK, 3 * BLOCK + 5])
def test_blocks_hold_the_lines_in_order(tmp_path: Path, number: int) -> None:
    lines = made_up(number)
    blocks = PairBlocks.open(written(tmp_path / "a", lines))
    assert blocks.lines == number
    assert blocks.blocks == -(-number // BLOCK)
    assert [line for n in range(blocks.blocks) for line in blocks.read(n)] == lines
    assert blocks.sizes.tolist() == [len(blocks.read(n)) for n in range(blocks.blocks)]
    blocks.close()


def test_a_block_is_read_alone(tmp_path: Path) -> None:
    lines = made_up(5 * BLOCK)
    blocks = PairBlocks.open(written(tmp_path / "a", lines))
    assert blocks.read(3) == lines[3 * BLOCK : 4 * BLOCK]
    assert blocks.read(1) == lines[BLOCK : 2 * BLOCK]
    blocks.close()


def test_the_file_is_one_text_to_other_programs(tmp_path: Path) -> None:
    lines = made_up(2 * BLOCK + 1)
    assert list(read_lines(written(tmp_path / "a", lines) / PAIRS)) == lines


def test_blocks_made_elsewhere_give_the_same_files(tmp_path: Path) -> None:
    lines = made_up(2 * BLOCK + 9)
    one, other = written(tmp_path / "a", lines), tmp_path / "b"
    other.mkdir()
    with PairBlockWriter(other) as writer:
        for first in range(0, len(lines), BLOCK):
            part = lines[first : first + BLOCK]
            writer.write_block(compress_block(part), len(part))
        assert writer.lines == len(lines)
    for name in (PAIRS, INDEX):
        assert (one / name).read_bytes() == (other / name).read_bytes()


def test_blocks_may_be_shorter(tmp_path: Path) -> None:
    lines = made_up(40)
    with PairBlockWriter(tmp_path) as writer:
        writer.write_block(compress_block(lines[:7]), 7)
        for line in lines[7:20]:
            writer.write(line)
        writer.write_block(compress_block(lines[20:]), 20)
    blocks = PairBlocks.open(tmp_path)
    assert blocks.sizes.tolist() == [7, 13, 20]
    assert [line for n in range(3) for line in blocks.read(n)] == lines
    blocks.close()


def test_a_line_feed_inside_a_line_is_refused() -> None:
    with pytest.raises(ValueError, match="line feed"):
        compress_block(["a\tb", "c\n\td"])


@pytest.mark.parametrize("number", [0, BLOCK + 1])
def test_a_block_has_a_size(number: int) -> None:
    with pytest.raises(ValueError, match=f"1 to {BLOCK} lines"):
        compress_block(made_up(number))


def test_a_damaged_block_is_named(tmp_path: Path) -> None:
    folder = written(tmp_path / "a", made_up(3 * BLOCK))
    content = bytearray((folder / PAIRS).read_bytes())
    middle = int(np.load(folder / INDEX)[1:3, 0].mean())
    content[middle] ^= 0xFF
    (folder / PAIRS).write_bytes(content)
    blocks = PairBlocks.open(folder)
    assert len(blocks.read(0)) == BLOCK
    with pytest.raises(InputError, match="is damaged in block 1"):
        blocks.read(1)
    blocks.close()


def save(path: Path, rows: list[list[int]]) -> None:
    np.save(path, np.array(rows, dtype=np.int64))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "other magic": lambda path: path.write_bytes(b"\x00" + path.read_bytes()[1:]),
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:-8]),
    "cut off in its head": lambda path: path.write_bytes(path.read_bytes()[:40]),
    "a text": lambda path: path.write_text("begin\tlines\n"),
    "other numbers": lambda path: np.save(path, np.zeros((4, 2))),
    "no table": lambda path: np.save(path, np.zeros(4, dtype=np.int64)),
    "no row": lambda path: np.save(path, np.zeros((0, 2), dtype=np.int64)),
    "another beginning": lambda path: save(path, [[5, 0], [300, 128]]),
    "backwards": lambda path: save(path, [[0, 0], [300, 128], [200, 256]]),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_is_named(tmp_path: Path, damage: str) -> None:
    folder = written(tmp_path / "a", made_up(3 * BLOCK))
    DAMAGES[damage](folder / INDEX)
    with pytest.raises(
        InputError, match=r"blocks\.npy is .*Make the pairs again by the script training_pairs"
    ):
        PairBlocks.open(folder)


@pytest.mark.parametrize("byte", [0x00, 0x27, 0x28, 0x2D, 0xFF])
def test_a_byte_of_an_index_that_has_changed_is_told_or_changes_nothing(tmp_path: Path, byte: int) -> None:
    """Of its head: quotes and brackets that stay open, negative lengths, what is no text."""
    folder = written(tmp_path / "a", made_up(3 * BLOCK))
    content = (folder / INDEX).read_bytes()
    lines = [PairBlocks.open(folder).read(number) for number in range(3)]
    told = 0
    for place in range(128):
        (folder / INDEX).write_bytes(content[:place] + bytes([byte]) + content[place + 1 :])
        try:
            blocks = PairBlocks.open(folder)
        except InputError as error:
            assert "Make the pairs again by the script training_pairs" in str(error)  # noqa: PT017
            told += 1
        else:
            assert [blocks.read(number) for number in range(3)] == lines
            blocks.close()
    assert told > 40


@pytest.mark.parametrize("place", [*range(12), -1, -5])
def test_a_byte_of_a_frame_that_has_changed_is_found(tmp_path: Path, place: int) -> None:
    """The magic number, the head with the size of the text, the checksum."""
    folder = written(tmp_path / "a", made_up(3 * BLOCK))
    content = bytearray((folder / PAIRS).read_bytes())
    begin, end = np.load(folder / INDEX)[1:3, 0].tolist()
    content[(begin if place >= 0 else end) + place] ^= 0xFF
    (folder / PAIRS).write_bytes(content)
    blocks = PairBlocks.open(folder)
    with pytest.raises(InputError, match="block 1.*Make the pairs again"):
        blocks.read(1)
    blocks.close()


def test_files_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    folder = written(tmp_path / "a", made_up(10))
    with (folder / PAIRS).open("ab") as stream:
        stream.write(b"more")
    with pytest.raises(InputError, match="its index counts"):
        PairBlocks.open(folder)
    (folder / INDEX).unlink()
    with pytest.raises(InputError, match=r"blocks\.npy is missing"):
        PairBlocks.open(folder)


def test_what_was_broken_off_has_no_index(tmp_path: Path) -> None:
    def break_off() -> None:
        with PairBlockWriter(tmp_path) as writer:
            writer.write("a\tb")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        break_off()
    assert not (tmp_path / INDEX).exists()
