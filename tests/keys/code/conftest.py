"""Fixtures of the tests of fingerprints."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.keys.code.package import Package


@pytest.fixture
def package(tmp_path: Path) -> Package:
    """A writer of small packages."""
    return Package(tmp_path)
