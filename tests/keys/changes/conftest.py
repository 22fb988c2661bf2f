"""The repository whose changes are planned."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.keys.changes.states import Repository, shared_parsing


@pytest.fixture(scope="package")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repository]:
    """A copy of the repository, every step of which is finished."""
    with shared_parsing():
        yield Repository(tmp_path_factory.mktemp("repository"))
