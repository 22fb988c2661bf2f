"""`translations plan` of a graph of 1,000 steps, all cached: 100 datasets, 100 chunks, 2 teachers, 20 tests.

Fills a store with a manifest for every step, then times the whole command, beside the start of Python with
the command's own imports.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from benchmarks.timing import BIN, report, seconds
from translations_assets.config.load import load_config
from translations_assets.settings import repository_root
from translations_assets.stages import STAGES
from translations_assets.steps.key import KeyMaker
from translations_assets.steps.manifest import Manifest
from translations_assets.steps.protocols import Store
from translations_assets.steps.stage import build_graph
from translations_assets.steps.step import Step
from translations_assets.store.open import open_store

RUNS = 5
DATASETS = 100
CHUNKS = 100
TESTS = 20

CONFIG = """\
experiment:
  name: large
  src: en
  trg: eo
  teacher-ensemble: 2
datasets:
  train:
{train}
  devtest: [demo_dev]
  test:
{test}
  mono-src: [demo_mono]
  mono-trg: [demo_mono]
taskcluster:
  split-chunks: {chunks}
"""


def write_config(folder: Path) -> Path:
    """A training config with a hundred training datasets."""
    train = "\n".join(f"    - url_https://example.org/data-{n}.[LANG].zst" for n in range(DATASETS))
    test = "\n".join(f"    - url_https://example.org/test-{n}.[LANG].zst" for n in range(TESTS))
    path = folder / "en-eo.large.yml"
    path.write_text(CONFIG.format(train=train, test=test, chunks=CHUNKS))
    return path


def fill(store: Store, config: Path) -> int:
    """Commit a manifest for every step of the config's graph; returns their number."""
    keys = KeyMaker(repository_root())
    graph = build_graph(load_config(config), STAGES)
    made: dict[Step, Manifest] = {}
    for step in graph.steps:
        inputs = {output: made[output.step].outputs[output.name] for _, _, output in step.input_outputs()}
        outputs = {name: store.add_bytes(f"{step.label} {name}".encode()) for name in step.outputs}
        now = time.time()
        made[step] = store.commit(
            Manifest(
                key=keys.parts(step, inputs).digest,
                generation=1,
                outputs=outputs,
                label=step.label,
                reason="benchmark",
                bundle=store.add_bytes(b""),
                provenance={},
                attempt=1,
                host="",
                started=now,
                ended=now,
            )
        )
    return len(graph.steps)


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        config = write_config(root)
        environment = {"TRANSLATIONS_STORE": str(root / "store"), "TRANSLATIONS_CONFIGS": folder}
        steps = fill(open_store(str(root / "store")), config)
        plan = [str(BIN / "translations"), "plan", "en-eo.large"]
        start = [sys.executable, "-c", "import translations_assets.cli.main"]
        report(
            "python with the command's imports", [seconds(start, environment) for _ in range(RUNS)], "none"
        )
        report(f"plan of {steps} cached steps", [seconds(plan, environment) for _ in range(RUNS)], "1.5 s")


if __name__ == "__main__":
    main()
