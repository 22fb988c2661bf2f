"""The assets say what the stages say."""

from dagster import AssetKey

from translations_assets.definitions import defs
from translations_assets.defs.assets import code_versions
from translations_assets.defs.partitions import TRAINING_CONFIGS
from translations_assets.stages import STAGES

GRAPH = defs.get_repository_def().asset_graph


def test_every_stage_is_an_asset_with_its_upstream_and_recipe() -> None:
    for name, stage in STAGES.items():
        parents = {key.to_user_string() for key in GRAPH.get(AssetKey(name)).parent_keys}
        assert parents == {*stage.upstream, f"recipe/{name}"}


def test_nothing_else_is_materializable() -> None:
    assert {key.to_user_string() for key in GRAPH.executable_asset_keys} == set(STAGES)
    assert len(GRAPH.get_all_asset_keys()) == 2 * len(STAGES)


def test_group_description_partitions_and_code_version() -> None:
    versions = code_versions()
    for name, stage in STAGES.items():
        node = GRAPH.get(AssetKey(name))
        assert (node.group_name, node.description) == (stage.group, stage.description)
        assert node.partitions_def == TRAINING_CONFIGS
        assert node.code_version == versions[name]
        assert len(versions[name]) == 64


def test_stages_with_different_scripts_have_different_code_versions() -> None:
    versions = code_versions()
    assert versions["train_vocab"] != versions["merge_corpus"]
    assert versions["train_student"] == versions["train_backwards"]  # both run pipeline.train.train alone
