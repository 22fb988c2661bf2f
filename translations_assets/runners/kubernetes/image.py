"""Which image a pod gets: its tag is a digest of what it is built from."""

from __future__ import annotations

import hashlib
from pathlib import Path

from translations_assets.runners.kubernetes.cluster import ClusterError

LOCK = Path("requirements/worker.lock")
BUILD_FILE = Path("deploy/worker.Dockerfile")
_DIGITS = 16


def environment_tag(lock: Path, build_file: Path) -> str:
    """The tag of the image that is built from a lock by a build file. Raises OSError when one is missing."""
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (lock, build_file)]
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()[:_DIGITS]


def worker_image(image: str, tag: str | None, root: Path) -> str:
    """The worker's image with its tag, for the code in `root`; `tag` overrides the digest.

    Raises ClusterError when the tag cannot be known.
    """
    try:
        return f"{image}:{tag or environment_tag(root / LOCK, root / BUILD_FILE)}"
    except OSError as error:
        raise ClusterError(
            f"The tag of the worker's image is a digest of {LOCK} and {BUILD_FILE}, and {error.filename} "
            f"cannot be read: {error.strerror}. Run from a checkout or the orchestrator's image, or set "
            "kubernetes.tag in the deployment file."
        ) from error
