"""What Dagster loads and the demo's graph are as in the golden files.

An upstream name that no asset has becomes a silent external asset in Dagster: here it would show.
"""

import pytest

from tests.golden import FOLDER, GOLDEN, as_text


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_file(name: str) -> None:
    """If the change is meant: `make golden`, and read the difference."""
    assert as_text(GOLDEN[name]()) == (FOLDER / name).read_text(encoding="utf-8")
