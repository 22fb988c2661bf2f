"""Scripts that run differently have different keys: each try is run as it is, and from its bundle."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.keys.code.package import GUARD, SCRIPT, Package
from tests.keys.code.tries import ALL
from tests.keys.code.tries.files import Files
from translations_assets.common.errors import CodeError
from translations_assets.keys.code.bundle import pack
from translations_assets.keys.code.fingerprint import CodeBase

_EITHER = re.compile("«(.*?)¦(.*?)»", re.DOTALL)


def chosen(files: Files, side: int) -> Mapping[str, str]:
    """The files of one of the two packages, by module."""
    texts = {name: _EITHER.sub(lambda found: found[side + 1], text) for name, text in files.items()}
    texts["script"] += GUARD
    return {"demo" if name == "__init__" else f"demo.{name}": text for name, text in texts.items()}


def run(root: Path) -> str:
    """Output of the script below a folder."""
    environment = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    for options in (["-S"], []):  # most need nothing that is installed, and start in half the time without it
        command = [sys.executable, *options, "-m", SCRIPT]
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=60)
        if not done.returncode:
            break
    return done.stdout


@pytest.mark.parametrize("name", ALL)
def test_what_runs_differently_has_another_key(package: Package, name: str) -> None:
    roots = [package.write(chosen(ALL[name], side)) for side in (0, 1)]
    printed = [run(root) for root in roots]
    assert printed[0] != printed[1], "the two packages do the same"
    if name.startswith("refused"):
        for root in roots:
            with pytest.raises(CodeError, match="cannot be followed"):
                CodeBase(root).fingerprint(SCRIPT)
        return
    assert len({CodeBase(root).fingerprint(SCRIPT).digest for root in roots}) == 2


@pytest.mark.parametrize("name", [name for name in ALL if not name.startswith("refused")])
def test_a_bundle_does_what_the_package_does(package: Package, tmp_path: Path, name: str) -> None:
    root = package.write(chosen(ALL[name], 1))
    data = tmp_path / "bundle.tar"
    data.write_bytes(pack(CodeBase(root).bundle(SCRIPT)))
    bundle = tmp_path / "bundle"
    bundle.mkdir()
    subprocess.run(["tar", "-xf", str(data), "-C", str(bundle)], check=True)
    assert run(bundle).replace(str(bundle), str(root)) == run(root)
