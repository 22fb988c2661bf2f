"""mtdata's own catalogue, whose build takes 20 seconds."""

import shutil
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.environments import CACHE
from tests.session import once
from translations_assets.config.providers import mtdata

_catalogue = mtdata.catalogue.__wrapped__  # before a test puts another one there


def state_with_catalogue() -> Path:
    """A state folder in which the real catalogue has been built and kept.

    Built once for each version of mtdata and of the module that has it built.
    """
    made_from = version("mtdata").encode() + Path(str(mtdata.__file__)).read_bytes()
    kept = CACHE / f"mtdata-{sha256(made_from).hexdigest()[:16]}"
    return once("mtdata", lambda folder: _copy(kept, folder))


def _copy(kept: Path, folder: Path) -> None:
    if not kept.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=CACHE, ignore_cleanup_errors=True) as temporary:
            built = Path(temporary) / "state"
            _build(built)
            built.rename(kept)
    shutil.copytree(kept, folder, dirs_exist_ok=True)


def _build(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRANSLATIONS_STATE", str(folder))
        _catalogue()
