"""mtdata's own catalogue, whose build takes 20 seconds."""

from importlib.metadata import version
from pathlib import Path

import pytest

from tests.environments import kept
from translations_assets.config.providers import mtdata

_catalogue = mtdata.catalogue.__wrapped__  # before a test puts another one there


def state_with_catalogue() -> Path:
    """A state folder in which the real catalogue has been built and kept.

    Built once for each version of mtdata and of the module that has it built.
    """
    return kept("mtdata", version("mtdata").encode() + Path(str(mtdata.__file__)).read_bytes(), _build)


def _build(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRANSLATIONS_STATE", str(folder))
        _catalogue()
