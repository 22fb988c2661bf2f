"""Fixtures of the tests of the stages."""

from __future__ import annotations

import pytest

from tests.stages.configs import TEXTS, graph
from translations_assets.graph.graph import Graph


@pytest.fixture(params=TEXTS)
def any_graph(request: pytest.FixtureRequest) -> Graph:
    """The graph of each config."""
    return graph(TEXTS[request.param])
