"""A registry of 200 generated runs of 20 language pairs: seconds to build, and to show in Chromium.

    python -m benchmarks.registry

Each run has results of its own of 100 steps, 24 of them evaluations: 20,000 manifests. Without Chromium the
second figure is left out.
"""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from pathlib import Path

from benchmarks.timing import BIN, report, seconds
from translations_assets.records.manifest import Blob, KeyParts, Manifest, Provenance
from translations_assets.records.run import RunRecord
from translations_assets.settings import repository_root
from translations_assets.store.local import LocalStore

RUNS, STEPS, TESTS = 200, 100, 4
MODELS = ("backwards", "teacher", "student", "finetuned_student", "quantized", "exported")
ROUNDS = 3


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        _fill(LocalStore(store))
        site = Path(folder) / "registry"
        command = [str(BIN / "translations"), "registry", "build", "--output", str(site)]
        environment = {"TRANSLATIONS_STORE": str(store)}
        times = [seconds(command, environment, cwd=repository_root()) for _ in range(ROUNDS)]
        report(f"translations registry build, {RUNS} runs", times, "30 s")
        if chromium := shutil.which("chromium"):
            report("its page in Chromium, until it is loaded", _loading(chromium, site / "index.html"), "1 s")


def _fill(store: LocalStore) -> None:
    chance = random.Random(1)
    config = store.add_bytes(json.dumps({"experiment": {"name": "generated"}}).encode())
    for number in range(RUNS):
        pair, run = ("en", f"l{number % 20:02}"), f"run-{number:03}"
        uses = {}
        for step in range(STEPS):
            made = _manifest(store, run, pair, step, config, chance)
            store.commit(made)
            uses[made.label] = (made.key, made.generation)
        partition = "-".join(pair)
        started = 1_700_000_000.0 + number * 3600
        record = RunRecord(
            run=run,
            partition=partition,
            space="here",
            pair=pair,
            started=started,
            heartbeat=started,
            uses=uses,
        )
        store.write_run(run, record)


def _manifest(
    store: LocalStore, run: str, pair: tuple[str, ...], step: int, config: Blob, chance: random.Random
) -> Manifest:
    """The result of a step: the first ones evaluate each model on each test set."""
    model, test = MODELS[step % len(MODELS)], step // len(MODELS)
    evaluates = step < len(MODELS) * TESTS
    scores = {
        metric: {"score": chance.uniform(30, 60), "ci": 0.6, "signature": "generated"}
        for metric in ("bleu", "chrf", "chrfpp")
    }
    speed = {"words_per_second": 1000.0, "memory_megabytes": 90.0, "model_bytes": 17_000_000}
    metrics = {"dataset": f"test-{test}", **scores, **({"speed": speed} if model == "exported" else {})}
    contents = store.add_bytes(json.dumps(metrics if evaluates else {"lines": {}}).encode())
    parts = KeyParts(script="pipeline.generated", code=run, args={"step": step})
    return Manifest(
        key=parts.digest,
        generation=1,
        outputs={"metrics.json" if evaluates else "stats.json": contents},
        label=f"step-{step}-{'-'.join(pair)}",
        reason="generated",
        bundle=config,
        provenance=Provenance(
            parts=parts,
            stage=f"evaluate_{model}" if evaluates else "clean_corpus",
            run=run,
            partition="-".join(pair),
            config=config,
        ),
        attempt=1,
        host="here",
        started=1.0,
        ended=2.0,
    )


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
