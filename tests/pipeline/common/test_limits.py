"""Tests of what a file from outside may unpack to."""

import io

import pytest

from pipeline.common.errors import InputError
from pipeline.common.limits import UNASKED, bounded


class Unpacked(io.BytesIO):
    """Remembers how far it was asked to go."""

    furthest = 0

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        place = super().seek(offset, whence)
        self.furthest = max(self.furthest, place)
        return place


def test_a_far_place_is_refused_before_the_way_there_is_unpacked() -> None:
    unpacked = Unpacked(b"text")
    stream = bounded(unpacked, "a.tar", lambda: 4)
    stream.seek(UNASKED)
    with pytest.raises(InputError, match="a.tar, of 4 bytes, unpacks to"):
        stream.seek(UNASKED + 10**6)
    assert unpacked.furthest == UNASKED
