"""The cost of a finished partition: `make demo` again, `translations plan`, Dagster's own command.

Needs the demo to be finished (`make demo`). Dagster's import alone stands beside its command, as the floor.
Then comes bare Dagster in its own storage, with as many assets and checks that do nothing
(`benchmarks.bare_dagster`), in turn with the project's: of wall-clock and processor time the ratio is told.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.timing import BIN, processor_seconds, report, seconds
from translations_assets.common.settings import repository_root, state_folder

PARTITION = "en-eo.demo"
RUNS = 5
MATERIALIZE = "dagster asset materialize --select '*'"
RATIO = 1.2


def main() -> None:
    """Print the figures."""
    translations = str(BIN / "translations")
    environment = {"DAGSTER_HOME": os.environ.get("DAGSTER_HOME") or str(state_folder() / "dagster")}
    figures = {
        "make demo, everything cached": (["make", "-C", str(repository_root()), "demo"], "15 s"),
        "translations plan, everything cached": ([translations, "plan", PARTITION], "1 s"),
        "python -c 'import dagster'": ([sys.executable, "-c", "import dagster"], "none"),
    }
    for name, (command, bar) in figures.items():
        report(name, [seconds(command, environment, cwd=repository_root()) for _ in range(RUNS)], bar)
    _compare(environment)


def _compare(environment: Mapping[str, str]) -> None:
    """Print what the command takes for the project's assets, and for bare ones, in turn."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
        of_bare = {"DAGSTER_HOME": folder, "BARE": json.dumps(_graph()), "BARE_PARTITION": PARTITION}
        own, bare = _materialize("translations_assets.definitions"), _materialize("benchmarks.bare_dagster")
        seconds(bare, of_bare, cwd=repository_root())  # makes the databases
        times = [(_both(own, environment), _both(bare, of_bare)) for _ in range(RUNS)]
    for index, kind in enumerate(("", ", processors")):
        ours, theirs = [one[index] for one, _ in times], [other[index] for _, other in times]
        report(f"{MATERIALIZE}, everything cached{kind}", ours, "12 s")
        report(f"bare Dagster with as many assets and checks{kind}", theirs, "none")
        ratio = statistics.median(ours) / statistics.median(theirs)
        print(f"the first in terms of the second{kind}: {ratio:.2f} (bar: {RATIO})")


def _materialize(module: str) -> list[str]:
    command = [str(BIN / "dagster"), "asset", "materialize", "-m", module]
    return [*command, "--select", "*", "--partition", PARTITION]


def _both(command: Sequence[str], environment: Mapping[str, str]) -> tuple[float, float]:
    """Wall-clock and processor seconds."""
    before = processor_seconds()
    wall = seconds(command, environment, cwd=repository_root())
    return wall, processor_seconds() - before


def _graph() -> dict[str, tuple[list[str], int]]:
    """Asset → its upstream assets and how many checks it has, of all that can be materialized."""
    from translations_assets.definitions import defs

    graph = defs.resolve_asset_graph()
    made, checks = graph.materializable_asset_keys, graph.asset_check_keys
    return {
        key.to_user_string(): (
            sorted(other.to_user_string() for other in graph.get(key).parent_keys & made),
            sum(check.asset_key == key for check in checks),
        )
        for key in sorted(made)
    }


if __name__ == "__main__":
    main()
