"""The time of Dagster's command to materialize one cached asset, here and in another checkout.

Needs the demo to be finished (`make demo`).

    python -m benchmarks.one_asset
    python -m benchmarks.one_asset --beside ../translations-before

Processor seconds count, which other work on the machine does not change much. Measured in the same turns:
`dagster --version`, which imports Dagster, and `dagster asset materialize` of an asset that does nothing,
with the same instance. The latter is Dagster's own share, in a process whose garbage collector goes through
all that was imported; definitions of the project spare Dagster that, so they may take less.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.timing import BIN, seconds
from translations_assets.common.settings import repository_root, state_folder

ASSET = "train_vocab"
PARTITION = "en-eo.demo"
NOTHING = """\
import dagster as dg


@dg.asset
def nothing() -> None: ...


defs = dg.Definitions(assets=[nothing], executor=dg.in_process_executor)
"""


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--beside", type=Path, help="another checkout to measure, too, in turns")
    parser.add_argument("--runs", type=int, default=3, help="how often each")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        nothing = Path(folder) / "nothing.py"
        nothing.write_text(NOTHING)
        medians = measured(args.runs, nothing, args.beside)
    if args.beside:
        version, _, here, beside = medians
        print(f"ratio: {here / beside:.2f} (bar: 0.5)")
        print(f"ratio above `dagster --version`: {(here - version) / (beside - version):.2f}")


def measured(runs: int, nothing: Path, beside: Path | None) -> list[float]:
    """Measure each command in turns, print its seconds, and give the medians: the checkouts come last."""
    here = repository_root()
    dagster = str(BIN / "dagster")
    materialize = [dagster, "asset", "materialize"]
    whole = [*materialize, "-m", "translations_assets.definitions"]
    whole += ["--select", ASSET, "--partition", PARTITION]
    commands = {
        "dagster --version": ([dagster, "--version"], here),
        "an asset that does nothing": ([*materialize, "-f", str(nothing), "--select", "nothing"], here),
        **{str(root): (whole, root) for root in (here, beside and beside.resolve()) if root},
    }
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, (command, root) in commands.items():
            taken[name].append(cpu_seconds(command, root))
    medians = {name: statistics.median(values) for name, values in taken.items()}
    for name, values in taken.items():
        print(f"{name}: {medians[name]:.2f} s CPU (median of {[round(value, 2) for value in values]})")
    return list(medians.values())


def cpu_seconds(command: Sequence[str], root: Path) -> float:
    """Processor seconds of a command that runs in a checkout and uses its code."""
    environment = {
        "PYTHONPATH": str(root),
        "TRANSLATIONS_STATE": str(state_folder()),
        "DAGSTER_HOME": os.environ.get("DAGSTER_HOME") or str(state_folder() / "dagster"),
    }
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds(command, environment, cwd=root)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
