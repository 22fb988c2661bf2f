"""Tests that a stage's pod settings in the deployment file stand on its asset."""

from __future__ import annotations

import json

import pytest

from translations_assets.config.deployment import parse_deployment
from translations_assets.config.errors import ConfigError
from translations_assets.defs.assets import POD_TAG, make_asset
from translations_assets.defs.shared import PROJECT
from translations_assets.stages import ASSETS

TEXT = """
store: gs://bucket
runner: kubernetes
kubernetes:
  image: registry/worker
  worker-classes: {cpu: {}}
  stages:
    merge_corpus:
      pod: {container_config: {resources: {limits: {memory: 64Gi}}}}
    score: {worker-class: cpu}
"""


def tags(stage: str) -> dict[str, str]:
    return dict(make_asset(ASSETS[stage]).op.tags)


def test_the_pods_of_a_stage_are_a_tag_of_its_asset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vars(PROJECT), "deployment", parse_deployment(TEXT, "deployment.yml"))
    shown = json.loads(tags("merge_corpus")[POD_TAG])
    assert shown == {"container_config": {"resources": {"limits": {"memory": "64Gi"}}}}
    assert POD_TAG not in tags("score")
    assert POD_TAG not in tags("train_vocab")


def test_without_a_deployment_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vars(PROJECT), "deployment", None)
    assert POD_TAG not in tags("merge_corpus")


def test_the_owners_are_those_of_the_deployment(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"{TEXT}owners: [team:translations, ann@example.com]\n"
    monkeypatch.setitem(vars(PROJECT), "deployment", parse_deployment(text, "deployment.yml"))
    asset = make_asset(ASSETS["export"])
    assert [*asset.get_asset_spec().owners] == ["team:translations", "ann@example.com"]
    with pytest.raises(ConfigError, match=r"owners\[0\]: must be an address of mail, or `team:` and a"):
        parse_deployment(f"{TEXT}owners: [Ann]\n", "deployment.yml")
