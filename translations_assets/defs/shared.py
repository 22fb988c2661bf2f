"""What all definitions share: the project that the settings name."""

from translations_assets.project import Project
from translations_assets.steps.engine import Listener

PROJECT = Project()
LISTENERS: list[Listener] = []  # what else in this process follows all steps: the command line's progress
PARTITION_TAG = "dagster/partition"
