"""A newcomer's first run: what `plan` forecasts before anything was ever made, beside what it takes.

    python -m benchmarks.first_forecast --files CORPUS.en CORPUS.fr [--pairs 20000]

writes a trial's config for so many pairs of a corpus of one's own, plans it over an empty store, trains,
and prints both by stage; then the processor seconds of each script for a megabyte of its compressed text,
of which `translations_assets.why.estimates` has those of the dearest.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from itertools import islice
from pathlib import Path

from benchmarks.forecasts import run
from pipeline.common.lines import read_lines, write_lines
from translations_assets.records.manifest import Manifest
from translations_assets.store.local import LocalStore
from translations_assets.why.forecast import text_of

FACTOR = 2.0


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", nargs=2, required=True, type=Path, metavar=("SRC", "TRG"))
    parser.add_argument("--langs", nargs=2, default=("en", "fr"), metavar=("SRC", "TRG"))
    parser.add_argument("--pairs", type=int, default=20_000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "configs").mkdir()
        files = [folder / f"text.{lang}" for lang in args.langs]
        for given, kept in zip(args.files, files, strict=True):
            write_lines(kept, islice(read_lines(given), args.pairs))
        run(folder, "config", "generate", *args.langs, "--files", *map(str, files), "--trial")
        (config,) = (folder / "configs").glob("*.yml")
        planned = json.loads(run(folder, "plan", config.stem, "--json"))
        print(planned["summary"])
        run(folder, "train", config.stem, "--yes", "--json")
        print_comparison(folder)


def print_comparison(folder: Path) -> None:
    """Print what the steps took beside their forecast, by stage, and the rates of the scripts."""
    store = LocalStore(folder / "store")
    (name,) = store.runs()
    record = store.read_run(name)
    assert record
    made = {manifest.label: manifest for manifest in store.manifests()}
    by_stage: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for label, manifest in made.items():
        if label in record.expected:
            by_stage[manifest.stage].append((record.expected[label].seconds, manifest.usage.seconds))
    for stage, each in by_stage.items():
        expected, took = map(sum, zip(*each, strict=True))
        print(f"{stage:32} {len(each):3} steps: forecast {expected:7.1f} s, took {took:7.1f} s")
    print_rates([*made.values()])
    pairs = [pair for each in by_stage.values() for pair in each]
    expected, took = map(sum, zip(*pairs, strict=True))
    left_out = len(made.keys() - record.expected.keys())
    print(
        f"Forecast {expected:.0f} s, took {took:.0f} s: {expected / took:.2f} times as much "
        f"(bar: a factor of {FACTOR:.0f}); {left_out} steps were not forecast"
    )
    if left_out:
        sys.exit(1)


def print_rates(made: list[Manifest]) -> None:
    """Print the processor seconds of each script: of the smallest text, and for a megabyte of the largest."""
    by_script: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for manifest in made:
        by_script[manifest.provenance.parts.script].append((text_of(manifest), manifest.usage.cpu_seconds))
    for script, pairs in sorted(by_script.items()):
        (_, least), (size, most) = min(pairs), max(pairs)
        rate = f"{most / size * 1e6:6.1f} s a MB of {size / 1e6:.2f} MB" if size else ""
        print(f"{script:36} {least:6.1f} s at least  {rate}")


if __name__ == "__main__":
    main()
