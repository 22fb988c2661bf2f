"""Which files of this machine a file:// URL may name.

TRANSLATIONS_FILES names folders, split by `:`, below which they must lie, or else in the mirror. Where it
is not set, as when a person runs a script by hand, they may lie anywhere but in NEVER and below what
TRANSLATIONS_KEYS names: files and folders with the keys of whoever runs the worker.
"""

import os
from pathlib import Path

from pipeline.common.errors import InputError

# Of the system: processes with their environments, accounts, devices, what a cluster gives its pods. Links to
# them are followed first. As in translations_assets.config.local_files.
NEVER = ("/proc", "/sys", "/etc", "/dev", "/run/secrets", "/var/run/secrets")


def readable(path: Path) -> Path:
    """The file that a path names, links followed, if a URL may name it; InputError otherwise."""
    real = os.path.realpath(path)
    if _is_below(real, [*NEVER, *_folders("TRANSLATIONS_KEYS")]):
        raise InputError(f"{path} is a file of the system, or one with keys, which no dataset can be.")
    if "TRANSLATIONS_FILES" in os.environ:
        folders = [*_folders("TRANSLATIONS_FILES"), *_mirror()]
        if not _is_below(real, folders):
            allowed = f"below {', '.join(folders)}" if folders else "nowhere"
            raise InputError(
                f"{path} must not be read here: files may lie {allowed}. Put it there, or have its folder "
                "named in the deployment file (kubernetes.files) or in TRANSLATIONS_FILES."
            )
    return Path(real)


def _is_below(real: str, folders: list[str]) -> bool:
    return any(Path(real).is_relative_to(os.path.realpath(folder)) for folder in folders)


def _folders(variable: str) -> list[str]:
    return [folder for folder in os.environ.get(variable, "").split(":") if folder]


def _mirror() -> list[str]:
    mirror = os.environ.get("TRANSLATIONS_MIRROR", "")
    return [mirror] if mirror and "://" not in mirror else []
