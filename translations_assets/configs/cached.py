"""A cache of checked training configs and their graphs, valid while nothing changes that they depend on.

To check a config and to build its graph takes nearly as long as all else of a short command, most of it for
libraries that it then needs no more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from translations_assets.config.errors import Problem
from translations_assets.graph import written
from translations_assets.graph.graph import Graph
from translations_assets.keys.remembered import Remembered


@dataclass(frozen=True)
class KnownConfig:
    """The result of checking a valid training config and building its graph.

    partition  its key
    notes      what people should know of it
    """

    partition: str
    graph: Graph
    notes: Sequence[Problem]


class KnownConfigs:
    """A cache of training configs, for the code below a folder as it is at first use.

    folder  this user's own; holds a file for each config
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self._remembered = Remembered(root, folder)

    def get(self, *given: Any) -> KnownConfig | None:
        """Return the cached config for all that it is made from, JSON values; None when there is none."""
        value = self._remembered.get(*given)
        return _read(value) if value else None

    def add(self, known: KnownConfig, *given: Any) -> None:
        """Keep what is known of a config, unless it names files of this machine, which are checked each
        time.
        """
        if not _names_files(known.graph):
            with suppress(TypeError):  # an override that JSON cannot say, such as a date
                self._remembered.add(_written(known), *given)


def _written(known: KnownConfig) -> dict[str, Any]:
    """Convert a config to JSON values, which can be read without running any code of theirs."""
    return {
        "partition": known.partition,
        "graph": written.to_json(known.graph),
        "notes": [astuple(note) for note in known.notes],
    }


def _read(value: Mapping[str, Any]) -> KnownConfig:
    """Convert JSON values back."""
    notes = [Problem(*note) for note in value["notes"]]
    return KnownConfig(value["partition"], written.from_json(value["graph"]), notes)


def _names_files(graph: Graph) -> bool:
    """True if a graph names files of this machine by URLs; those named by paths cannot be written as JSON."""
    return any("file://" in str(value) for step in graph.steps for value in step.args.values())
