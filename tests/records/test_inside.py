"""Names that others wrote stay inside their folder."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from translations_assets.records.inside import inside

OUTSIDE = (
    "..",
    "../x",
    "a/../../x",
    "/etc/passwd",
    "",
    ".",
    "a//b",
    "a/",
    "./a",
    "a/..",
    "..\0",
    "a\nb",
    "\x1b[2J",
)


@pytest.mark.parametrize("name", [*OUTSIDE, "x" * 256, "ŝ" * 128, "\ud800"])
def test_a_name_that_leads_out_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - what a damaged record raises, too
        inside(tmp_path, name)
    with pytest.raises(ValueError):  # noqa: PT011
        inside(PurePosixPath("checkpoints"), name)


@pytest.mark.parametrize(
    "name", ["corpus.en.zst", "0/model.npz", "..a", "a..", ".hidden", "ĝ " + "x" * 200, "x" * 255, "%2E%2E"]
)
def test_a_plain_name_is_a_path_below(name: str, tmp_path: Path) -> None:
    assert inside(tmp_path, name) == tmp_path / name


@given(st.text())
def test_whatever_is_accepted_stays_below(name: str) -> None:
    folder = Path("/nowhere/store")
    try:
        path = inside(folder, name)
    except ValueError:
        return
    assert path.resolve().is_relative_to(folder)
    assert path != folder


def test_no_symbolic_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "link").symlink_to(tmp_path)
    for name in ("link", "link/x"):
        with pytest.raises(ValueError, match="link is a symbolic link"):
            inside(tmp_path / "store", name)
    (tmp_path / "other").symlink_to(tmp_path / "store")  # the folder itself is the caller's choice
    assert inside(tmp_path / "other", "x") == tmp_path / "other" / "x"
