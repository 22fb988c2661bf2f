"""All repeatable steps of the demo, made again in another place: are their bytes the same?

    python -m benchmarks.remake [--python FILE]

Trains the demo where it is not there yet. Then every repeatable step is made again in another folder, with
three threads, another umask and another locale, and with another environment's interpreter, if one is given.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

DEMO = "en-eo.demo"
THREADS, UMASK, LOCALE = "3", "077", "tr_TR.UTF-8"


def main() -> None:
    """Print the figures; the exit code is 1 when a step has other bytes, or cannot be made."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", help="interpreter of another environment with the same libraries")
    args = parser.parse_args()
    subprocess.run([_program(), "train", DEMO, "--yes"], check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory(prefix="remake.") as folder:
        begun = time.monotonic()
        told = remade(Path(folder), *(["--python", args.python] if args.python else []))
    seconds = time.monotonic() - begun
    wrong = [step for step in told["steps"] if not step["same"]]
    for stage, number in sorted(Counter(step["stage"] for step in told["steps"]).items()):
        print(f"{stage:32}{number:>4} made again")
    for step in wrong:
        print(f"{step['label']}: {step['failed'] or step['different']}")
    print(
        f"{len(told['steps']) - len(wrong)} of {len(told['steps'])} steps have the same bytes "
        f"({told['repeatable']} are repeatable, {len(told['left_out'])} left out); {seconds / 60:.1f} minutes"
    )
    sys.exit(bool(wrong))


def remade(folder: Path, *options: str) -> dict[str, Any]:
    """Make all again in a folder: what the command tells."""
    where = ("--folder", str(folder), "--threads", THREADS, "--umask", UMASK, "--locale", LOCALE)
    command = [_program(), "cache", "verify", "--remake", "100%", "--json", *where, *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if not done.stdout:
        sys.exit(done.returncode or 1)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def _program() -> str:
    return str(Path(sys.executable).parent / "translations")


if __name__ == "__main__":
    main()
