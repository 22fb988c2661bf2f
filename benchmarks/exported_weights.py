"""Scores of a student whose exported 8-bit weights are turned back into floats, beside the student's own.

    python -m benchmarks.exported_weights --work FOLDER

The folder may be that of benchmarks.recipes, whose baseline it then shares. Training can go on from these
floats; here Marian translates with them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from benchmarks.recipes import TESTS, translations, write_config

SEED = 1
MODELS = ("student", "finetuned-student", "quantized", "exported")
FLOATS = "en-eo.floats"


def main(argv: Sequence[str] | None = None) -> None:
    """Train, export, read back, and print the table; see the module's text."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", required=True, type=Path, help="folder for the store, configs and results")
    work = parser.parse_args(argv).work.absolute()
    partition = write_config(work, "baseline", {}, SEED)
    translations(work, SEED, "train", partition, "--target", "evaluate_exported", "--yes")
    exported = work / "exported"
    if not exported.exists():
        translations(work, SEED, "artifacts", partition, "export-en-eo", "--download", str(exported))
    _write_floats(work, partition, exported)
    translations(work, SEED, "train", FLOATS, "--target", "evaluate_student", "--yes")
    results = {name: _results(work, name) for name in (partition, FLOATS)}
    print(f"| model | {' | '.join(TESTS)} |\n|---|{'---|' * len(TESTS)}")
    rows = {
        **{model: results[partition][model] for model in MODELS},
        "exported, as floats": results[FLOATS]["student"],
    }
    for model, scores in rows.items():
        print(f"| {model} | {' | '.join(_cell(scores[test]) for test in TESTS)} |")


def _write_floats(work: Path, partition: str, exported: Path) -> None:
    """A config whose student is the exported one, on the same test sets."""
    config = yaml.safe_load((work / "configs" / f"{partition}.yml").read_text(encoding="utf-8"))
    config["experiment"]["name"] = FLOATS.partition(".")[2]
    config["continuation"] = {"models": {"student": {"url": str(exported), "mode": "use"}}}
    (work / "configs" / f"{FLOATS}.yml").write_text(yaml.safe_dump(config), encoding="utf-8")


def _results(work: Path, partition: str) -> Mapping[str, Any]:
    told: Mapping[str, Any] = json.loads(translations(work, SEED, "results", partition, "--json"))
    return told


def _cell(scores: Mapping[str, float]) -> str:
    return f"{scores['chrf']:.2f}"


if __name__ == "__main__":
    main()
