"""Tests of the effects of Dagster's definitions on the store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.tiny import PARTITION, make_place
from tests.store.gcs_server import BUCKET, serve

pytestmark = pytest.mark.slow

CODE = """
import dagster_gcp
made = []
make = dagster_gcp.GCSResource.get_client
dagster_gcp.GCSResource.get_client = lambda resource: made.append(make(resource)) or made[-1]
from translations_assets.defs.shared import PROJECT
PROJECT.store.add_config("en-ru.pasted", "experiment: {}\\n")
print(len(made), PROJECT.store.config_names())
"""


def test_a_store_in_a_bucket_is_reached_through_dagsters_client(tmp_path: Path) -> None:
    with serve(BUCKET) as server:
        environment = {
            **os.environ,
            "STORAGE_EMULATOR_HOST": server.url,
            "TRANSLATIONS_STORE": f"gs://{BUCKET}/store",
            "TRANSLATIONS_STATE": str(tmp_path),
        }
        told = subprocess.run(
            [sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True
        )
        assert told.stdout == "1 ['en-ru.pasted']\n"
        assert server.names() == ["store/configs/en-ru.pasted.yml"]


LOADING = """
import json, sys
import dagster as dg
from translations_assets.configs import stored as kept_configs
kept_configs.ANSWER_SECONDS = float(sys.argv[1])
from translations_assets.definitions import defs
from translations_assets.defs.recipes import recipes_sensor

job = defs.resolve_job_def("all")
with dg.DagsterInstance.ephemeral() as instance, dg.build_sensor_context(instance) as context:
    try:
        said = recipes_sensor(context).skip_message
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
print(json.dumps([list(job.partitions_def.get_partition_keys()), said]))
"""


def test_definitions_load_while_the_store_is_away_and_the_sensor_tells_so(tmp_path: Path) -> None:
    """With the configs of the folders, and those that the store was last known to keep."""
    place = make_place(tmp_path / "place")
    config = (place.root / "configs" / f"{PARTITION}.yml").read_text()

    def load(seconds: float) -> tuple[list[str], str, str]:
        done = subprocess.run(
            [sys.executable, "-c", LOADING, str(seconds)],
            env=environment,
            cwd=place.root,
            capture_output=True,
            text=True,
            check=True,
        )
        keys, said = json.loads(done.stdout.splitlines()[-1])
        return keys, said, done.stderr

    with serve(BUCKET) as server:
        environment = {
            **place.environment,
            "STORAGE_EMULATOR_HOST": server.url,
            "TRANSLATIONS_STORE": f"gs://{BUCKET}/store",
        }
        keep = "import sys; from translations_assets.project import this_project as project; "
        keep += "project().store.add_config('en-eo.kept', sys.stdin.read())"
        subprocess.run([sys.executable, "-c", keep], env=environment, input=config, text=True, check=True)
        keys, said, _ = load(100)
        assert keys == ["en-eo.kept", PARTITION]
        assert "recipes changed" in said
    keys, said, told = load(1)
    assert keys == ["en-eo.kept", PARTITION]
    away = f"gs://{BUCKET}/store has not answered for 1 s"
    assert said.startswith("StoreUnreachable: The store is away. Runs wait for it")
    assert away in said
    assert "those last known" in told
    assert away in told
