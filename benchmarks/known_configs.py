"""Time saved by cached training configs: 150 are parsed and built, stored, and read again.

    python -m benchmarks.known_configs
    python -m benchmarks.known_configs --configs 145 ../translations/configs/*.yml

Configs are copied under so many names; one of the repository's own by default. Prints processor seconds of
one process, which has imported all that it needs, and the bytes that are kept.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.many_configs import copies
from translations_assets.common.settings import repository_root
from translations_assets.project import Project

ROUNDS = 5


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = repository_root() / "configs" / "en-ru.sample.yml"
    parser.add_argument("files", nargs="*", type=Path, default=[default], help="the configs that are copied")
    parser.add_argument("--configs", type=int, default=150, help="how many to make of them")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {
            "TRANSLATIONS_STATE": f"{folder}/state",
            "TRANSLATIONS_CONFIGS": f"{folder}/configs",
            "TRANSLATIONS_FILES": "/",
        }
        names = copies(args.files, args.configs, Path(folder, "configs"))
        read_all(names[:1])  # imports what reading one needs
        first = cpu_seconds(lambda: read_all(names))
        again = min(cpu_seconds(lambda: read_all(names)) for _ in range(ROUNDS))
        kept = [path.stat().st_size for path in Path(folder, "state", "configs").iterdir()]
    print(f"{len(names)} configs, parsed, built and kept: {first:.2f} s")
    print(f"read again: {again:.2f} s, {1000 * again / len(names):.1f} ms each, the best of {ROUNDS} rounds")
    print(f"{len(kept)} files, {sum(kept) / max(len(kept), 1) / 1e3:.0f} kB each")


def read_all(names: Sequence[str]) -> None:
    """Read configs as one process does that has just been started."""
    configs = Project().configs
    for name in names:
        configs.read(name)


def cpu_seconds(act: Callable[[], None]) -> float:
    """Processor seconds that something takes."""
    before = time.process_time()
    act()
    return time.process_time() - before


if __name__ == "__main__":
    main()
