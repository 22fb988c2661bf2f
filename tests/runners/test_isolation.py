"""Tests of a script's reach: its bundle, its libraries, and its environment; nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.runners.scripts import COPY, KEY, job, output, run, written
from translations_assets.runners.local import LocalRunner
from translations_assets.runners.machine import Gpu, script_memory
from translations_assets.store.local import LocalStore
from translations_assets.store.verify import verify


def test_a_module_that_is_missing_from_the_bundle_is_not_taken_from_the_checkout(
    runner: LocalRunner, store: LocalStore
) -> None:
    """`pipeline.common.lines` is in the repository, which an editable install puts on the import path."""
    outcome = run(runner, store, job(store, written("import pipeline.common.lines")))
    assert outcome.kind == "failed"
    assert "No module named 'pipeline.common'" in outcome.log_tail


@pytest.mark.parametrize("name", ["translations_assets", "translations_assets.keys", "tests", "benchmarks"])
def test_the_repository_cannot_be_imported(runner: LocalRunner, store: LocalStore, name: str) -> None:
    outcome = run(runner, store, job(store, written(f"import {name}")))
    assert outcome.kind == "failed"
    assert "ModuleNotFoundError" in outcome.log_tail


@pytest.mark.parametrize("name", ["..%2F..%2Foutside", "%2E%2E", "..%2F..%2F..%2F..%2Foutside"])
def test_a_resumed_script_is_given_no_set_that_leads_out(
    runner: LocalRunner, store: LocalStore, tmp_path: Path, name: str
) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "model.npz").write_text("a model")
    for number in ("000100", "000200"):
        store.add_checkpoint(KEY, 1, number, tmp_path / "set")
    sets = store.root / "checkpoints" / KEY / "1"
    (sets / "000200").rename(sets / name)
    script = """
    import json, os, pathlib
    sets = pathlib.Path(os.environ["TRANSLATIONS_CHECKPOINTS"])
    pathlib.Path("out").mkdir()
    pathlib.Path("out/copy.txt").write_text(json.dumps(sorted(path.name for path in sets.iterdir())))
    """
    before = set(tmp_path.rglob("outside*"))
    outcome = run(runner, store, job(store, script, resumable=True))
    assert json.loads(output(store, outcome)) == ["000100"]
    assert set(tmp_path.rglob("outside*")) == before


def test_work_folders_are_not_made_or_swept_behind_a_link(
    runner: LocalRunner, store: LocalStore, tmp_path: Path
) -> None:
    """A worker removes what it finds among work folders: it must be what workers have left."""
    thesis = tmp_path / "thesis"
    (thesis / "00c0ffee").mkdir(parents=True)
    (thesis / "00c0ffee" / "chapter").write_text("years of work")
    work = job(store, COPY)
    (store.root / "work").symlink_to(thesis)
    outcome = run(runner, store, work)
    assert outcome.kind == "temporary"
    assert "is a symbolic link" in outcome.message
    assert (thesis / "00c0ffee" / "chapter").read_text() == "years of work"
    (problem,) = verify(store).problems
    assert (problem.kind, problem.path) == ("strange", "work")


def test_the_libraries_of_the_environment_can_be_imported(runner: LocalRunner, store: LocalStore) -> None:
    assert run(runner, store, job(store, written("import psutil"))).kind == "done"


def test_processes_that_a_script_starts_find_the_bundle(runner: LocalRunner, store: LocalStore) -> None:
    script = """
    import multiprocessing, pathlib, subprocess, sys

    def double(number):
        return 2 * number

    if __name__ == "__main__":
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            doubled = pool.map(double, [21])
        child = subprocess.run([sys.executable, "-c", "import pipeline; print(pipeline.__file__)"],
                               capture_output=True, text=True, check=True)
        pathlib.Path("out").mkdir()
        pathlib.Path("out/copy.txt").write_text(f"{doubled} {child.stdout}")
    """
    text = output(store, run(runner, store, job(store, script)))
    assert text.startswith("[42] ")
    assert text.strip().endswith("/code/pipeline/__init__.py")


def test_gpus_are_counted_anew_by_cuda(tmp_path: Path, store: LocalStore) -> None:
    runner = LocalRunner(tmp_path / "state", cpus=2, gpus=[Gpu("3", 16_000), Gpu("5", 24_000)])
    granted = ("GPUS", "WORKSPACE", "THREADS", "MEMORY")
    names = ["CUDA_VISIBLE_DEVICES", *(f"TRANSLATIONS_{name}" for name in granted)]
    memory = script_memory()
    script = f"""
    import os, pathlib
    pathlib.Path("out").mkdir()
    pathlib.Path("out/copy.txt").write_text(" | ".join(os.environ[name] for name in {names}))
    """
    all_of_them = run(runner, store, job(store, script, worker="large-gpu"))
    assert output(store, all_of_them) == f"3,5 | 0 1 | 12000 | 2 | {memory}"
    one = run(runner, store, job(store, script, worker="gpu", generation=2))
    assert output(store, one) in (
        f"3 | 0 | 12000 | 1 | {memory // 2}",
        f"5 | 0 | 18000 | 1 | {memory // 2}",
    )


def test_a_bundle_that_is_none_fails_the_step_in_words(runner: LocalRunner, store: LocalStore) -> None:
    """Another attempt would find the same."""
    whole = job(store, COPY)
    bundle = store.add_bytes(store.read_blob(whole.bundle)[:700])
    outcome = run(runner, store, replace(whole, bundle=bundle))
    assert outcome.kind == "failed"
    said = f"The code bundle {bundle.digest} of copy-en cannot be used: it is no tar, or a damaged one"
    assert outcome.message.startswith(said)
    assert "Traceback" not in outcome.log_tail
    assert not [*(store.root / "work").glob("*")]
