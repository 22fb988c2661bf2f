"""Tests of fetching a model that identifies languages."""

import hashlib
from pathlib import Path

import pytest

from pipeline.clean.fetch_model import MAGIC, main
from pipeline.common.errors import InputError


def fetched(folder: Path, content: bytes, expected: bytes) -> None:
    """Fetch a file with this content, where another may be expected."""
    (folder / "lid.bin").write_bytes(content)
    digest = hashlib.sha256(expected).hexdigest()
    main(["--url", (folder / "lid.bin").as_uri(), "--sha256", digest, "--output", str(folder / "out")])


def test_a_model_is_fetched(tmp_path: Path) -> None:
    fetched(tmp_path, MAGIC + b"rest", MAGIC + b"rest")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["model.bin"]
    assert (tmp_path / "out" / "model.bin").read_bytes() == MAGIC + b"rest"


def test_what_is_no_model_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"lid.bin is no model of fastText"):
        fetched(tmp_path, b"moved", b"moved")
    assert list((tmp_path / "out").iterdir()) == []


def test_another_model_than_expected_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"lid.bin has the SHA-256 [0-9a-f]{64}, not [0-9a-f]{64} as expected"
    ):
        fetched(tmp_path, MAGIC + b"a later version", MAGIC + b"rest")
    assert list((tmp_path / "out").iterdir()) == []
