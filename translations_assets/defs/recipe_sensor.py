"""The sensor that observes recipes, of the training configs and the code that have changed.

What it has seen stands in its cursor: for each partition the state of config and code, and what is wrong with
the config. So a tick without a change reads no config and asks no event log, also after a restart.
"""

import json
import time
from pathlib import Path
from typing import NamedTuple

import dagster as dg

from translations_assets.config.errors import ConfigError
from translations_assets.defs.partitions import TRAINING_CONFIGS
from translations_assets.defs.recipes import observe_recipes, observed_versions
from translations_assets.defs.shared import PROJECT
from translations_assets.errors import StoreUnreachable, TranslationsError
from translations_assets.keys.key import KeyMaker
from translations_assets.records.canonical import json_digest
from translations_assets.stages import ASSETS

SENSOR_SECONDS = 30
WORK_SECONDS = 25.0  # of one tick; the next one goes on, and Dagster ends a tick at 60 s


def file_state(*folders: Path) -> dict[str, str]:
    """Path → time of change and size, of all files below folders but Python's caches."""
    files = (path for folder in folders for path in folder.rglob("*") if "__pycache__" not in path.parts)
    found = {path: path.stat() for path in files if path.is_file()}
    return {str(path): f"{status.st_mtime_ns} {status.st_size}" for path, status in found.items()}


# What graphs are built by; a process that has loaded it cannot follow when it changes.
_BUILDERS = [Path(__file__).parents[1] / name for name in ("config", "stages", "graph", "records", "keys")]
_LOADED = file_state(*_BUILDERS)


class Seen(NamedTuple):
    """The state in which a partition's recipes were observed, and why they could not be; "" if they were."""

    state: str
    problem: str


class CurrentKeys:
    """Keys of the code as it is at the moment: made again when a file of it has changed."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._keys: KeyMaker | None = None
        self.state = ""

    def get(self) -> KeyMaker:
        """The keys of the code as it is now; `state` then stands for that code and for what builds graphs."""
        code = file_state(self._root / "pipeline", self._root / "requirements")
        state = json_digest([code, _LOADED])
        if self._keys is None or state != self.state:
            self._keys, self.state = KeyMaker(self._root), state
        return self._keys


_KEYS = CurrentKeys(PROJECT.root)


@dg.sensor(
    name="recipes",
    minimum_interval_seconds=SENSOR_SECONDS,
    default_status=dg.DefaultSensorStatus.RUNNING,
)
def recipes_sensor(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Observes recipes of what has changed, so that the UI shows as stale what a change concerns.

    The tick fails while the store is away: the UI shows that in red, with the reason.
    """
    if file_state(*_BUILDERS) != _LOADED:
        return dg.SkipReason("The code that builds graphs has changed. Reload the code location.")
    found = PROJECT.partitions()
    if found.away:
        raise StoreUnreachable(
            f"The store is away. Runs wait for it, and what is stale is not known meanwhile. {found.away}"
        )
    loaded = TRAINING_CONFIGS.get_partition_keys()
    keys = _KEYS.get()
    states = {key: json_digest([found.states.get(key), _KEYS.state]) for key in loaded}
    seen = {key: Seen(*known) for key, known in json.loads(context.cursor or "{}").items() if key in states}
    changed = [key for key in loaded if key not in seen or seen[key].state != states[key]]
    reported = _observe(context.instance, changed, states, keys, seen)
    context.update_cursor(json.dumps(seen))
    return dg.SkipReason("\n".join(_lines(reported, changed, states, seen, found.states.keys() - states)))


def _observe(
    instance: dg.DagsterInstance,
    changed: list[str],
    states: dict[str, str],
    keys: KeyMaker,
    seen: dict[str, Seen],
) -> int:
    """Observe recipes for as long as a tick may take, and note what was seen; how many were reported."""
    end, reported = time.monotonic() + WORK_SECONDS, 0
    observed = observed_versions(instance, ASSETS, changed) if changed else {}
    for partition in changed:
        if time.monotonic() > end:
            break
        problem = ""
        try:
            read = PROJECT.read(partition)
            reported += observe_recipes(instance, PROJECT, read, keys, observed=observed[partition])
        except StoreUnreachable:
            raise
        except (ConfigError, TranslationsError) as error:
            problem = f"{partition}: {error}"
        seen[partition] = Seen(states[partition], problem)
    return reported


def _lines(
    reported: int, changed: list[str], states: dict[str, str], seen: dict[str, Seen], new: set[str]
) -> list[str]:
    """What a tick has found, for people."""
    left = [key for key in changed if key not in seen or seen[key].state != states[key]]
    lines = [f"{reported} recipes changed"]
    if left:
        lines.append(f"{len(left)} of {len(states)} training configs are left for the next tick")
    if new:
        lines.append(f"New training configs: {', '.join(sorted(new))}. Reload the code location to see them.")
    return [*lines, *(known.problem for known in seen.values() if known.problem)]


def sensors() -> dg.Definitions:
    """The sensor of the recipes."""
    return dg.Definitions(sensors=[recipes_sensor])
