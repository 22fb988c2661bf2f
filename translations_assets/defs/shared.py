"""What all definitions share: the project that the settings name."""

from translations_assets.project import Project

PROJECT = Project()
PARTITION_TAG = "dagster/partition"
REPEAT_TAG = "translations/repeat"  # stages that run although cached, separated by commas
