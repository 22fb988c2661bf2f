"""mtdata's own catalogue, whose build takes 20 seconds."""

from pathlib import Path

import pytest

from tests.session import once
from translations_assets.config.providers import mtdata

_catalogue = mtdata.catalogue.__wrapped__  # before a test puts another one there


def state_with_catalogue() -> Path:
    """A state folder in which the real catalogue has been built and kept, once a session."""
    return once("mtdata", _build)


def _build(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRANSLATIONS_STATE", str(folder))
        _catalogue()
