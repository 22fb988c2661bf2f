"""Tests of fetching a model that identifies languages."""

from pathlib import Path

import pytest

from pipeline.clean.fetch_model import MAGIC, main
from pipeline.common.errors import InputError


def test_a_model_is_fetched(tmp_path: Path) -> None:
    (tmp_path / "lid.bin").write_bytes(MAGIC + b"rest")
    main(["--url", (tmp_path / "lid.bin").as_uri(), "--output", str(tmp_path / "out")])
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["model.bin"]
    assert (tmp_path / "out" / "model.bin").read_bytes() == MAGIC + b"rest"


def test_what_is_no_model_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "lid.bin").write_bytes(b"moved")
    with pytest.raises(InputError, match=r"lid.bin is no model of fastText"):
        main(["--url", (tmp_path / "lid.bin").as_uri(), "--output", str(tmp_path / "out")])
    assert list((tmp_path / "out").iterdir()) == []
