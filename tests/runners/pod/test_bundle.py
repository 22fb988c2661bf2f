"""The worker's own code: complete, small, and the same bytes for the same code."""

from __future__ import annotations

import hashlib
import io
import site
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from translations_assets.runners.pod import bundle
from translations_assets.runners.pod.bundle import worker_bundle, worker_modules

# Runs every import statement of every module of the bundle, with the libraries and without a checkout.
IMPORT_ALL = """
import ast, pathlib, sys
root = pathlib.Path(sys.argv[1])
sys.path = [str(root), *sys.path[1:], *sys.argv[2:]]

def imports(node):
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        yield ast.unparse(node)
    if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
        for child in ast.iter_child_nodes(node):
            yield from imports(child)

for path in root.rglob("*.py"):
    for statement in imports(ast.parse(path.read_text())):
        exec(statement, {})
ours = [module for name, module in sys.modules.items() if name.startswith("translations_assets")]
assert all(module.__file__.startswith(str(root)) for module in ours), ours
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def test_every_import_works_from_the_bundle_alone(tmp_path: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(worker_bundle())) as tar:
        tar.extractall(tmp_path, filter="data")
    words = [sys.executable, "-I", "-S", "-c", IMPORT_ALL, str(tmp_path), *site.getsitepackages()]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    imported = set(done.stdout.split())
    assert {"translations_assets", "psutil"} <= imported
    assert imported.isdisjoint({"dagster", "pydantic", "typer", "rich", "kubernetes", "pipeline", "yaml"})


def test_the_bundle_is_the_same_for_the_same_code() -> None:
    first = worker_bundle()
    worker_bundle.cache_clear()
    assert hashlib.sha256(worker_bundle()).digest() == hashlib.sha256(first).digest()
    with tarfile.open(fileobj=io.BytesIO(first)) as tar:
        members = tar.getmembers()
    assert [member.name for member in members] == sorted(member.name for member in members)
    assert {(member.mtime, member.uid, member.uname, member.mode) for member in members} == {
        (0, 0, "", 0o644)
    }


def test_the_bundle_holds_what_the_worker_imports_and_nothing_else() -> None:
    names = set(worker_modules())
    assert {
        "translations_assets",
        "translations_assets.runners.launcher",  # run by its path
        "translations_assets.store.local",  # imported in a function
    } <= names
    assert not {name for name in names if name.split(".")[1:2] in (["cli"], ["defs"], ["config"], ["stages"])}
    assert "translations_assets.runners.local" not in names


def test_imports_are_found_wherever_they_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        "__init__": "",
        "runners/__init__": "",
        "runners/pod/__init__": "",
        "runners/pod/main": "import translations_assets.one\ndef f():\n import translations_assets.two.deep",
        "one": "try:\n from translations_assets.three import name\nexcept ImportError:\n pass",
        "two/__init__": "",
        "two/deep": "if TYPE_CHECKING:\n from translations_assets import hint\nelse:\n import os",
        "three": "name = 1",
        "hint": "",
        "unused": "",
    }
    for name, text in texts.items():
        path = tmp_path / "translations_assets" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(bundle, "_ROOT", tmp_path)
    found = {name.removeprefix("translations_assets").removeprefix(".") for name in worker_modules()}
    assert found == {"", "runners", "runners.pod", "runners.pod.main", "one", "two", "two.deep", "three"}
