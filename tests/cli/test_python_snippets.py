"""The Python by which README and model cards say how to use an export runs, on a real one."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from pipeline.quantize.export import main as export
from tests.cli.conftest import Command, make
from tests.end_to_end.tiny import PARTITION, Place
from tests.pipeline.quantize.conftest import one_thread, quantized, tiny

__all__ = ["one_thread", "quantized", "tiny"]
pytestmark = [pytest.mark.marian, pytest.mark.slow]

ROOT = Path(__file__).parents[2]


def run(code: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def exported(quantized: Path, folder: Path, src: str, trg: str) -> None:
    """An export in `exported`; its source's vocabulary is there under the name of a joint one, too."""
    options = ("--src", src, "--trg", trg, "--architecture", "tiny", "--split")
    export(["--model", str(quantized), *options, "--output", str(folder / "exported")])
    vocabulary = folder / "exported" / f"srcvocab.{src}{trg}.spm"
    vocabulary.with_name(f"vocab.{src}{trg}.spm").write_bytes(vocabulary.read_bytes())


def test_that_of_readme(quantized: Path, tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"in Python \(`pip install fxtranslate`\):\n\n((?: {4}.*\n|\n)+)", text)
    exported(quantized, tmp_path, "en", "lt")
    assert run(textwrap.dedent(code), tmp_path).strip()


def test_that_of_a_model_card(command: Command, place: Place, quantized: Path, tmp_path: Path) -> None:
    make("evaluate_exported")
    command("report", PARTITION, "--card", "--output", "card.md")
    (code,) = re.findall(r"```python\n(.*?)```", (place.root / "card.md").read_text(), re.DOTALL)
    assert "vocab.eneo.spm" in code
    exported(quantized, tmp_path, "en", "eo")
    assert run(code, tmp_path).strip()
