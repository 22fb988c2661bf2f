"""What Dagster's command takes to materialize one asset whose result is there, here and in another checkout.

Needs the demo to be finished (`make demo`).

    python -m benchmarks.one_asset
    python -m benchmarks.one_asset --beside ../translations-before

Processor seconds count, which other work on the machine does not change much. Beside them stand those of
`dagster --version`, which imports Dagster.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
from collections.abc import Sequence
from pathlib import Path

from benchmarks.timing import BIN, seconds
from translations_assets.settings import repository_root, state_folder

ASSET = "train_vocab"
PARTITION = "en-eo.demo"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--beside", type=Path, help="another checkout to measure, too, in turns")
    parser.add_argument("--runs", type=int, default=3, help="how often each")
    args = parser.parse_args()
    dagster = str(BIN / "dagster")
    materialize = [dagster, "asset", "materialize", "-m", "translations_assets.definitions"]
    materialize += ["--select", ASSET, "--partition", PARTITION]
    roots = [root.resolve() for root in filter(None, (repository_root(), args.beside))]
    taken: dict[Path, list[float]] = {root: [] for root in roots}
    for _ in range(args.runs):
        for root in roots:
            taken[root].append(cpu_seconds(materialize, root))
    floor = cpu_seconds([dagster, "--version"], roots[0])
    for root, values in taken.items():
        print(
            f"{root.name}: {statistics.median(values):.2f} s CPU (median of {[round(v, 2) for v in values]})"
        )
    print(f"dagster --version: {floor:.2f} s CPU")
    if args.beside:
        here, beside = (statistics.median(values) for values in taken.values())
        print(f"ratio: {here / beside:.2f} (bar: 0.5)")


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
