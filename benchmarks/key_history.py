"""How many scripts another key would have run again, over the history of the scripts.

    python -m benchmarks.key_history --work /tmp/key-history

A pair is a script and a commit of the main line that changed `pipeline/`, where the script was there before.
Prints the pairs, how many have another fingerprint, and how many another hash of all modules that they
import, each in normal form. Takes some minutes of a processor.
"""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Mapping
from pathlib import Path

from translations_assets.common.settings import repository_root
from translations_assets.keys.code.fingerprint import CodeBase
from translations_assets.keys.code.link import hash_of
from translations_assets.keys.code.modules import Module, Modules
from translations_assets.keys.code.reach import normal_form


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--work", required=True, type=Path, help="folder for the states of the scripts, used again"
    )
    work = parser.parse_args().work
    log = ["git", "log", "--first-parent", "--reverse", "--format=%h", "--", "pipeline/**/*.py"]
    commits = subprocess.run(
        log, cwd=repository_root(), capture_output=True, text=True, check=True
    ).stdout.split()
    states = [
        (by_symbol(root), by_module(root)) for root in (checked_out(work, commit) for commit in commits)
    ]
    for number, name in enumerate(("fingerprint", "hash of imported modules")):
        sides = [(before[number], after[number]) for before, after in zip(states, states[1:], strict=False)]
        pairs = [
            (before[script], after[script]) for before, after in sides for script in before.keys() & after
        ]
        changed = sum(before != after for before, after in pairs)
        print(f"{name}: {changed:,} of {len(pairs):,} pairs have another one, {changed / len(pairs):.2%}")


def checked_out(work: Path, commit: str) -> Path:
    """The scripts as of a commit."""
    root = work / commit
    if not root.exists():
        archive = ["git", "archive", commit, "pipeline"]
        data = subprocess.run(archive, cwd=repository_root(), capture_output=True, check=True).stdout
        root.mkdir(parents=True)
        subprocess.run(["tar", "-x", "-C", str(root)], input=data, check=True)
    return root


def scripts(root: Path) -> list[str]:
    """The names of all scripts."""
    files = (
        path
        for path in sorted(root.glob("pipeline/**/*.py"))
        if '\nif __name__ == "__main__":' in path.read_text("utf-8")
    )
    return [".".join(path.relative_to(root).with_suffix("").parts) for path in files]


def by_symbol(root: Path) -> Mapping[str, str]:
    """The scripts' fingerprints."""
    code = CodeBase(root)
    return {script: code.fingerprint(script).digest for script in scripts(root)}


def by_module(root: Path) -> Mapping[str, str]:
    """For each script a hash of all modules that it may run, in normal form."""
    modules = Modules(root)
    forms: dict[Module, str] = {}
    found: dict[str, str] = {}
    for script in scripts(root):
        run = [module for module in modules.all_run_by(modules.require(script)) if module.path]
        for module in run:
            if module not in forms:
                forms[module] = hash_of([normal_form(module)])
        found[script] = hash_of(forms[module] for module in run)
    return found


if __name__ == "__main__":
    main()
