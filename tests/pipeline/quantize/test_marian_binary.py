"""Marian's binary format: what is read is written again, and damage is noticed."""

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.common.errors import InputError
from pipeline.quantize.marian_binary import (
    CONFIG,
    FLOAT32,
    INT8,
    INTGEMM8,
    INTGEMM8_BROWSER,
    Tensor,
    clear_padding,
    model_config,
    parse,
    read_model,
    renumber,
    serialize,
)

TENSORS = st.lists(
    st.builds(
        Tensor,
        name=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20),
        type=st.sampled_from([FLOAT32, INT8, INTGEMM8]),
        shape=st.lists(st.integers(0, 2**31 - 1), max_size=4).map(tuple),
        data=st.binary(max_size=3).map(lambda data: data * 256),
    ),
    max_size=5,
)

SMALL = [
    Tensor("W", INTGEMM8, (2, 2), b"\1\2\3\4" + struct.pack("<f", 0.5) + b"leftover" * 31),
    Tensor("b", FLOAT32, (1, 2), struct.pack("<2f", 1, 2) + b"leftover" * 31),
    Tensor(CONFIG, INT8, (256,), b"dim-emb: 32\ntype: transformer\n".ljust(256, b"\0")),
]


@given(TENSORS)
def test_what_is_written_is_read_again(tensors: list[Tensor]) -> None:
    assert parse(serialize(tensors)) == tensors


def test_the_layout_byte_by_byte() -> None:
    content = serialize([Tensor("W", FLOAT32, (1, 2), b"x" * 256)])
    assert content[:16] == struct.pack("<QQ", 1, 1)
    assert content[16:48] == struct.pack("<QQQQ", 2, 0x404, 2, 256)
    assert content[48:50] == b"W\0"
    assert content[50:58] == struct.pack("<ii", 1, 2)
    assert content[58:66] == struct.pack("<Q", 190)
    assert content[66:256] == bytes(190)
    assert content[256:] == b"x" * 256


@given(TENSORS)
def test_other_type_numbers_can_be_taken_back(tensors: list[Tensor]) -> None:
    content = serialize(tensors)
    browser = serialize(renumber(tensors, {INTGEMM8: INTGEMM8_BROWSER}))
    assert len(browser) == len(content)
    assert INTGEMM8 not in {tensor.type for tensor in parse(browser)}
    assert serialize(renumber(parse(browser), {INTGEMM8_BROWSER: INTGEMM8})) == content


def test_padding_is_cleared_and_nothing_else() -> None:
    cleared = clear_padding(SMALL)
    assert cleared[0].data == b"\1\2\3\4" + struct.pack("<f", 0.5) + bytes(248)
    assert cleared[1].data == struct.pack("<2f", 1, 2) + bytes(248)
    assert cleared[2] == SMALL[2]


def test_the_configuration_is_read_without_its_zero_bytes() -> None:
    assert model_config(SMALL) == {"dim-emb": 32, "type": "transformer"}
    with pytest.raises(InputError, match="no configuration"):
        model_config(SMALL[:2])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a Marian binary model"),
        (b"\x93NUMPY" + bytes(300), "version"),
        (struct.pack("<QQ", 1, 2**60), "tensors in 16 bytes"),
        (serialize(SMALL)[:-1], "announced"),
        (serialize(SMALL) + b"\0", "left over"),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "model.bin"
    file.write_bytes(content)
    with pytest.raises(InputError, match=message) as error:
        read_model(file)
    assert str(file) in str(error.value)
