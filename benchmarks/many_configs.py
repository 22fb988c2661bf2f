"""The cost of 150 training configs: ticks of the recipes' sensor, a plan with everything cached, all pairs.

    python -m benchmarks.many_configs
    python -m benchmarks.many_configs --configs 145 ../translations/configs/*.yml

Configs are copied under so many names; one of the repository's own by default. Their results are made up.
Prints wall-clock seconds and, as other work slows a machine, processor seconds.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import tempfile
import threading
import time
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

from benchmarks.timing import BIN, seconds
from tests.defs.runner import MadeUpRunner
from tests.ui.test_web_server import GUARDED, serving
from translations_assets.common.settings import repository_root
from translations_assets.config.load import load_config
from translations_assets.instance.server import PAIRS

SCRIPT, OLD, NEW = "pipeline/train/vocab.py", "THREADS = 16", "THREADS = 15"


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
        place = Path(folder)
        names = copies(args.files, args.configs, place / "configs")
        for name in ("STORE", "STORE_BASE", "DEPLOYMENT"):
            os.environ.pop(f"TRANSLATIONS_{name}", None)
        os.environ |= {
            "TRANSLATIONS_STATE": str(place / "state"),
            "TRANSLATIONS_CONFIGS": str(place / "configs"),
            "TRANSLATIONS_SPACE": "benchmark",
            "TRANSLATIONS_FILES": "/",
            "DAGSTER_HOME": str(place / "dagster"),
        }
        ticks(place)
        plan(place, names[: len(args.files)])
        pairs(place, names)


def copies(files: Sequence[Path], number: int, folder: Path) -> list[str]:
    """Copy configs under so many names, the first ones one each; the names."""
    folder.mkdir()
    names = []
    for count, file in enumerate(islice(cycle(files), number)):
        experiment = load_config(file).experiment
        names.append(f"{experiment.src}-{experiment.trg}.copy{count:03}")
        shutil.copyfile(file, folder / f"{names[-1]}.yml")
    return names


def ticks(place: Path) -> None:
    """Tick the sensor: at first, without a change, after a change of one config, and of one script."""
    import dagster as dg

    from translations_assets.defs import recipes
    from translations_assets.instance.home import prepare

    for name in ("pipeline", "requirements"):
        shutil.copytree(repository_root() / name, place / "code" / name)
    setattr(recipes, "_KEYS", recipes.CurrentKeys(place / "code"))  # noqa: B010
    prepare(place / "dagster")
    with dg.DagsterInstance.from_config(str(place / "dagster")) as instance:
        cursor: str | None = None

        def tick(name: str, bar: str) -> bool:
            """Run a tick; true if something is left for the next one."""
            nonlocal cursor
            with dg.build_sensor_context(instance, cursor=cursor) as context, Measured(name, bar) as measured:
                skip = recipes.recipes_sensor(context)
                cursor = context.cursor
                assert isinstance(skip, dg.SkipReason)
                measured.told = str(skip.skip_message)
            return "left for the next" in measured.told

        while tick("a first tick", "60 s"):
            pass
        tick("a tick without a change", "1 s")
        file = min((place / "configs").iterdir())
        file.write_text(file.read_text() + "# a comment\n")
        tick("a tick after a change of one config", "none")
        script = place / "code" / SCRIPT
        assert OLD in script.read_text()
        script.write_text(script.read_text().replace(OLD, NEW))
        tick("a tick after a change of one script", "10 s")


def plan(place: Path, made: Sequence[str]) -> None:
    """Make results of these partitions up, which are those of their copies, and plan all."""
    from translations_assets.project import this_project

    project = this_project()
    project.__dict__["runner"] = MadeUpRunner()
    for partition in made:
        session = project.session("made-up", partition)
        for steps in session.graph.stages.values():
            project.engine.run(session, steps, threading.Event(), lambda event: None)
    with Measured("translations plan --all", "30 s") as measured:
        seconds([str(BIN / "translations"), "plan", "--all"], {}, cwd=place)
        measured.told = "everything cached"


def pairs(place: Path, names: Sequence[str]) -> None:
    """Give each config a run that has ended; then show all pairs, first with nothing remembered of them."""
    from translations_assets.project import this_project

    project = this_project()
    for name in names:
        session = project.session(f"run-{name}", name)
        for steps in session.graph.stages.values():
            project.engine.run(session, steps, threading.Event(), lambda event: None)
        session.end()
    with serving(GUARDED, place) as ui:
        for when in ("first", "again"):
            with Measured(f"/pairs in the web server, {when}", "10 s" if when == "first" else "2 s") as page:
                answer = ui.ask("GET", PAIRS)
                page.told = f"status {answer.status}, {len(answer.text):,} characters"
            assert all(name in answer.text for name in names)
    with Measured("translations status", "5 s") as measured:
        seconds([str(BIN / "translations"), "status"], {}, cwd=place)
        measured.told = "as above, nothing new"


class Measured:
    """Prints what a block took, by the clock and of the processor, with that of its children."""

    def __init__(self, name: str, bar: str) -> None:
        self.told = ""
        self._name, self._bar = name, bar

    def __enter__(self) -> Measured:
        self._began, self._cpu = time.perf_counter(), _cpu_seconds()
        return self

    def __exit__(self, *error: object) -> None:
        took, cpu = time.perf_counter() - self._began, _cpu_seconds() - self._cpu
        told = self.told.splitlines()[:2]
        print(
            f"{self._name}: {took:.2f} s, {cpu:.2f} s CPU (bar: {self._bar}); {', '.join(told)}", flush=True
        )


def _cpu_seconds() -> float:
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


if __name__ == "__main__":
    main()
