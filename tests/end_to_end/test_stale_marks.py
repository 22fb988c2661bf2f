"""The stale marks that a web server gives for each partition, after an edit of one training config."""

from __future__ import annotations

from pathlib import Path
from shutil import which
from typing import Any

import pytest

from tests.browsers import chromium
from tests.defs.test_recipes import OTHER, made_up_place
from tests.end_to_end.test_webserver import Server, serve
from tests.end_to_end.tiny import PARTITION
from translations_assets.stages import ASSETS

pytestmark = pytest.mark.slow

TICK = """
mutation($sensor: SensorSelector!) {
  sensorDryRun(selectorData: $sensor, cursor: "") {
    __typename
    ... on DryRunInstigationTick { evaluationResult { skipReason error { message } } }
  }
}"""
MARKS = """
query($partitions: [String!]) {
  assetNodes {
    assetKey { path }
    staleStatusByPartition(partitions: $partitions)
    staleCausesByPartition(partitions: $partitions) { key { path } reason }
  }
}"""

LISTS = """
{ repositoriesOrError { ... on RepositoryConnection { nodes {
  assetGroups { groupName }
  assetNodes { assetKey { path } dependencyKeys { path } }
} } } }"""


def tick(server: Server) -> str:
    """Let the sensor observe the recipes once; what it says."""
    sensor = {
        "repositoryName": "__repository__",
        "repositoryLocationName": "translations-assets",
        "sensorName": "recipes",
    }
    answer = server.ask(TICK, sensor=sensor)["sensorDryRun"]
    assert answer["__typename"] == "DryRunInstigationTick", answer
    assert answer["evaluationResult"]["error"] is None, answer
    return str(answer["evaluationResult"]["skipReason"])


def marks(server: Server) -> tuple[dict[tuple[str, str], str], dict[str, list[Any]]]:
    """Of stage and partition what is not fresh; of the stages why, in the other partition."""
    partitions = [PARTITION, OTHER]
    nodes = server.ask(MARKS, partitions=partitions)["assetNodes"]
    stages = {node["assetKey"]["path"][0]: node for node in nodes if node["assetKey"]["path"][0] in ASSETS}
    assert set(stages) == set(ASSETS)
    marked = {
        (stage, partition): status
        for stage, node in stages.items()
        for partition, status in zip(partitions, node["staleStatusByPartition"], strict=True)
        if status != "FRESH"
    }
    return marked, {stage: node["staleCausesByPartition"][1] for stage, node in stages.items()}


def test_only_what_an_edit_of_one_config_concerns_is_stale_and_only_in_its_partition(tmp_path: Path) -> None:
    made = made_up_place(tmp_path / "place")
    config = made.root / "configs" / f"{OTHER}.yml"
    with serve(made) as server:
        (listed,) = server.ask(LISTS)["repositoriesOrError"]["nodes"]
        nodes = {node["assetKey"]["path"][0]: node["dependencyKeys"] for node in listed["assetNodes"]}
        assert set(nodes) >= set(ASSETS)
        assert nodes["clean_corpus"] == [{"path": ["dataset_train"]}]
        assert "recipe" not in nodes
        assert "recipes" not in {group["groupName"] for group in listed["assetGroups"]}
        assert tick(server) == "0 recipes changed"
        assert marks(server)[0] == {}
        text = config.read_text()
        assert "training-student: *model" in text
        config.write_text(text.replace("training-student: *model", "training-student: {after: 30u}"))
        assert tick(server) == "1 recipes changed"
        marked, causes = marks(server)
        # what is made from the student is stale once it is trained anew
        assert marked == {("train_student", OTHER): "STALE"}
        (cause,) = causes["train_student"]
        assert cause["key"]["path"] == ["recipe", "train_student"]
        reason = "marian-args.training-student.after: 20u → 30u"
        assert reason in cause["reason"]
        if which("chromium"):
            with chromium() as page:
                page.goto(f"{server.url}/assets/train_student?view=partitions&partition={OTHER}")
                page.get_by_text("Unsynced").first.hover()
                page.get_by_text(reason).wait_for()
        config.write_text(text)
        assert tick(server) == "1 recipes changed"
        assert marks(server)[0] == {}
