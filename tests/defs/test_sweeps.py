"""The comparison of a sweep as an asset: a partition for each sweep, after its variants' evaluations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import dagster as dg
import pytest

from tests.cli.conftest import make
from tests.end_to_end.tiny import PARTITION, Place, make_place
from translations_assets.common.errors import StoreUnreachable
from translations_assets.defs import sweeps
from translations_assets.defs.shared import PROJECT, TRAINING_CONFIGS
from translations_assets.instance.home import prepare

DEFINITIONS = ("-m", "translations_assets.definitions")
NAME = f"{PARTITION}.seeds.student-"
LOOK = """
import json
from translations_assets.definitions import defs
graph = defs.resolve_asset_graph()
asset = graph.get(next(key for key in graph.get_all_asset_keys() if key.path == ["sweep_comparison"]))
mapping = asset.partition_mappings
up = next(iter(asset.parent_keys))
found = mapping[up].get_upstream_mapped_partitions_result_for_partitions(
    asset.partitions_def.subset_with_partition_keys(["seeds"]), asset.partitions_def,
    graph.get(up).partitions_def, None
)
print(json.dumps([sorted(asset.partitions_def.get_partition_keys()),
                  sorted(found.partitions_subset.get_partition_keys()), len(asset.parent_keys)]))
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """The tiny pair, and a sweep of its student over two seeds, of which results are made up."""
    place = make_place(tmp_path / "place")
    for name, value in place.environment.items():
        monkeypatch.setenv(name, value)
    folder = place.root / "configs" / "sweeps"
    folder.mkdir()
    (folder / "seeds.yml").write_text(
        f"base: {PARTITION}\naxes: {{experiment.seeds.student: [1, 2]}}\ntarget: evaluate_student\n"
    )
    prepare(place.root / "dagster")
    return place


def materialize(place: Place) -> tuple[dict[str, Any], str]:
    """What the asset tells, and its data version."""
    words = ("asset", "materialize", "--select", "sweep_comparison", "--partition", "seeds", *DEFINITIONS)
    done = place.run("dagster", *words)
    assert done.returncode == 0, done.stderr
    with dg.DagsterInstance.from_config(str(place.root / "dagster")) as instance:
        found = instance.get_latest_materialization_event(dg.AssetKey("sweep_comparison"))
    assert found
    made = found.asset_materialization
    assert made
    told: Any = made.metadata["comparison"].value
    return told, (made.tags or {})["dagster/data_version"]


def test_no_base_is_read_when_definitions_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be kept in a store that is away, which no definitions wait for."""
    base, *_ = TRAINING_CONFIGS.get_partition_keys()
    (tmp_path / "sweeps").mkdir()
    text = f"base: {base}\naxes: {{experiment.seeds.student: [1, 2]}}\n"
    (tmp_path / "sweeps" / "seeds.yml").write_text(text)
    monkeypatch.setenv("TRANSLATIONS_CONFIGS", str(tmp_path))
    monkeypatch.setattr(PROJECT.configs, "text", Mock(side_effect=StoreUnreachable("away")))
    (asset,) = sweeps.sweep_comparisons()
    assert asset.partitions_def
    assert asset.partitions_def.get_partition_keys() == ["seeds"]
    mapping = asset.get_partition_mapping(dg.AssetKey("evaluate_student"))
    assert mapping == dg.StaticPartitionMapping({base: ["seeds"]})  # variants are no partitions here


@pytest.mark.slow
def test_the_comparison_is_made_of_the_variants_and_changes_with_them(place: Place) -> None:
    looked = place.run("python", "-c", LOOK)
    assert looked.returncode == 0, looked.stderr
    names, members, parents = json.loads(looked.stdout.splitlines()[-1])
    assert (names, members) == (["seeds"], [PARTITION, f"{NAME}1", f"{NAME}2"])
    assert parents > 5  # the evaluations of all models
    make("evaluate_student", run="first", partition=f"{NAME}1")
    comparison, version = materialize(place)
    (setting,) = comparison["settings"]
    assert setting["without_scores"] == [f"{NAME}2"]
    assert materialize(place)[1] == version
    make("evaluate_student", run="second", partition=f"{NAME}2")
    again, changed = materialize(place)
    assert changed != version
    (setting,) = again["settings"]
    assert len(setting["scores"]["tiny"]["chrf"]["scores"]) == 2


@pytest.mark.slow
def test_without_results_it_fails_with_the_command_that_makes_them(place: Place) -> None:
    words = ("asset", "materialize", "--select", "sweep_comparison", "--partition", "seeds", *DEFINITIONS)
    done = place.run("dagster", *words)
    assert done.returncode != 0
    assert "To make them: translations train seeds" in done.stderr + done.stdout
