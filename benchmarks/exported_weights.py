"""Scores of an exported student, of its 8-bit weights as floats again, and of the floats that they are from.

    python -m benchmarks.exported_weights --work FOLDER

The folder may be that of benchmarks.recipes, whose baseline it then shares. The exported model runs in
Firefox's engine, the two others in Marian.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from benchmarks.recipes import translations, write_config
from pipeline.continuation.exported import write_floats

SEED = 1
TESTS = ("demo_test", "demo_aug-upper_test", "demo_aug-typos_test")
FINETUNED, EXPORTED, FLOATS = "finetuned-student", "exported", "exported, as floats"


def main(argv: Sequence[str] | None = None) -> None:
    """Train, export, read back, and print the table; see the module's text."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", required=True, type=Path, help="folder for the store, configs and results")
    work = parser.parse_args(argv).work.absolute()
    partition = write_config(work, "baseline", {}, SEED)
    translations(work, SEED, "train", partition, "--target", "export", "--yes")
    folders = {FINETUNED: work / "finetuned", EXPORTED: work / "exported", FLOATS: work / "floats"}
    for label, model in (("finetune-student-en-eo", FINETUNED), ("export-en-eo", EXPORTED)):
        shutil.rmtree(folders[model], ignore_errors=True)
        translations(work, SEED, "artifacts", partition, label, "--download", str(folders[model]))
    shutil.copytree(folders[FINETUNED], folders[FLOATS], dirs_exist_ok=True)
    [weights] = folders[EXPORTED].glob("model.*.alphas.bin")
    write_floats(weights, folders[FLOATS] / "model.npz")
    print(f"| model | {' | '.join(TESTS)} |\n|---|{'---|' * len(TESTS)}")
    for model, folder in folders.items():
        print(f"| {model} | {' | '.join(f'{score:.2f}' for score in _chrf(work, folder))} |")


def _chrf(work: Path, folder: Path) -> list[float]:
    languages = ("--src", "en", "--trg", "eo")
    told = translations(work, SEED, "evaluate", str(folder), "--datasets", *TESTS, *languages, "--json")
    [scores] = json.loads(told).values()
    return [float(scores[test]["chrf"]) for test in TESTS]


if __name__ == "__main__":
    main()
