"""The student with guided attention, made once."""

from pathlib import Path

import pytest

from tests.pipeline.markup.guided_model import train_guided
from tests.session import once


@pytest.fixture(scope="session")
def guided() -> Path:
    """The folder of the quantised student."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRANSLATIONS_THREADS", "1")  # `one_thread` is set up after fixtures of the session
        return once("guided", train_guided) / "quantized"
