"""A registry of 200 generated runs of 20 language pairs: seconds to build, and to show in Chromium.

    python -m benchmarks.registry

Each run has results of its own of every step of its graph, and a report. It is built with no report made yet,
then with none that is old. Without Chromium the last figure is left out.
"""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import cast
from unittest.mock import patch

import zstandard

from benchmarks.timing import BIN, report, seconds
from tests.checks.numbers import NUMBERS, training
from tests.defs.runner import METRICS, STATISTICS
from translations_assets.common.settings import repository_root
from translations_assets.config.load import parse_config
from translations_assets.graph.stage import build_graph
from translations_assets.graph.step import Step
from translations_assets.records.canonical import canonical_json
from translations_assets.records.manifest import Blob, KeyParts, Manifest, Provenance
from translations_assets.records.run import RunRecord
from translations_assets.stages import STAGES
from translations_assets.store.local import LocalStore

RUNS = 200
TARGETS = (
    "bg",
    "ca",
    "cs",
    "da",
    "de",
    "el",
    "es",
    "et",
    "fi",
    "fr",
    "hr",
    "hu",
    "it",
    "lt",
    "lv",
    "nl",
    "pl",
    "pt",
    "ro",
    "sl",
)
CONFIG = """\
experiment: {{name: generated, src: en, trg: {target}, bicleaner: {{default-threshold: 0}}}}
datasets:
  train: [opus_Books/v1, opus_Tatoeba/v2023-04-12, opus_QED/v2.0a]
  devtest: [flores_dev]
  test: [flores_devtest, flores_aug-upper_devtest, ntrex_test]
  mono-src: [news-crawl_news.2021]
  mono-trg: [news-crawl_news.2021]
target-stage: all
"""
TEXT = zstandard.compress(
    "".join(f"Sentence number {number} of a text.\n" for number in range(1000)).encode()
)
ROUNDS = 3


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        with patch("os.fsync"):  # it only has to be there
            _fill(LocalStore(store))
        site = Path(folder) / "registry"
        command = [str(BIN / "translations"), "registry", "build", "--output", str(site)]
        environment = {"TRANSLATIONS_STORE": str(store)}
        fresh, again = [], []
        for _ in range(ROUNDS):
            shutil.rmtree(site, ignore_errors=True)
            fresh.append(seconds(command, environment, cwd=repository_root()))
            again.append(seconds(command, environment, cwd=repository_root()))
        report(f"translations registry build, {RUNS} runs, all reports", fresh, "30 s")
        report("the same again, no report is old", again, "30 s")
        if chromium := shutil.which("chromium"):
            report("its page in Chromium, until it is loaded", _loading(chromium, site / "index.html"), "1 s")


def _fill(store: LocalStore) -> None:
    chance = random.Random(1)
    for number in range(RUNS):
        target = TARGETS[number % len(TARGETS)]
        config = parse_config(CONFIG.format(target=target), "generated")
        contents = store.add_bytes(canonical_json(config.model_dump(mode="json", by_alias=True)))
        run, uses = f"run-{number:03}", {}
        for step in build_graph(config, STAGES).steps:
            made = _manifest(store, run, config.pair, step, contents, chance)
            store.commit(made)
            uses[made.label] = (made.key, made.generation)
        started = 1_700_000_000.0 + number * 3600
        record = RunRecord(
            run=run,
            partition=f"{config.pair}.generated",
            space="here",
            pair=("en", target),
            started=started,
            heartbeat=started,
            uses=uses,
        )
        store.write_run(run, record)


def _manifest(
    store: LocalStore, run: str, pair: str, step: Step, config: Blob, chance: random.Random
) -> Manifest:
    """A result of a step with contents of the form that its script writes."""
    parts = KeyParts(script=step.script, code=run, args={"step": step.label})
    return Manifest(
        key=parts.digest,
        generation=1,
        outputs={name: _stored(store, _contents(step, name, chance)) for name in step.outputs},
        label=step.label,
        reason="generated",
        bundle=config,
        provenance=Provenance(
            parts=parts, stage=step.stage, run=run, partition=f"{pair}.generated", config=config
        ),
        attempt=1,
        host="here",
        started=1.0,
        ended=2.0,
    )


@cache
def _stored(store: LocalStore, data: bytes) -> Blob:
    return store.add_bytes(data)


def _contents(step: Step, name: str, chance: random.Random) -> bytes:
    if name == "metrics.json" and step.script in METRICS:
        scores = {
            metric: {"score": chance.uniform(30, 60), "ci": 0.6, "signature": "generated"}
            for metric in ("bleu", "chrf", "chrfpp")
        }
        return json.dumps({**METRICS[step.script], **scores, "dataset": step.args["dataset"]}).encode()
    if name == "metrics.json":
        return json.dumps(training(50.0)).encode()
    if name == "stats.json":
        merged = cast("Sequence[str]", step.args.get("datasets", ()))
        datasets = [{"dataset": name, "in": 3, "kept": 2} for name in merged]
        return json.dumps({**STATISTICS, "datasets": datasets}).encode()
    if name == "numbers.json":
        return json.dumps(NUMBERS[step.script]).encode()
    return TEXT if name.endswith(".zst") else b"generated"


def _loading(chromium: str, page: Path) -> list[float]:
    """Seconds until the browser has loaded the page."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tab, times = browser.new_page(), []
        for _ in range(ROUNDS):
            tab.goto(page.as_uri())
            times.append(tab.evaluate("performance.getEntriesByType('navigation')[0].duration") / 1000)
        browser.close()
    return times


if __name__ == "__main__":
    main()
