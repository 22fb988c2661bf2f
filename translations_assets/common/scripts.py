"""Scripts of `pipeline/` that commands run by themselves, outside of any step."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from translations_assets.common.errors import TranslationsError
from translations_assets.common.settings import repository_root


def run_script(name: str, options: Sequence[str], folder: Path | None = None) -> None:
    """Run a script to its end, in a folder; TranslationsError with what it says is wrong."""
    ended = subprocess.run(
        [*script_command(name), *options],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        cwd=folder,
        env=script_environment(),
    )
    if ended.returncode:
        *_, said = re.split(r"^error[^:]*: ", ended.stderr, flags=re.MULTILINE)
        raise TranslationsError(said.strip())


def script_command(name: str) -> list[str]:
    """The words that run a script by its module's name, with `script_environment`."""
    return [sys.executable, "-m", name]


def script_environment() -> dict[str, str]:
    """Environment variables of this process, with the folder of `pipeline` on Python's path."""
    path = filter(None, (str(repository_root()), os.environ.get("PYTHONPATH")))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
