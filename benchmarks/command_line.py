"""The start of the command line, beside the import of its two libraries.

Needs the demo to be finished (`make demo`). In turns, so that what else the machine does strikes all alike.
Typer reads words with Pydantic, which takes as long as the two libraries: a command that does nothing with
an argument stands beside them, too.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Mapping, Sequence

from benchmarks.timing import BIN
from benchmarks.timing import seconds as seconds_of
from translations_assets.common.settings import repository_root

PARTITION = "en-eo.demo"
RUNS = 11
LIBRARIES = "python -c 'import typer, rich'"
NOTHING = (sys.executable, "-c", "import typer\ndef nothing(word: str): ...\ntyper.run(nothing)")
# As people have it: what is imported stays compiled
_COMPILED = {"PYTHONDONTWRITEBYTECODE": ""}
_COMPLETE = {"_TRANSLATIONS_COMPLETE": "complete_bash", "COMP_CWORD": "2"}


def main() -> None:
    """Print each command's median, and how many times that of the libraries it is."""
    translations = str(BIN / "translations")
    commands: Mapping[str, tuple[Sequence[str], Mapping[str, str], str]] = {
        LIBRARIES: ([sys.executable, "-c", "import typer, rich"], {}, ""),
        "a Typer command that does nothing with one argument": ([*NOTHING, "word"], {}, "none"),
        "translations --help": ([translations, "--help"], {}, "1.5 ×"),
        f"translations plan {PARTITION}, everything cached": ([translations, "plan", PARTITION], {}, "3 ×"),
        "translations plan en-<Tab>": (
            [translations],
            {**_COMPLETE, "COMP_WORDS": "translations plan en-"},
            "none",
        ),
    }
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(RUNS):
        for name, (command, environment, _) in commands.items():
            seconds[name].append(seconds_of(command, {**_COMPILED, **environment}, repository_root()))
    least = statistics.median(seconds[LIBRARIES])
    for name, (_, _, bar) in commands.items():
        median = statistics.median(seconds[name])
        times = f", {median / least:.2f} × (bar: {bar})" if bar else ""
        print(f"{name}: {median:.3f} s, the median of {RUNS} runs{times}")


if __name__ == "__main__":
    main()
