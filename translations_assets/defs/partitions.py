"""One partition per training config; its key is the config's file stem."""

import logging

import dagster as dg

from translations_assets.defs.shared import PROJECT

_logger = logging.getLogger(__name__)


def partition_keys() -> list[str]:
    """The partitions that there are now; a file that cannot be one is named in a warning.

    No config is read: what is wrong in one is named by the recipes' sensor, and by a run of it.
    """
    if "gs://" in PROJECT.store.url:
        # Not in the thread that asks the store: this one may go on without it, and import half a module
        import dagster_gcp  # noqa: F401
    found = PROJECT.partitions()
    for problem in found.problems:
        _logger.warning("Not a partition: %s", problem)
    if found.away:
        _logger.warning("The store is away; its training configs are those last known. %s", found.away)
    return list(found.states)


TRAINING_CONFIGS = dg.StaticPartitionsDefinition(partition_keys())
