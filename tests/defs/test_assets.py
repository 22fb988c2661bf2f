"""The assets say what the stages say."""

import gc
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock, Mock

import pytest
from dagster import AssetKey

from tests.defs.test_metadata import result
from tests.memory_store import MemoryStore
from translations_assets.checks.gates import GATES
from translations_assets.common.errors import StoreUnreachable
from translations_assets.definitions import defs
from translations_assets.defs import assets
from translations_assets.defs.assets import _data_version
from translations_assets.defs.endings import ToldFailure
from translations_assets.defs.shared import TRAINING_CONFIGS
from translations_assets.instance.server import REPORT, WANDB
from translations_assets.stages import ASSETS

GRAPH = defs.get_repository_def().asset_graph


def test_every_stage_is_an_asset_with_its_upstream_and_recipe() -> None:
    for name, stage in ASSETS.items():
        parents = {key.to_user_string() for key in GRAPH.get(AssetKey(name)).parent_keys}
        assert parents == {*stage.upstream, f"recipe/{name}"}


def test_nothing_else_is_materializable_but_what_people_look_at() -> None:
    assert {key.to_user_string() for key in GRAPH.executable_asset_keys} == {*ASSETS, REPORT, WANDB}
    assert len(GRAPH.get_all_asset_keys()) == 2 * len(ASSETS) + 2


def test_nothing_is_made_of_what_people_look_at() -> None:
    for name in (REPORT, WANDB):
        assert not GRAPH.get(AssetKey(name)).child_keys
        assert GRAPH.get(AssetKey(name)).partitions_def == TRAINING_CONFIGS


def test_group_description_and_partitions() -> None:
    for name, stage in ASSETS.items():
        node = GRAPH.get(AssetKey(name))
        assert (node.group_name, node.description) == (stage.group, stage.description)
        assert node.partitions_def == TRAINING_CONFIGS
        assert node.code_version is None  # a recipe says it for each partition


def test_the_garbage_collector_leaves_out_what_was_loaded() -> None:
    """A third of the processor time of a run in which everything is cached: `benchmarks/one_asset.py`."""
    assert gc.get_freeze_count() > 0


def test_the_data_version_is_that_of_each_steps_contents() -> None:
    """Whatever the order; not when two steps have changed their contents with each other."""

    def version(**contents: bytes) -> str:
        store = MemoryStore()
        return _data_version([result(store, label, text=data) for label, data in contents.items()])

    assert version(a=b"1", b=b"2") == version(b=b"2", a=b"1")
    assert len({version(a=b"1", b=b"2"), version(a=b"2", b=b"1"), version(a=b"1", b=b"1")}) == 3


AWAY = StoreUnreachable("The store cannot be reached.")


@pytest.fixture
def context(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The context of an asset whose steps are all made, and of its checks; `pauses` are those of waiting."""
    pauses: list[float] = []
    session = SimpleNamespace(changed=(), machine=None, graph=SimpleNamespace(checks={}))
    session.results = SimpleNamespace(warnings=[])
    monkeypatch.setattr(assets, "PROJECT", MagicMock(session=lambda *_: session))
    monkeypatch.setattr(assets, "cancel_event", lambda run: SimpleNamespace(wait=pauses.append))
    monkeypatch.setattr(assets, "_run_stage", lambda *_: [])
    monkeypatch.setattr(assets, "recipe_tags", lambda *_: {})
    monkeypatch.setattr(assets, "lines_by_dataset", lambda *_: {})
    return MagicMock(pauses=pauses)


def test_an_asset_whose_steps_are_made_waits_for_the_store_that_tells_of_them(
    context: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assets, "stage_metadata", Mock(side_effect=[AWAY, AWAY, {"steps_run": 0}]))
    made = assets._materialize(context, ASSETS["train_vocab"])
    assert made.metadata == {"steps_run": 0}
    assert context.pauses == [1, 2]
    monkeypatch.setattr(assets, "stage_metadata", Mock(side_effect=AWAY))
    with pytest.raises(ToldFailure, match="The store cannot be reached"):
        assets._materialize(context, ASSETS["train_vocab"])


def test_a_gate_waits_for_the_store_that_has_its_numbers(
    context: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assets, "examine", Mock(side_effect=[AWAY, "passed", AWAY, "failed"]))
    found: list[Any] = assets._examine(context, [*GATES[:2]])
    assert found == ["passed", "failed"]
    assert context.pauses == [1, 1]
