"""The comparison of a sweep of the project."""

from __future__ import annotations

from translations_assets.common.settings import state_folder
from translations_assets.keys.remembered import Remembered
from translations_assets.project import Project
from translations_assets.records.run import RunOptions
from translations_assets.sweeps.compared import Comparing
from translations_assets.sweeps.facts import SweepResults, gather, groups_of


def compare(project: Project, name: str, model: str = "") -> SweepResults:
    """A sweep's results, by its name; `model` is by default the one that users get.

    Raises ConfigError for a sweep that is not there, or is wrong; TranslationsError while no variant has a
    score.
    """
    members = project.configs.sweep(name)
    sessions = {
        partition: project.new_session("comparing", project.configs.read(partition), RunOptions(), ())
        for partition in members.partitions
    }
    comparing = Comparing(project.store, Remembered(project.keys.root, state_folder() / "sweeps"))
    groups = groups_of(members.sweep.variants, members.reference)
    some = next(iter(sessions.values()))
    return gather(name, groups, sessions, comparing, project.prices(some.machine), model)
