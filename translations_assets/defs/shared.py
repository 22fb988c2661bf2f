"""What all definitions share: the project that the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from translations_assets.project import this_project
from translations_assets.running.engine import Listener
from translations_assets.store.gcs.client import supply_client

if TYPE_CHECKING:
    from google.cloud.storage import Client

PROJECT = this_project()
LISTENERS: list[Listener] = []  # what else in this process follows all steps: the command line's progress


def _client() -> Client:
    """Dagster's own client of Google Cloud Storage; imported for a store in a bucket only (0.8 s)."""
    from dagster_gcp import GCSResource

    return GCSResource().get_client()


supply_client(_client)
