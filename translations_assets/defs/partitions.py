"""One partition per training config; its key is the config's file stem."""

import logging

import dagster as dg

from translations_assets.defs.shared import PROJECT

_logger = logging.getLogger(__name__)


def partition_keys() -> list[str]:
    """The partitions that there are now; a file that cannot be one is named in a warning.

    No config is read: what is wrong in one is named by the recipes' sensor, and by a run of it.
    """
    keys, problems = PROJECT.partitions()
    for problem in problems:
        _logger.warning("Not a partition: %s", problem)
    return keys


TRAINING_CONFIGS = dg.StaticPartitionsDefinition(partition_keys())
