"""A project: training configs, their graphs, the store and the runner, put together from the settings.

The command line and Dagster's definitions both start here. Everything is made when it is first asked for: a
command that only prints a graph opens no store.
"""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Collection, Sequence
from functools import cached_property
from pathlib import Path

from translations_assets import settings
from translations_assets.config.errors import ConfigError, Problem
from translations_assets.config.load import load_config, parse_config
from translations_assets.config.partitions import SUFFIXES, find_config, find_configs, partition_key
from translations_assets.config.schema import TrainingConfig
from translations_assets.stages import STAGES
from translations_assets.steps.engine import Engine
from translations_assets.steps.errors import TranslationsError
from translations_assets.steps.graph import Graph
from translations_assets.steps.key import KeyMaker
from translations_assets.steps.protocols import Runner, Store
from translations_assets.steps.session import Session
from translations_assets.steps.stage import build_graph


class Project:
    """What the settings name. Safe for use by several threads."""

    def __init__(self) -> None:
        self.root = settings.repository_root()
        self.keys = KeyMaker(self.root)
        self._sessions: dict[tuple[str, str], Session] = {}
        self._lock = threading.RLock()

    @cached_property
    def store(self) -> Store:
        """The store that the settings name."""
        from translations_assets.store.open import open_store

        return open_store(settings.store_url())

    @cached_property
    def runner(self) -> Runner:
        """The runner: local processes that share this machine's CPU and GPU slots."""
        from translations_assets.runners.local import LocalRunner

        return LocalRunner(settings.state_folder())

    @cached_property
    def engine(self) -> Engine:
        """The engine over the store and the runner."""
        return Engine(self.store, self.runner, {"revision": revision(self.root)})

    @property
    def space(self) -> str:
        """The space of the refs. Raises TranslationsError for a name that cannot be one."""
        try:
            return settings.space()
        except ValueError as error:
            raise TranslationsError(str(error)) from error

    def partitions(self) -> tuple[list[str], list[Problem]]:
        """Partition keys, and what is wrong with files and folders that are left out.

        The keys are those of the training configs in the config folders and of those kept in the store; the
        files are not read.
        """
        files, problems = _usable_files(settings.config_folders())
        return sorted({*files, *self.store.configs()}), problems

    def read_config(self, partition: str) -> tuple[str, TrainingConfig]:
        """The partition key and training config of a key, or of a path to a YAML file, as they are now."""
        folders = settings.config_folders()
        path = _usable_files(folders)[0].get(partition)
        if path is None and not partition.endswith(SUFFIXES):
            text = self.store.configs().get(partition)
            if text is not None:
                return partition, parse_config(text, f"{partition} in the store")
        path = path or find_config(partition, folders)
        config = load_config(path)
        return partition_key(path, config), config

    def adopt(self, partition: str) -> str:
        """Keep the config of a path outside the config folders in the store; the partition key.

        Raises StoreError when the store has another config of that name: one that was trained never changes.
        """
        key, _ = self.read_config(partition)
        known = _usable_files(settings.config_folders())[0].get(key)
        path = Path(partition).expanduser()
        if partition.endswith(SUFFIXES) and (known is None or known.resolve() != path.resolve()):
            if known is not None:
                raise ConfigError.of(f"{key} is also {known}; give the file another name", partition)
            self.store.add_config(key, path.read_text(encoding="utf-8"))
        return key

    def read_graph(self, partition: str) -> Graph:
        """The graph of a partition as its config is now."""
        return build_graph(self.read_config(partition)[1], STAGES)

    def session(self, run: str, partition: str, repeat: Collection[str] = ()) -> Session:
        """The session that everything in a run shares; the config is read when it begins.

        `partition` is a key or a path to a YAML file. Stages in `repeat` run although cached.
        """
        with self._lock:
            if (run, partition) not in self._sessions:
                key, config = self.read_config(partition)
                graph = build_graph(config, STAGES)
                self._sessions[run, partition] = Session(
                    run, key, self.space, graph, self.store, self.keys, repeat
                )
            return self._sessions[run, partition]


def _usable_files(folders: Sequence[Path]) -> tuple[dict[str, Path], list[Problem]]:
    """Partition key → config file, and what is wrong with the files and folders that are left out."""
    try:
        return find_configs(folders), []
    except ConfigError as error:
        problems = error.problems
    files = [path for folder in folders for suffix in SUFFIXES for path in folder.glob(f"[!.]*{suffix}")]
    unusable = {Path(problem.file).stem for problem in problems}
    return {path.stem: path for path in files if path.is_file() and path.stem not in unusable}, problems


def revision(root: Path) -> str:
    """The checkout's commit, with `+changes` when files differ from it; empty when it is no checkout."""
    try:
        git = ["git", "-C", str(root)]
        commit = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
        status = subprocess.run([*git, "status", "--porcelain"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return commit.stdout.strip() + ("+changes" if status.stdout.strip() else "")
