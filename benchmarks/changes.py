"""Plans after changes to the scripts: harmless ones run nothing, others run the steps concerned.

Each kind of harmless change is made to each script and every module that it reaches, one script at a time;
other changes are made one at a time, at places drawn with a fixed seed. The graphs of all training configs
are planned after each, over a store in which every step is finished. Takes some minutes.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.keys.changes.harmful import change, sample
from tests.keys.changes.harmless import KINDS as HARMLESS
from tests.keys.changes.mutations import KINDS as HARMFUL
from tests.keys.changes.states import SCRIPTS, Repository, shared_parsing

EACH = 20  # changes of each harmful kind
SEED = 2


def harmless(repository: Repository) -> None:
    """Print how many steps each harmless kind runs again."""
    print(f"{'harmless change':40}{'scripts':>8}{'steps planned':>15}{'that run again (bar: 0)':>25}")
    for kind, files_of in HARMLESS.items():
        changed, planned, again = files_of(), 0, 0
        for script in SCRIPTS:
            reached = set(repository.bundles[script])
            files = {
                file: text
                for file, text in changed.items()
                if file in reached or file.replace("_moved.py", ".py") in reached
            }
            statuses = list(repository.plan(files).values())
            planned += len(statuses)
            again += sum(status != "cached" for status in statuses)
        print(f"{kind:40}{len(SCRIPTS):8}{planned:15}{again:25}", flush=True)


def harmful(repository: Repository) -> None:
    """Print how many changes of each kind were overlooked, and how many concerned too many."""
    print(f"\n{'another …':40}{'changes':>8}{'run something':>15}{'unnoticed (bar: 0)':>25}{'needless':>10}")
    for kind in HARMFUL:
        changed = [change(repository, *place) for place in sample(kind, EACH, SEED)]
        counts = [sum(one.reruns for one in changed)]
        counts += [sum(bool(one.unnoticed) for one in changed), sum(bool(one.needless) for one in changed)]
        print(f"{kind:40}{len(changed):8}{counts[0]:15}{counts[1]:25}{counts[2]:10}", flush=True)
        for one in changed:
            if one.unnoticed or one.needless:
                print(f"    {one}")


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder, shared_parsing():
        repository = Repository(Path(folder))
        print(f"{len(repository.steps)} steps of {len(SCRIPTS)} scripts\n")
        harmless(repository)
        harmful(repository)


if __name__ == "__main__":
    main()
