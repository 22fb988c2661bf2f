"""What Dagster's definitions do to the store."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.store.gcs_server import BUCKET, serve

CODE = """
import sys
from translations_assets.defs.shared import PROJECT
before = "dagster_gcp" in sys.modules
PROJECT.store.add_config("en-ru.pasted", "experiment: {}\\n")
print(before, "dagster_gcp" in sys.modules, list(PROJECT.store.configs()))
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
        assert told.stdout == "False True ['en-ru.pasted']\n"
        assert server.names() == ["store/configs/en-ru.pasted.yml"]
