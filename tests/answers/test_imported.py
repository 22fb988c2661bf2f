"""The names by which a dataset that a step has imported can be asked for."""

from __future__ import annotations

import pytest

from translations_assets.answers.imported import Imported

TEXT = Imported(
    "/home/a/text/web.[LANG].zst", "parallel", frozenset(["/home/a/text/web.[LANG].zst", "file_web"])
)
UPPER = Imported(
    "file_aug-upper_/home/a/t.[LANG].zst", "test", frozenset(["file_aug-upper_/home/a/t.[LANG].zst"])
)


@pytest.mark.parametrize(
    ("dataset", "name", "expected"),
    [
        (TEXT, "./text/web.[LANG].zst", True),
        (TEXT, "./web.[LANG].zst", True),
        (TEXT, "./b.[LANG].zst", False),
        (TEXT, "text/web.[LANG].zst", False),
        (TEXT, "file_web", True),
        (UPPER, "file_aug-upper_./t.[LANG].zst", True),
        (UPPER, "file_aug-title_./t.[LANG].zst", False),
        (UPPER, "./t.[LANG].zst", False),
    ],
)
def test_a_file_is_called_as_its_config_calls_it(dataset: Imported, name: str, expected: bool) -> None:
    assert dataset.is_called(name) is expected
