"""Partitions: the training configs in the config folders. A key is the file's name without `.yml`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from translations_assets.config.errors import ConfigError, Problem, suggestion

if TYPE_CHECKING:
    from translations_assets.config.schema import TrainingConfig

SUFFIXES = (".yml", ".yaml")
_KEY = re.compile(r"(?!.*\.\.\.)[A-Za-z0-9][A-Za-z0-9._-]*")  # Dagster writes ranges of keys with `...`
OF_A_KEY = "letters, digits, '.', '_' and '-', without '...'"


def is_key(name: str) -> bool:
    """True if a partition can have a name: of training configs, their variants, or sweeps."""
    return bool(_KEY.fullmatch(name))


def find_configs(folders: Iterable[Path]) -> dict[str, Path]:
    """The config files in the folders themselves (not in folders inside them), sorted by partition key.

    The files are not read. Raises ConfigError for a folder that is not there, a file name that cannot be a
    partition key, and two files with one key.
    """
    found: dict[str, Path] = {}
    problems: list[Problem] = []
    for path in (path for folder in folders for path in _files(folder)):
        if not is_key(path.stem):
            message = f"the name of a config must consist of {OF_A_KEY}; rename the file"
            problems.append(Problem(message, str(path)))
        elif path.stem in found:
            message = f"the partition {path.stem!r} is also defined by {found[path.stem]}; rename one of them"
            problems.append(Problem(message, str(path)))
        found.setdefault(path.stem, path)
    if problems:
        raise ConfigError(problems)
    return dict(sorted(found.items()))


def find_config(partition_or_path: str, folders: Sequence[Path]) -> Path:
    """The file of a partition key, or the path itself when it is one of a YAML file.

    Raises ConfigError, with the nearest key, when there is no such config.
    """
    if partition_or_path.endswith(SUFFIXES):
        path = Path(partition_or_path).expanduser()
        if path.is_file():
            return path
        message = "is a folder, not a YAML file" if path.is_dir() else "there is no such file"
        raise ConfigError.of(message, str(path))
    configs = find_configs(folders)
    if partition_or_path in configs:
        return configs[partition_or_path]
    searched = ", ".join(map(str, folders))
    near = suggestion(partition_or_path, configs) or f" There are: {', '.join(configs) or 'none'}."
    raise ConfigError.of(
        f"there is no training config {partition_or_path!r} in {searched}.{near} "
        "A path to a YAML file can be given too."
    )


def partition_key(path: Path, config: TrainingConfig) -> str:
    """The partition key of a config file. Raises ConfigError unless it begins with the language pair."""
    key = fitting_key(path, config.pair)
    if key != path.stem:
        raise ConfigError.of(
            f"the file's name must be the language pair {config.pair!r}, alone or with a '.' and a name "
            f"behind it; rename it, for example {key}{path.suffix}, or give its path to `translations train`",
            str(path),
        )
    return key


def fitting_key(path: Path, pair: str) -> str:
    """The file's name if it can be a partition key of the language pair, else the nearest name that can.

    en-ru.spring.yml → en-ru.spring    en-ru-spring.yml → en-ru.spring    my config.yml → en-ru.my-config
    """
    name = path.stem
    rest = name.removeprefix(pair)
    if rest != name and (not rest or rest.startswith(".")) and is_key(name):
        return name
    rest = re.sub(r"[^A-Za-z0-9._-]+", "-", name if rest[:1].isalnum() else rest).strip("._-")
    rest = re.sub(r"\.{3,}", ".", rest)
    return f"{pair}.{rest}" if rest else pair


def name_note(path: Path, values: Mapping[str, Any]) -> list[Problem]:
    """Note, from the file's values, that a config file's name cannot be a partition."""
    from translations_assets.config.datasets import pair_of

    src, trg = pair_of(values)
    if src is None or trg is None:  # reported by the schema
        return []
    key = fitting_key(path, f"{src.code}-{trg.code}")
    if key == path.stem:
        return []
    message = (
        f"a partition cannot have the file's name; given by its path, it is planned and trained as {key}. "
        f"In a folder of configs it must be named so: {key}{path.suffix}"
    )
    return [Problem(message, str(path))]


def _files(folder: Path) -> list[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        message = f"the folder of training configs cannot be read: {error.strerror}"
        raise ConfigError.of(message, str(folder)) from error
    return [
        path
        for path in entries
        if path.suffix in SUFFIXES and path.is_file() and not path.name.startswith(".")
    ]
