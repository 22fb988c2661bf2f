"""The tiny student and its quantised form, made once."""

from pathlib import Path

import pytest

from pipeline.quantize.quantize import main as quantize
from tests.pipeline.quantize.tiny_model import Tiny, train_tiny


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decode on one thread: pymarian 1.12.42 crashes now and then when two decode with an SSRU model."""
    monkeypatch.setenv("TRANSLATIONS_THREADS", "1")


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """The trained student."""
    return train_tiny(tmp_path_factory.getbasetemp() / "tiny")


@pytest.fixture(scope="session")
def quantized(tiny: Tiny, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `quantize` makes of it."""
    output = tmp_path_factory.mktemp("quantized") / "model"
    quantize(["--model", str(tiny.model), "--shortlist", str(tiny.shortlist), "--output", str(output)])
    return output
