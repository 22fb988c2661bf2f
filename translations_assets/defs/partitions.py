"""One partition per training config; its key is the config's file stem."""

import dagster as dg

from translations_assets.defs.shared import PROJECT

TRAINING_CONFIGS = dg.StaticPartitionsDefinition(PROJECT.partitions())
