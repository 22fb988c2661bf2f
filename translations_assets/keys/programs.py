"""Programs of the system that scripts run, such as Perl: no lock names them, so their versions are asked for.

A key is computed with the versions of its own machine; the worker asks again, where the script will run.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from functools import cache

ABSENT = "not installed"
_PLACES = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"}  # where scripts look for them, too
_VERSION = re.compile(r"\d+(?:\.\d+)+")


@cache
def program_version(name: str) -> str:
    """The version of a program as it says itself; `not installed` when there is none."""
    try:
        command = [name, "--version"]
        said = subprocess.run(command, env=_PLACES, capture_output=True, text=True, check=False).stdout
    except OSError:
        return ABSENT
    found = _VERSION.search(said)
    return found[0] if found else "unknown"


def other_programs(versions: Mapping[str, str]) -> str:
    """Describe programs of this machine that differ from the versions in a key; empty if none does."""
    differing = [
        f"{name} {version}, and here it is {program_version(name)}"
        for name, version in versions.items()
        if program_version(name) != version
    ]
    if not differing:
        return ""
    return (
        f"The key of the step stands for {'; '.join(differing)}. Start the run where the programs are those "
        "of the workers: on a cluster by `translations train --server`."
    )
