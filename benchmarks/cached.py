"""What a finished partition costs: `make demo` again, `translations plan`, Dagster's own command.

Needs the demo to be finished (`make demo`). Dagster's import alone stands beside its command, as the floor.
"""

from __future__ import annotations

import os
import sys

from benchmarks.timing import BIN, report, seconds
from translations_assets.settings import repository_root, state_folder

PARTITION = "en-eo.demo"
RUNS = 5


def main() -> None:
    """Print the figures."""
    translations = str(BIN / "translations")
    root = repository_root()
    environment = {"DAGSTER_HOME": os.environ.get("DAGSTER_HOME") or str(state_folder() / "dagster")}
    materialize = [str(BIN / "dagster"), "asset", "materialize", "-m", "translations_assets.definitions"]
    materialize += ["--select", "*", "--partition", PARTITION]
    figures = {
        "make demo, everything cached": (["make", "-C", str(root), "demo"], "15 s"),
        "translations plan, everything cached": ([translations, "plan", PARTITION], "1 s"),
        "python -c 'import dagster'": ([sys.executable, "-c", "import dagster"], "none"),
        "dagster asset materialize --select '*', everything cached": (materialize, "12 s"),
    }
    for name, (command, bar) in figures.items():
        report(name, [seconds(command, environment, cwd=root) for _ in range(RUNS)], bar)


if __name__ == "__main__":
    main()
