"""Whether the file:// URLs of a config may be read, told before any work; scripts ask again where they read.

On the command line of one's own machine any file of one's own may be named. In pods, in runs that the UI
launches and in pasted configs files must lie below folders that the deployment names, or in the mirror.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from translations_assets.config.continuation import urls_of
from translations_assets.config.datasets import listed
from translations_assets.config.key_paths import Found
from translations_assets.config.providers import BY_URL
from translations_assets.config.urls import PLACEHOLDER

# As in pipeline.common.local_files, which tells why.
NEVER = ("/proc", "/sys", "/etc", "/dev", "/run/secrets", "/var/run/secrets")


def check_files(config: Mapping[str, Any], folders: Sequence[str]) -> Found:
    """The key path and message of every file:// URL whose file must not be read; `folders` may be."""
    for path, url in _urls(config):
        if message := refusal(url, folders):
            yield path, message


def refusal(url: str, folders: Sequence[str]) -> str:
    """Why a file must not be read that a file:// URL names; empty when it may be, and for other URLs."""
    if not url.startswith("file://"):
        return ""
    try:
        path = url2pathname(urlsplit(url.replace(PLACEHOLDER, "LANG")).path)
        real = os.path.realpath(path)
    except ValueError:  # reported elsewhere
        return ""
    if _is_below(real, NEVER):
        return f"{path} is a file of the system, which no dataset can be"
    if _is_below(real, folders):
        return ""
    allowed = f"below {', '.join(folders)}" if folders else "in a mirror"
    return (
        f"{path} must not be read here: files may lie {allowed}; put it there, or have its folder named in "
        "the deployment file (kubernetes.files) or in TRANSLATIONS_FILES"
    )


def _urls(config: Mapping[str, Any]) -> Found:
    for path, dataset in listed(config):
        if dataset.provider in BY_URL:
            yield path, dataset.name
    yield from urls_of(config)


def _is_below(real: str, folders: Sequence[str]) -> bool:
    return any(Path(real).is_relative_to(os.path.realpath(folder)) for folder in folders)
