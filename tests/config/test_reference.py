"""The reference page."""

import subprocess
import sys
from pathlib import Path

from benchmarks.config_page import reference

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_in_docs_is_the_one_the_schema_makes() -> None:
    command = [sys.executable, "-m", "benchmarks.config_page"]
    made = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, encoding="utf-8").stdout
    assert made == (ROOT / "docs" / "config.md").read_text(encoding="utf-8")


def test_rows_tell_what_is_allowed_and_the_default() -> None:
    rows = reference().splitlines()
    size = "| `experiment.spm-vocab-size` | whole number, > 0, a multiple of 8 | `32000` |"
    assert any(row.startswith(size) for row in rows)
    assert any(row.startswith("| `experiment.src` | language code | required |") for row in rows)
    assert any(row.startswith("| `wandb-publication` | true, false | `false` |") for row in rows)
    assert any(row.startswith("| `taskcluster.upload-bucket` † |") for row in rows)
    assert any(
        row.startswith("| `experiment.corpus-max-sentences` | whole number, > 0 | none |") for row in rows
    )
