"""Scripts of `pipeline/` that commands run by themselves, outside of any step."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence

from translations_assets.common.errors import TranslationsError
from translations_assets.common.settings import repository_root


def run_script(name: str, options: Sequence[str]) -> None:
    """Run a script to its end; TranslationsError with what it says is wrong."""
    words = [sys.executable, "-m", name, *options]
    path = os.pathsep.join(filter(None, (str(repository_root()), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path}
    ended = subprocess.run(words, stderr=subprocess.PIPE, text=True, check=False, env=environment)
    if ended.returncode:
        *_, said = re.split(r"^error[^:]*: ", ended.stderr, flags=re.MULTILINE)
        raise TranslationsError(said.strip())
