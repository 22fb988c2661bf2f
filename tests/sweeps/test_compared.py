"""Settings beside the reference: with p-values where they translated the same lines, else by scores alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.diff.translated import REFERENCES, garbled
from tests.diff.values import packed
from tests.memory_store import MemoryStore
from translations_assets.config.sweep import Variant
from translations_assets.keys.remembered import Remembered
from translations_assets.results.scores import MetricScore, Scores
from translations_assets.store.local import LocalStore
from translations_assets.sweeps.compared import Compared, Comparing, Translated
from translations_assets.sweeps.facts import _compare, _Variant, groups_of

GOOD, BAD = garbled(0.1, 1), garbled(0.6, 2)
SCORES = [[Scores("news", {"chrf": MetricScore(score)})] for score in (80.0, 40.0)]


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "store")


def translated(store: LocalStore, lines: Sequence[str], references: Sequence[str] = REFERENCES) -> Translated:
    return Translated(store.add_bytes(packed(lines)), store.add_bytes(packed(references)), "eo")


def compared(store: LocalStore, *settings: Sequence[Translated]) -> list[Compared]:
    told = Comparing(store, Remembered(Path(), None)).compare("news", settings, SCORES)
    return [found["chrf"] for found in told]


def test_translations_of_the_same_lines_have_p_values(store: LocalStore) -> None:
    reference, other = compared(store, [translated(store, GOOD)], [translated(store, BAD)])
    assert reference.p_value == 1.0
    assert other.is_significant
    assert other.difference == pytest.approx(other.mean - reference.mean, abs=1e-3)
    assert other.gain < 0


@pytest.mark.parametrize("kind", ["another test set", "no reference"])
def test_others_are_told_by_their_scores(store: LocalStore, kind: str) -> None:
    other = translated(store, BAD, REFERENCES[::-1] if kind == "another test set" else REFERENCES)
    first = [] if kind == "no reference" else [translated(store, GOOD)]
    assert compared(store, first, [other]) == [Compared((80.0,), 80.0, 0.0), Compared((40.0,), 40.0, -40.0)]


def test_the_reference_is_the_first_setting_wherever_it_stands_in_the_file() -> None:
    variants = [Variant(f"p{rate}", {"rate": rate}) for rate in (1, 2, 3)]
    assert [partitions for _, partitions in groups_of(variants, ["p2"])] == [("p2",), ("p1",), ("p3",)]
    assert groups_of(variants, ["base"])[0] == ({}, ("base",))


def test_each_test_set_that_any_variant_has_is_compared() -> None:
    """In the middle of a sweep the first variant may have fewer than others."""
    scores = {name: Scores(name, {"chrf": MetricScore(40.0)}) for name in ("news", "web")}
    variants = {"a": ["news"], "b": ["news", "web"]}
    read = {name: _Variant({}, {one: scores[one] for one in tests}, {}) for name, tests in variants.items()}
    found = _compare(
        [({}, ("a",)), ({"rate": 1}, ("b",))], read, Comparing(MemoryStore(), Remembered(Path(), None))
    )
    alone = {"chrf": Compared((40.0,), 40.0)}
    assert found["web"] == [{}, alone]
    assert "difference" not in alone["chrf"].to_dict()
    assert [one["chrf"].difference for one in found["news"]] == [0.0, 0.0]
