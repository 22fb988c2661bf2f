"""The sweeps that there are, in the folders `sweeps` inside those of training configs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from translations_assets.common import settings
from translations_assets.config.errors import ConfigError, Problem, suggestion
from translations_assets.config.partitions import find_configs

if TYPE_CHECKING:
    from translations_assets.config.sweep import TrainingSweep, Variant

FOLDER = "sweeps"


class VariantOf(NamedTuple):
    """A variant, its sweep and the sweep's file."""

    variant: Variant
    sweep: TrainingSweep
    file: Path


def find_sweeps() -> Iterator[tuple[Path, TrainingSweep | ConfigError]]:
    """Each sweep's file and what it holds, or what is wrong with it, by name."""
    folders = [folder / FOLDER for folder in settings.config_folders() if (folder / FOLDER).is_dir()]
    if not folders:  # nothing more is imported where there are none
        return
    try:
        files = find_configs(folders)
    except ConfigError as error:
        yield Path(error.problems[0].file), error
        return
    for path in files.values():
        try:
            status = path.stat()
            yield path, _read(path, status.st_mtime_ns, status.st_size)
        except ConfigError as error:
            yield path, error


def usable_sweeps() -> tuple[dict[str, tuple[Path, TrainingSweep]], list[Problem]]:
    """The sweeps and their files by name, and what is wrong with others."""
    sweeps, problems = dict[str, tuple[Path, "TrainingSweep"]](), list[Problem]()
    for path, found in find_sweeps():
        if isinstance(found, ConfigError):
            problems += found.problems
        else:
            sweeps[found.name] = path, found
    return sweeps, problems


def is_sweep(name: str) -> bool:
    """True if a sweep's file has this name, right or wrong."""
    return any(path.stem == name for path, _ in find_sweeps())


def find_sweep(name: str) -> TrainingSweep:
    """The sweep of a name. Raises ConfigError for one that is not there, or that is wrong."""
    known = {path.stem: found for path, found in find_sweeps()}
    found = known.get(name)
    if isinstance(found, ConfigError):
        raise found
    if found is None:
        near = suggestion(name, known) or f" There are: {', '.join(known) or 'none'}."
        folders = ", ".join(str(folder / FOLDER) for folder in settings.config_folders())
        raise ConfigError.of(f"there is no sweep {name!r} in {folders}.{near}")
    return found


def variants() -> Mapping[str, VariantOf]:
    """All variants of all sweeps, by partition key."""
    return {
        variant.partition: VariantOf(variant, sweep, path)
        for path, sweep in usable_sweeps()[0].values()
        for variant in sweep.variants
    }


@lru_cache(maxsize=256)
def _read(path: Path, modified: int, size: int) -> TrainingSweep:
    """A sweep, read again only when its file's time or size is another one."""
    from translations_assets.config.sweep import load_sweep

    return load_sweep(path)
