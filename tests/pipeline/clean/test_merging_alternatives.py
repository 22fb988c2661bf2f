"""The other ways to merge that benchmarks.merging measures write what the merges write."""

from pathlib import Path

import pytest

from benchmarks import merging
from benchmarks.generated_pairs import generate
from benchmarks.merging import Merge, measure, merges

PAIRS = 5_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pairs")


@pytest.fixture(scope="module")
def to_merge(folder: Path) -> list[Merge]:
    return merges(folder, generate(folder, PAIRS), PAIRS)


@pytest.mark.slow
@pytest.mark.parametrize("way", merging.OTHERS)
def test_every_way_writes_the_same(to_merge: list[Merge], folder: Path, way: str) -> None:
    for merge in to_merge:
        if way in merge.others:
            own = ["-m", f"pipeline.clean.{merge.script}", *merge.options]
            other = ["-m", "benchmarks.merging_alternatives", way, merge.script, *merge.options]
            results = {measure(way, command, folder / "merged", 1, 500, PAIRS) for command in (own, other)}
            assert len(results) == 1, merge.name
