"""Tests of a script's environment: in every runner the same short list, whatever its worker has."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from pipeline.common import environments
from tests.runners.pod import pods
from tests.runners.scripts import job, output, run
from tests.store.values import KEY
from translations_assets.records.manifest import Provenance
from translations_assets.runners.environment import script_environment
from translations_assets.runners.local import LocalRunner
from translations_assets.runners.wire import Request
from translations_assets.runners.work_folder import WorkFolder
from translations_assets.running.job import Job, Outcome
from translations_assets.store.local import LocalStore

# Tells its environment, and what of it Python makes.
TELL = """
    import json, locale, os, pathlib, site, sys, time
    pathlib.Path("out").mkdir()
    told = {
        "environment": dict(os.environ),
        "home": str(pathlib.Path.home()),
        "hash": hash("a text"),
        "zone": time.strftime("%Z", time.localtime(1e9)),
        "encoding": locale.getpreferredencoding(),
        "path": sys.path,
        "here": os.getcwd(),
    }
    pathlib.Path("out/copy.txt").write_text(json.dumps(told))
"""
# What a worker may have, and a script must not see
OTHERS = {
    "FOO": "bar",
    "SECRET": "of the user's shell",
    "LANG": "tr_TR.ISO8859-9",
    "LC_ALL": "C",
    "LC_CTYPE": "C",
    "LANGUAGE": "tr",
    "TZ": "Asia/Tokyo",
    "PYTHONHASHSEED": "1",
    "PYTHONOPTIMIZE": "2",
    "PYTHONUTF8": "0",
    "PYTHONWARNINGS": "error",
    "USER": "ann",
    "LOGNAME": "ann",
    "SHELL": "/bin/zsh",
    "COLUMNS": "7",
    "OMP_NUM_THREADS": "13",
    "OPENBLAS_NUM_THREADS": "13",
    "MKL_NUM_THREADS": "13",
    "OMP_SCHEDULE": "dynamic",
    "MKL_CBWR": "AVX2",
    "OPENBLAS_CORETYPE": "Haswell",
    "NVIDIA_TF32_OVERRIDE": "1",
    "CUDA_VISIBLE_DEVICES": "9",
    "GOOGLE_APPLICATION_CREDENTIALS": "/secret/key.json",
    "AWS_SECRET_ACCESS_KEY": "hidden",
    "WANDB_API_KEY": "hidden",
    "HF_HOME": "/models",
    "XDG_CACHE_HOME": "/cache",
    "LD_PRELOAD": "",
    "DAGSTER_HOME": "/dagster",
    "TRANSLATIONS_STORE": "/elsewhere",
    "TRANSLATIONS_SPACE": "ann",
}
PASSED = {
    "https_proxy": "http://127.0.0.1:9",
    "NO_PROXY": "localhost",
    "SSL_CERT_FILE": "/etc/ssl/certs/ca-certificates.crt",
}
ALWAYS = {
    *("PATH", "LANG", "LC_ALL", "TZ", "HOME", "TMPDIR"),
    *("PYTHONHASHSEED", "PYTHONNOUSERSITE", "PYTHONPATH", "PYTHONSAFEPATH", "PYTHONUNBUFFERED"),
    *(
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "RAYON_NUM_THREADS",
    ),
    *("CUDA_DEVICE_ORDER", "CUDA_VISIBLE_DEVICES", "CUDA_CACHE_PATH", "PIP_CACHE_DIR", "PIP_CONFIG_FILE"),
    *("TRANSLATIONS_THREADS", "TRANSLATIONS_GPUS", "TRANSLATIONS_WORKSPACE", "TRANSLATIONS_MEMORY"),
    *("TRANSLATIONS_GRACE", "TRANSLATIONS_PROGRESS", "TRANSLATIONS_FILES", "TRANSLATIONS_KEYS"),
    "TRANSLATIONS_ENVIRONMENTS",
}


def seen_by(work: Job, outer: Mapping[str, str]) -> Mapping[str, str]:
    """The environment of a job's script, given its worker's."""
    folder = WorkFolder(Path("/place/folder"))
    request = Request(work, "file:///store", "/work", threads=2, gpus=(), workspace=512, memory=2000)
    return script_environment(request, folder, outer)


def on_this_machine(
    store: LocalStore, folder: Path, work: Job, environment: Mapping[str, str], patch: pytest.MonkeyPatch
) -> Outcome:
    """As the local runner does it."""
    for name, value in environment.items():
        patch.setenv(name, value)
    return run(LocalRunner(folder / "state", cpus=2), store, work)


def in_a_pod(
    store: LocalStore, folder: Path, work: Job, environment: Mapping[str, str], patch: pytest.MonkeyPatch
) -> Outcome:
    """As a cluster does it: the variables are those of the image and of the Job."""
    (outcome,) = pods.ended(pods.start(pods.command(store, work), folder, environment)).outcomes
    return outcome


RUNNERS = (on_this_machine, in_a_pod)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A person's home, with packages of their own."""
    version = f"python3.{sys.version_info.minor}"
    (tmp_path / "home" / ".local" / "lib" / version / "site-packages").mkdir(parents=True)
    return tmp_path / "home"


