"""The image of a pod: its tag is a digest of what it is built from.

Most steps need the worker's image. There is another for each lock of programs that have an environment
of their own (requirements/opuscleaner.lock): the worker's with that environment in it, for the steps that
have the lock among their inputs. An image without it serves, too: scripts make what they lack, in each pod.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from translations_assets.runners.kubernetes.cluster import ClusterError

LOCK = Path("requirements/worker.lock")
BUILD_FILE = Path("deploy/worker.Dockerfile")
ENVIRONMENT_BUILD_FILE = Path("deploy/environment.Dockerfile")
ENVIRONMENT_MAKER = Path("pipeline/common/environments.py")
_OTHER_LOCKS = ("dev", "main", "laptop", LOCK.stem)
_DIGITS = 16


@dataclass(frozen=True)
class Images:
    """The images of the state of the code in a folder.

    worker        of steps without an environment of their own
    environments  lock, relative to the folder → image with its environment
    digests       digest of a lock's contents → lock
    """

    worker: str
    environments: Mapping[Path, str] = field(default_factory=dict)
    digests: Mapping[str, Path] = field(default_factory=dict)

    def image(self, inputs: Iterable[str]) -> str:
        """The image for a step with inputs of these digests."""
        locks = {self.digests[digest] for digest in inputs if digest in self.digests}
        return self.environments[locks.pop()] if len(locks) == 1 else self.worker

    def remedy(self, image: str) -> str:
        """Explain how to provide an image that cannot be pulled."""
        build = f"make images REGISTRY={image.rpartition('/')[0]}"
        if image == self.worker:
            return f"The image {image} is built from {LOCK} by {BUILD_FILE}; to build and push it: {build}"
        for lock, name in self.environments.items():
            if image == name:
                made = f"built on the worker's from {lock} by {ENVIRONMENT_BUILD_FILE}"
                return f"The image {image} is {made}; to build and push it: {build}"
        return (
            f"The image {image} was made from another version of the code. To build and push it, check out "
            f"that version: {build}"
        )


def worker_images(image: str, tag: str | None, root: Path) -> Images:
    """The images for the code in `root`, by the name of the worker's; with a `tag` that one serves all steps.

    Raises ClusterError when a tag cannot be known.
    """
    if tag:
        return Images(f"{image}:{tag}")
    try:
        worker = environment_tag(root / LOCK, root / BUILD_FILE)
        images, digests = {}, {}
        for lock in environment_locks(root):
            files = (root / path for path in (lock, ENVIRONMENT_BUILD_FILE, ENVIRONMENT_MAKER))
            images[lock] = f"{image}-{lock.stem}:{environment_tag(*files, base=[worker])}"
            digests[_digest(root / lock)] = lock
        return Images(f"{image}:{worker}", images, digests)
    except OSError as error:
        raise ClusterError(
            f"The tag of a worker's image is a digest of lock and build file ({LOCK}, {BUILD_FILE}), and "
            f"{error.filename} cannot be read: {error.strerror}. Run from a checkout or the orchestrator's "
            "image, or set kubernetes.tag in the deployment file."
        ) from error


def environment_locks(root: Path) -> list[Path]:
    """The locks of programs that have an environment of their own, relative to the folder of the code."""
    locks = (path.relative_to(root) for path in (root / LOCK).parent.glob("*.lock"))
    return sorted(lock for lock in locks if lock.stem not in _OTHER_LOCKS)


def environment_tag(*files: Path, base: Sequence[str] = ()) -> str:
    """The tag of the image that is built from a lock by a build file. Raises OSError when one is missing.

    base  the tag of the image that it is built on
    """
    return hashlib.sha256("\n".join([*base, *map(_digest, files)]).encode()).hexdigest()[:_DIGITS]


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
