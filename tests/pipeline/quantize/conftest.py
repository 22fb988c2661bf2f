"""The tiny student and its quantised form, made once."""

from pathlib import Path

import pytest

from pipeline.quantize.quantize import main as quantize
from tests.pipeline.quantize.tiny_model import Tiny, train_tiny
from tests.session import once


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decode on one thread: pymarian 1.12.42 crashes now and then when two decode with an SSRU model."""
    monkeypatch.setenv("TRANSLATIONS_THREADS", "1")


@pytest.fixture(scope="session")
def tiny() -> Tiny:
    """The trained student."""
    return Tiny.in_folder(once("student", train_tiny))


@pytest.fixture(scope="session")
def quantized(tiny: Tiny) -> Path:
    """The folder that `quantize` makes of it."""
    student = ["--model", str(tiny.model), "--shortlist", str(tiny.shortlist), "--text", str(tiny.test[0])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRANSLATIONS_THREADS", "1")  # `one_thread` is set up after fixtures of the session
        made = once("quantized", lambda folder: quantize([*student, "--output", str(folder / "model")]))
    return made / "model"