@pytest.mark.parametrize("start", RUNNERS)
def test_a_script_sees_what_is_listed_and_nothing_else(
    start: Callable[..., Outcome],
    store: LocalStore,
    tmp_path: Path,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in (*os.environ.keys() & {"LD_LIBRARY_PATH", "TRANSLATIONS_MIRROR", "TRANSLATIONS_MEMORY"},):
        monkeypatch.delenv(name)
    given = {**OTHERS, **PASSED, "HOME": str(home), "HF_TOKEN": "hf_planted"}
    work = job(store, TELL, secrets=("HF_TOKEN",), worker="large-cpu")
    told = json.loads(
        output(store, start(store, tmp_path, work, given, monkeypatch)).replace("***", "hf_planted")
    )
    seen = told["environment"]
    ours = {
        name for name in os.environ if name.lower().endswith("_proxy") or "CERT" in name or "CA_BUND" in name
    }
    assert set(seen) - ours == (ALWAYS | PASSED.keys() | {"HF_TOKEN"}) - ours
    assert {name: seen[name] for name in PASSED} == PASSED
    assert seen["HF_TOKEN"] == "hf_planted"
    assert (seen["LANG"], seen["LC_ALL"], seen["TZ"], told["zone"]) == ("C.UTF-8", "C.UTF-8", "UTC", "UTC")
    assert told["encoding"] == "UTF-8"
    assert told["home"] == seen["HOME"] == seen["TMPDIR"] == f"{told['here']}/tmp"
    assert not [path for path in told["path"] if path.startswith(str(home))]
    assert seen["PYTHONPATH"] == f"{told['here']}/code"
    assert seen["TRANSLATIONS_THREADS"] != "13"
    assert {seen[f"{name}_NUM_THREADS"] for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")} == {"1"}
    assert seen["CUDA_VISIBLE_DEVICES"] == seen["TRANSLATIONS_GPUS"] == seen["TRANSLATIONS_FILES"] == ""
    assert seen["TRANSLATIONS_KEYS"].split(":")[0] == "/secret/key.json"
    # Caches stay where they were: a home of one attempt would be filled by each again
    assert seen["TRANSLATIONS_ENVIRONMENTS"].startswith(str(home))
    assert seen["PIP_CACHE_DIR"] == f"{home}/.cache/pip"


@pytest.mark.parametrize("start", RUNNERS)
def test_what_a_script_computes_of_its_environment_is_the_same_everywhere(
    start: Callable[..., Outcome], store: LocalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = """
    import pathlib, subprocess, sys, time
    pathlib.Path("out").mkdir()
    child = "print(hash('a text'), list({'one', 'two', 'three', 'four'}))"
    told = [hash("a text"), time.ctime(0), pathlib.Path.home() == pathlib.Path.cwd() / "tmp"]
    told += [subprocess.run([sys.executable, "-c", child], capture_output=True, text=True).stdout]
    told += [subprocess.run(["sort"], input="b\\nB\\na\\n\\xc4\\n", capture_output=True, text=True).stdout]
    pathlib.Path("out/copy.txt").write_text(repr(told))
    """
    texts = set()
    for number, zone in enumerate(("Asia/Tokyo", "America/Lima")):
        given = {"TZ": zone, "PYTHONHASHSEED": str(number + 1), "LC_ALL": "C", "HOME": str(tmp_path)}
        work = job(store, script, key=f"{number}b" * 32)
        texts.add(output(store, start(store, tmp_path, work, given, monkeypatch)))
    (text,) = texts
    assert "Thu Jan  1 00:00:00 1970" in text
    assert "True" in text
    assert repr("B\na\nb\n\xc4\n") in text


@pytest.mark.parametrize(("repeatable", "threads"), [(True, "1"), (None, "1"), (False, "2")])
def test_libraries_share_sums_between_threads_where_bytes_may_differ_anyway(
    repeatable: bool | None, threads: str, store: LocalStore, tmp_path: Path
) -> None:
    work = job(store, TELL, provenance=Provenance(repeatable=repeatable))
    seen = seen_by(work, {})
    assert {seen[f"{name}_NUM_THREADS"] for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")} == {threads}
    assert seen["TRANSLATIONS_THREADS"] == seen["RAYON_NUM_THREADS"] == "2"


def test_a_secret_is_the_steps_that_names_it(store: LocalStore, tmp_path: Path) -> None:
    outer = {
        "HF_TOKEN": "hf_planted",
        "TRANSLATIONS_LOGIN_DATA_EXAMPLE_ORG": "ann:secret",
        "HOME": "/home/ann",
    }
    for names in ((), ("HF_TOKEN",), ("TRANSLATIONS_LOGIN_DATA_EXAMPLE_ORG",)):
        work = job(store, TELL, secrets=names, key=KEY)
        seen = seen_by(work, outer)
        assert {name for name in outer if name in seen} - {"HOME"} == set(names)


def test_a_relative_mirror_is_where_the_person_is(store: LocalStore, tmp_path: Path) -> None:
    for mirror, seen in (
        ("data/mirror", str(Path.cwd() / "data" / "mirror")),
        ("gs://bucket/mirror", "gs://bucket/mirror"),
        ("/mirror", "/mirror"),
    ):
        found = seen_by(job(store, TELL), {"TRANSLATIONS_MIRROR": mirror})
        assert found["TRANSLATIONS_MIRROR"] == seen


def test_environments_of_programs_are_found_where_scripts_run_by_hand_make_them(
    store: LocalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = seen_by(job(store, TELL), {"HOME": str(tmp_path)})
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("TRANSLATIONS_ENVIRONMENTS", raising=False)
    assert str(environments._environments()) == seen["TRANSLATIONS_ENVIRONMENTS"]
    named = seen_by(job(store, TELL), {"TRANSLATIONS_ENVIRONMENTS": "/opt/made"})
    assert named["TRANSLATIONS_ENVIRONMENTS"] == "/opt/made"
