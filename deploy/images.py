"""Names, builds and pushes the images: `make images REGISTRY=europe-docker.pkg.dev/my-project/translations`.

An image's tag is a digest of what it is built from, so that a name always means the same contents, and the
runner knows which one it needs. A build with BuildKit gives the same bytes again: times are fixed, bases are
named by digest, packages come with hashes. The commit, which the orchestrator's image holds, is no part of
its tag: what is the same under two commits is built once.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from translations_assets.common.revision import revision, web_address
from translations_assets.runners.kubernetes.image import BUILD_FILE, ENVIRONMENT_BUILD_FILE, worker_images

ROOT = Path(__file__).resolve().parent.parent
ORCHESTRATOR = Path("deploy/orchestrator.Dockerfile")
# What that file copies, but for what is no part of the project (.dockerignore)
_COPIED = (
    *("pyproject.toml", "workspace.yaml", "requirements", str(BUILD_FILE), str(ENVIRONMENT_BUILD_FILE)),
    *("configs", "pipeline", "translations_assets"),
)
_EPOCH = "315532800"  # 1980, the first year that a zip file knows
_DIGITS = 16
_PLACES = ("dagsterWebserver", "dagsterDaemon", "dagster-user-deployments.deployments[0]")


@dataclass(frozen=True)
class Image:
    """An image to build: its name with the tag, its build file, and what that is given."""

    name: str
    build_file: Path
    arguments: tuple[str, ...] = ()

    def command(self, *, push: bool) -> list[str]:
        """The command that builds the image, and pushes it or loads it into the local engine."""
        output = "type=image,push=true" if push else "type=docker"
        arguments = [f"SOURCE_DATE_EPOCH={_EPOCH}", *self.arguments]
        return [
            *("docker", "buildx", "build", "--platform", "linux/amd64", "--provenance=false"),
            *("--file", str(self.build_file)),
            *(part for argument in arguments for part in ("--build-arg", argument)),
            *("--output", f"{output},name={self.name},rewrite-timestamp=true", "."),
        ]


def images(registry: str, root: Path = ROOT) -> list[Image]:
    """The images of this checkout, in the order in which they are built: the worker's, on which all stand,
    one for each environment of its own, and last the orchestrator's.
    """
    names = worker_images(f"{registry}/worker", None, root)
    worker = f"WORKER={names.worker}"
    orchestrator = f"{registry}/orchestrator:{_project_tag(root, names.worker.rpartition(':')[2])}"
    return [
        Image(names.worker, BUILD_FILE),
        *(
            Image(name, ENVIRONMENT_BUILD_FILE, (worker, f"ENVIRONMENT={lock.stem}"))
            for lock, name in names.environments.items()
        ),
        Image(
            orchestrator,
            ORCHESTRATOR,
            (worker, f"REVISION={revision(root)}", f"REPOSITORY={web_address(root)}"),
        ),
    ]


def helm_flags(orchestrator: str) -> str:
    """The flags for `helm upgrade` that name the orchestrator's image."""
    repository, _, tag = orchestrator.rpartition(":")
    values = {"repository": repository, "tag": tag}
    return " ".join(
        f"--set-string {place}.image.{key}={value}" for place in _PLACES for key, value in values.items()
    )


def _project_tag(root: Path, worker_tag: str) -> str:
    """A digest of what the orchestrator's image holds."""
    digest = hashlib.sha256(worker_tag.encode())
    for path in sorted(_files(root)):
        contents = hashlib.sha256((root / path).read_bytes()).hexdigest()
        digest.update(f"{path.as_posix()}\0{contents}\n".encode())
    return digest.hexdigest()[:_DIGITS]


def _files(root: Path) -> Iterator[Path]:
    for name in (*_COPIED, str(ORCHESTRATOR)):
        found = (root / name).rglob("*") if (root / name).is_dir() else [root / name]
        for path in found:
            if path.is_file() and "__pycache__" not in path.parts:
                yield path.relative_to(root)


def main() -> None:
    """Print the images' names, or build them."""
    parser = argparse.ArgumentParser(prog="python -m deploy.images", description=__doc__.splitlines()[0])
    parser.add_argument("registry", help="where images live, such as europe-docker.pkg.dev/project/folder")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--build", action="store_true", help="build them for the local engine")
    action.add_argument("--push", action="store_true", help="build them and push them to the registry")
    action.add_argument("--helm", action="store_true", help="print the flags of helm that name them")
    options = parser.parse_args()
    found = images(options.registry.rstrip("/"))
    if options.helm:
        print(helm_flags(found[-1].name))
        return
    for image in found:
        if options.build or (options.push and not _is_pushed(image)):
            _build(image, push=options.push)
        print(image.name)


def _is_pushed(image: Image) -> bool:
    """True if the registry has the image: where tags are immutable it refuses another of that name."""
    command = ["docker", "buildx", "imagetools", "inspect", image.name]
    return _docker(command, stderr=subprocess.DEVNULL) == 0


def _build(image: Image, *, push: bool) -> None:
    if code := _docker(image.command(push=push)):
        sys.exit(f"error: {image.build_file} could not be built (docker ended with {code}).")


def _docker(command: list[str], stderr: int | None = None) -> int:
    try:
        return subprocess.run(command, cwd=ROOT, stdout=sys.stderr, stderr=stderr, check=False).returncode
    except FileNotFoundError:
        sys.exit("error: docker is missing. Install Docker with BuildKit (buildx), or build elsewhere.")


if __name__ == "__main__":
    main()
