"""What a gate's finding tells of its section of the config."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.stages.configs import DEMO
from translations_assets.checks.gates import GATES, Gate, _finding
from translations_assets.config.load import parse_config

LISTS = "checks: {offensive-words: {trg-list: 'https://example.org/words', max-share: 0.01}}\n"


@pytest.mark.parametrize("gate", GATES, ids=lambda gate: gate.name)
def test_thresholds_are_numbers_whatever_else_the_section_has(gate: Gate) -> None:
    session: Any = SimpleNamespace(
        config=parse_config(DEMO + LISTS, "en-eo.yml"), options=SimpleNamespace(overrides={})
    )
    thresholds = _finding(session, gate, "not computed", "").thresholds
    assert all(isinstance(value, int | float) for value in thresholds.values())
    if gate.name == "offensive-words":
        assert thresholds == {"max-share": 0.01}
