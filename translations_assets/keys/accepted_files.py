"""The files that hold the accepted changes of code."""

from __future__ import annotations

from pathlib import Path

from translations_assets.common import settings
from translations_assets.keys.code.accepted import FILE, Accepted

OWN_FILE = "accepted-changes.yml"  # of a project whose code is installed


def accepted_files(root: Path) -> list[Path]:
    """The files with the accepted changes of the code below a folder; a new change is added to the last one.

    An installed wheel's own is another version's in the next wheel, so the project folder has one, too.
    """
    with_code = root / FILE
    return [with_code, settings.project_folder() / OWN_FILE] if settings.is_installed(root) else [with_code]


def read_accepted(root: Path) -> Accepted:
    """The accepted changes of the code below a folder, in all its files. Raises as `Accepted` does."""
    files = accepted_files(root)
    changes = [change for path in files for change in Accepted.read(path).changes]
    return Accepted(changes, " or ".join(map(str, files)))
