"""Files of the project that `translations train` touches for a stage whose results are all there.

Needs the demo to be finished (`make demo`). Counts the files of `translations_assets` that are imported, and
those of them whose functions run; another checkout of the project can stand beside this one:

    python -m benchmarks.touched_files
    python -m benchmarks.touched_files --beside ../translations-before
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from translations_assets.common.settings import repository_root, state_folder

WORDS = ("train", "en-eo.demo", "--target", "train_vocab", "--yes")
COUNTING = """
import inspect, sys, threading
from pathlib import Path

functions = {}

def note(frame, event, argument):
    path = Path(frame.f_code.co_filename)
    if event == "call" and "translations_assets" in path.parts and path.name != "__init__.py":
        is_function = frame.f_code.co_flags & inspect.CO_OPTIMIZED  # the body of a class is none
        functions.setdefault(path, set()).add(frame.f_code.co_name if is_function else "<module>")

threading.setprofile(note)
sys.setprofile(note)
try:
    from translations_assets.cli.main import main
    main()
except SystemExit as end:
    assert not end.code, end.code
sys.setprofile(None)
print(len(functions), sum(names != {"<module>"} for names in functions.values()))
"""


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--beside", type=Path, help="another checkout to count, too")
    args = parser.parse_args()
    for root in filter(None, (args.beside, repository_root())):
        imported, run = touched(root.resolve())
        print(f"{root.name}: {imported} files imported, functions of {run} run (108 once)")


def touched(root: Path) -> tuple[int, int]:
    """The files that a checkout imports for the command, and those whose functions run."""
    environment = {"PYTHONPATH": str(root), "TRANSLATIONS_STATE": str(state_folder())}
    done = subprocess.run(
        [sys.executable, "-c", COUNTING, *WORDS],
        env={**os.environ, **environment},
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode or "nothing to run" not in done.stdout:
        sys.exit(f"{done.stdout}{done.stderr}\nIs everything cached? To make it: make demo")
    imported, run = done.stdout.split()[-2:]
    return int(imported), int(run)


if __name__ == "__main__":
    main()
