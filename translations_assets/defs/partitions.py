"""One partition per training config; its key is the config's file stem."""

import logging

import dagster as dg

from translations_assets.config.errors import ConfigError
from translations_assets.defs.shared import PROJECT
from translations_assets.errors import TranslationsError

_logger = logging.getLogger(__name__)


def partition_keys() -> list[str]:
    """The partitions that there are now; a file that cannot be one is told of and stops no other."""
    keys, problems = PROJECT.partitions()
    for problem in problems:
        _logger.warning("Not a partition: %s", problem)
    for key in keys:
        try:
            PROJECT.read_graph(key)
        except (ConfigError, TranslationsError) as error:
            _logger.warning("The partition %s cannot run: %s", key, error)
    return keys


TRAINING_CONFIGS = dg.StaticPartitionsDefinition(partition_keys())
