"""`translations plan` and `explain` of a graph of 1,000 steps.

It has 100 datasets, 100 chunks of each text, 2 teachers, 20 tests. Fills a store with results of every step,
then times the whole commands, beside the start of Python with the commands' own imports: with everything
cached, and where changes of code and config make many steps run. The earlier results are those of another
config, and of scripts one of whose functions was another.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.timing import BIN, report, seconds
from translations_assets.common.settings import repository_root
from translations_assets.config.load import load_config
from translations_assets.graph.stage import build_graph
from translations_assets.keys.key import KeyMaker
from translations_assets.records.manifest import Manifest, Usage
from translations_assets.running.engine import Engine
from translations_assets.running.job import Outcome
from translations_assets.running.protocols import Store
from translations_assets.running.runner import Submission
from translations_assets.running.session import Session
from translations_assets.running.tasks import Work
from translations_assets.stages import STAGES
from translations_assets.store.open import open_store

RUNS = 5
DATASETS = 100
CHUNKS = 100
TESTS = 20
PARTITION = "en-eo.large"
TEACHER = "train-teacher-en-eo-1"
SPACE = "benchmark"
TRANSLATIONS = str(BIN / "translations")

CONFIG = """\
experiment:
  name: large
  src: en
  trg: eo
  teacher-ensemble: 2
  bicleaner: {{default-threshold: 0}}
datasets:
  train:
{train}
  devtest: [demo_dev]
  test:
{test}
  mono-src: [demo_mono]
  mono-trg: [demo_mono]
target-stage: all
taskcluster:
  split-chunks: {chunks}
"""


def write_config(folder: Path) -> Path:
    """A training config with a hundred training datasets."""
    train = "\n".join(f"    - url_https://example.org/data-{n}.[LANG].zst" for n in range(DATASETS))
    test = "\n".join(f"    - url_https://example.org/test-{n}.[LANG].zst" for n in range(TESTS))
    path = folder / f"{PARTITION}.yml"
    path.write_text(CONFIG.format(train=train, test=test, chunks=CHUNKS))
    return path


def fill(store: Store, config: Path, code: Path) -> int:
    """Run every step of the config with a runner that makes results up; returns their number."""
    values = load_config(config)
    graph = build_graph(values, STAGES)
    engine = Engine(store, MadeUpRunner())
    session = Session("run-1", config.stem, SPACE, lambda: values, graph, store, KeyMaker(code))
    for name, steps in graph.stages.items():
        engine.run(session, steps, threading.Event(), lambda event: None)
        session.results.publish(name)
    session.end()
    return len(graph.steps)


class MadeUpRunner:
    """Finishes every job at once."""

    def run(self, submission: Submission) -> Work[Outcome]:
        """See `running.runner.Runner`."""
        job, store, now = submission.job, submission.store, time.time()
        manifest = Manifest(
            key=job.key,
            generation=job.generation,
            outputs={name: store.add_bytes(f"{job.label} {name}".encode()) for name in job.outputs},
            label=job.label,
            bundle=job.bundle,
            provenance=job.provenance,
            attempt=job.attempt,
            host="",
            started=now,
            ended=now,
            usage=Usage(seconds=60.0, cpu_seconds=60.0),
        )
        return Outcome("done", store.commit(manifest))
        yield 0.0


def earlier_code(folder: Path) -> Path:
    """The scripts as they might have been: what downloads, cleans and translates had another function."""
    for name in ("pipeline", "requirements"):
        shutil.copytree(repository_root() / name, folder / name)
    for name in ("data/parallel_url.py", "clean/clean_parallel.py", "translate/translate.py"):
        path = folder / "pipeline" / name
        path.write_text(path.read_text().replace("def main(", "EARLIER = print()\n\n\ndef main(", 1))
    return folder


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        config = write_config(root)
        environment = {"TRANSLATIONS_CONFIGS": folder, "TRANSLATIONS_SPACE": SPACE}
        cached = environment | {"TRANSLATIONS_STORE": str(root / "cached")}
        changed = environment | {"TRANSLATIONS_STORE": str(root / "changed")}
        steps = fill(open_store(str(root / "cached")), config, repository_root())
        fill(open_store(str(root / "changed")), config, earlier_code(root / "earlier"))
        start = [sys.executable, "-c", "import translations_assets.cli.main"]
        measure("python with the commands' imports", start, environment, "none")
        measure(f"plan, {steps} steps cached", [TRANSLATIONS, "plan", PARTITION], cached, "1.5 s")
        config.write_text(config.read_text() + "marian-args: {training-teacher: {after: 9u}}\n")
        both = [
            measure(f"plan {how}, {steps} steps, many to run", [*command, *options], changed, "none")
            for how, command, options in (
                ("--steps", [TRANSLATIONS, "plan", PARTITION], ["--steps"]),
                ("and explain of the teacher", [TRANSLATIONS, "explain", PARTITION], [TEACHER]),
            )
        ]
        print(f"plan + explain: {sum(both):.2f} s (sum of the medians; bar: 2 s)")


def measure(name: str, command: Sequence[str], environment: Mapping[str, str], bar: str) -> float:
    """Run a command several times and print the seconds; their median."""
    values = [seconds(command, environment) for _ in range(RUNS)]
    report(name, values, bar)
    return statistics.median(values)


if __name__ == "__main__":
    main()
