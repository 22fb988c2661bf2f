"""The training configs that there are: found, read, remembered and kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from translations_assets.common import settings
from translations_assets.config.errors import ConfigError, Problem
from translations_assets.config.partitions import (
    OF_A_KEY,
    SUFFIXES,
    find_config,
    find_configs,
    fitting_key,
    is_key,
    partition_key,
)
from translations_assets.config.text import read_text
from translations_assets.configs.cached import KnownConfig, KnownConfigs
from translations_assets.configs.sweeps import VariantOf, find_sweep, usable_sweeps, variants
from translations_assets.graph.graph import Graph
from translations_assets.keys.local_files import FileDigests
from translations_assets.running.protocols import Store

if TYPE_CHECKING:
    from translations_assets.config.load import Check
    from translations_assets.config.schema import TrainingConfig
    from translations_assets.config.sweep import TrainingSweep
    from translations_assets.config.yaml_reader import KeyPath

_NOT_KEPT = f"the name of a config must consist of {OF_A_KEY}; keep it under another name"


@dataclass(frozen=True)
class ReadConfig(KnownConfig):
    """A training config as one reading of it found it, and what is known of it.

    given   the key or the path by which it was asked for
    source  its file, or what it is called
    parse   gives its values, with the overrides that were asked for
    """

    given: str
    text: str
    source: Path | str
    parse: Callable[[], TrainingConfig]

    @cached_property
    def config(self) -> TrainingConfig:
        """Its values."""
        return self.parse()


class Partitions(NamedTuple):
    """The training configs that there are.

    states    partition key → something that changes when the config does
    problems  what is wrong with files and folders that are left out
    away      why the store cannot be asked: its configs are those last known; "" when it was asked
    """

    states: Mapping[str, str]
    problems: list[Problem]
    away: str


class Members(NamedTuple):
    """The partitions of a sweep.

    reference   those that others are compared with: variants as the base is, or the base itself where none is
    partitions  all of them, the reference among them
    """

    sweep: TrainingSweep
    reference: tuple[str, ...]
    partitions: tuple[str, ...]


class TrainingConfigs:
    """Training configs in the config folders and in the store. Safe for use by several threads."""

    def __init__(
        self,
        root: Path,
        files: FileDigests,
        store: Callable[[], Store],
        file_folders: Callable[[], Sequence[str]],
        steps_run_here: Callable[[], bool],
    ) -> None:
        """Nothing is read yet; store and folders are asked for when they are needed.

        root            the repository
        files           files of one's own whose digests are known
        file_folders    the folders in which files of configs may stand where steps run
        steps_run_here  whether steps run on this machine, with its libraries
        """
        self._known = KnownConfigs(root, settings.state_folder() / "configs")
        self._files, self._store, self._file_folders = files, store, file_folders
        self._steps_run_here = steps_run_here

    def partitions(self) -> Partitions:
        """The training configs and the variants of sweeps in the config folders, and those kept in the store;
        no training config is read.
        """
        from translations_assets.configs.stored import kept_configs

        files, problems = _usable_files()
        kept = kept_configs(self._store(), settings.state_folder())
        problems += [Problem(_NOT_KEPT, f"{name!r} in the store") for name in kept.names if not is_key(name)]
        states = dict.fromkeys(filter(is_key, kept.names), "kept in the store")
        states |= {key: _state(path) for key, path in files.items()}
        sweeps, wrong = usable_sweeps()
        for path, sweep in sweeps.values():
            state = f"{_state(path)} {states.get(sweep.file.base, '')}"
            states |= {variant.partition: state for variant in sweep.variants}
        return Partitions(dict(sorted(states.items())), [*problems, *wrong], kept.away)

    def read(self, partition: str, overrides: Mapping[str, Any] | None = None) -> ReadConfig:
        """The training config of a key, or of a path to a YAML file, as it is now, with some keys overridden.

        A path need not end in a name that can be a key: one is made from it. Raises ConfigError.

        project.read("my config.yml", {"experiment.spm-vocab-size": 8000}).partition == "en-ru.my-config"
        """
        text, source = self.text(partition)
        given = partition, text, str(source), [*(overrides or {}).items()]

        def overridden(config: TrainingConfig) -> TrainingConfig:
            from translations_assets.config.load import apply_overrides

            return apply_overrides(config, overrides, self._check(source)) if overrides else config

        def read(known: KnownConfig, parse: Callable[[], TrainingConfig]) -> ReadConfig:
            return ReadConfig(known.partition, known.graph, known.notes, partition, text, source, parse)

        if known := self._known.get(*given):
            return read(known, lambda: overridden(self.parse(text, source)))
        from translations_assets.config.load import config_notes

        config = self.parse(text, source)
        key = partition
        if isinstance(source, Path):
            given_by_path = partition.endswith(SUFFIXES)
            key = fitting_key(source, config.pair) if given_by_path else partition_key(source, config)
        changed = overridden(config)
        known = KnownConfig(key, graph_of(changed), config_notes(text, source))
        self._known.add(known, *given)
        return read(known, lambda: changed)

    def parse(self, text: str, source: Path | str) -> TrainingConfig:
        """A training config, whose files may be read where its steps run, or here. Raises ConfigError."""
        from translations_assets.config.load import parse_config

        return parse_config(text, source, self._check(source))

    def _check(self, source: Path | str) -> Check:
        """The check of what a config from a source names of this machine: its files and dictionaries."""
        from translations_assets.config.dictionaries import check_dictionaries
        from translations_assets.config.sources import Readable, check_files, check_paths

        folders = self._file_folders()
        own = [str(source.parent)] if isinstance(source, Path) else []
        keys = settings.credentials(os.environ)
        readable = Readable([*settings.file_folders(), *own], keys, self._files.is_known)

        def problems(values: dict[str, Any]) -> Iterator[tuple[KeyPath, str]]:
            yield from check_files(values, folders)
            yield from check_paths(values, readable)
            if self._steps_run_here():
                yield from check_dictionaries(values)

        return problems

    def text(self, partition: str) -> tuple[str, Path | str]:
        """The text of a training config, given by key or path, and its file or what it is called."""
        path = _usable_files()[0].get(partition)
        if path is None and not partition.endswith(SUFFIXES):
            if found := variants().get(partition):
                return self._varied(found), f"{found.file} ({partition})"
            text = self._store().config(partition)
            if text is not None:
                return text, f"{partition} in the store"
        path = path or find_config(partition, settings.config_folders())
        return read_text(path), path

    def sweep(self, name: str) -> Members:
        """The partitions of a sweep. Raises ConfigError for a sweep that is not there, or is wrong."""
        from translations_assets.configs.varied import base_setting

        sweep = find_sweep(name)
        own = base_setting(*self.text(sweep.file.base), sweep)
        partitions = tuple(variant.partition for variant in sweep.variants)
        alike = tuple(variant.partition for variant in sweep.variants if variant.setting == own)
        return Members(
            sweep, alike or (sweep.file.base,), partitions if alike else (sweep.file.base, *partitions)
        )

    def _varied(self, found: VariantOf) -> str:
        """The text of a variant's training config. Raises ConfigError for a base or values that are none."""
        from translations_assets.configs.varied import varied

        base = found.sweep.file.base
        if base in variants():
            raise ConfigError.of(f"{base} is a variant; give a training config of its own", str(found.file))
        text, source = self.text(base)
        return varied(text, source, found.variant, str(found.file))

    def adopt(self, read: ReadConfig) -> None:
        """Keep a config from outside the config folders in the store, its relative paths written out.

        Raises StoreError when the store has another config of that name: one that was trained never changes.
        """
        known = _usable_files()[0].get(read.partition)
        if isinstance(read.source, Path) and (known is None or known.resolve() != read.source.resolve()):
            if known is not None:
                message = f"{read.partition} is also {known}; give the file another name"
                raise ConfigError.of(message, str(read.source))
            from translations_assets.config.migrate import located

            self._keep(read.partition, located(read.text, read.source).replace("\r\n", "\n"))

    def keep(self, text: str, name: str = "") -> str:
        """Keep a pasted training config in the store, as an experiment of its pair; the partition key.

        `name` is by default the experiment's own. Raises ConfigError with all that is wrong with the config,
        StoreError when the store has another one of that name.
        """
        source = "the pasted config"
        config = self.parse(text, source)
        graph_of(config)
        key = partition_key(Path(f"{config.pair}.{name or config.experiment.name}.yml"), config)
        known = _usable_files()[0].get(key)
        if known is not None:
            raise ConfigError.of(f"{key} is also {known}; give it another name", source)
        self._keep(key, text)
        return key

    def _keep(self, key: str, text: str) -> None:
        from translations_assets.configs.stored import remember

        self._store().add_config(key, text)
        remember(self._store(), settings.state_folder(), key)


def _state(path: Path) -> str:
    status = path.stat()
    return f"{path} {status.st_mtime_ns} {status.st_size}"


def graph_of(config: TrainingConfig) -> Graph:
    """The graph of a training config's steps. Raises GraphError."""
    from translations_assets.graph.stage import build_graph
    from translations_assets.stages import STAGES

    return build_graph(config, STAGES)


def _usable_files() -> tuple[dict[str, Path], list[Problem]]:
    """Partition key → config file, and what is wrong with the files and folders that are left out."""
    folders = settings.config_folders()
    try:
        return find_configs(folders), []
    except ConfigError as error:
        problems = error.problems
    files = [path for folder in folders for suffix in SUFFIXES for path in folder.glob(f"[!.]*{suffix}")]
    unusable = {Path(problem.file).stem for problem in problems}
    return {path.stem: path for path in files if path.is_file() and path.stem not in unusable}, problems
