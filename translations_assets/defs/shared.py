"""Parts that all definitions share: the project of the settings, and a partition for each training config."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import dagster as dg

from translations_assets.common.errors import RunCancelled, TranslationsError
from translations_assets.common.extras import require_cluster
from translations_assets.config.errors import ConfigError
from translations_assets.defs.endings import ToldCancellation, failure_of
from translations_assets.project import this_project
from translations_assets.store.gcs.client import supply_client

if TYPE_CHECKING:
    from google.cloud.storage import Client

PROJECT = this_project()
_logger = logging.getLogger(__name__)


def _client() -> Client:
    """Dagster's own client of Google Cloud Storage; imported for a store in a bucket only (0.8 s)."""
    from dagster_gcp import GCSResource

    return GCSResource().get_client()


supply_client(_client)


@contextmanager
def reported_failures() -> Iterator[None]:
    """Convert errors into Dagster's: cancelled, or failed with that message."""
    try:
        yield
    except RunCancelled as error:
        raise ToldCancellation(str(error)) from None
    except (ConfigError, TranslationsError) as error:
        raise failure_of(error) from None


def partition_keys() -> list[str]:
    """The partitions that there are now, the stems of the configs' files; others are named in a warning.

    No config is read: what is wrong in one is named by the recipes' sensor, and by a run of it.
    """
    if "gs://" in PROJECT.store.url:
        require_cluster("dagster_gcp", "Dagster with a store in a bucket")
        # Not in the thread that asks the store: this one may go on without it, and import half a module
        import dagster_gcp  # noqa: F401
    found = PROJECT.configs.partitions()
    for problem in found.problems:
        _logger.warning("Not a partition: %s", problem)
    if found.away:
        _logger.warning("The store is away; its training configs are those last known. %s", found.away)
    return list(found.states)


TRAINING_CONFIGS = dg.StaticPartitionsDefinition(partition_keys())
