"""The wheel holds all that its commands read."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from tests.wheel import Installed, install_wheel
from translations_assets.keys.key import KeyMaker
from translations_assets.settings import repository_root

pytestmark = pytest.mark.slow
ROOT = repository_root()
DEMO = "en-eo.demo"
SCRIPT = "pipeline.train.train"
CODE = f"""
import hashlib, json
from translations_assets.keys.key import KeyMaker
from translations_assets.settings import repository_root
keys = KeyMaker(repository_root())
bundle = hashlib.sha256(keys.bundle("{SCRIPT}")).hexdigest()
print(json.dumps([str(repository_root()), bundle, dict(keys.libraries("{SCRIPT}"))]))
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install_wheel(tmp_path_factory.mktemp("wheel"))


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
    project.run("python", "-m", "translations_assets.dagster_home")
    dagster = ("python", "-m", "dagster", "asset", "materialize", "-m", "translations_assets.definitions")
    project.run(*dagster, "--select", "dataset_devtest", "--partition", DEMO)
    project.run("translations", "train", DEMO, "--target", "merge_devset", "--yes")
    plan = json.loads(project.run("translations", "plan", DEMO, "--target", "merge_devset", "--json"))
    assert {step["status"] for step in plan["steps"]} == {"cached"}
    assert not (empty.folder / ".state").exists()


def test_a_cluster_asks_for_the_extra(empty: Installed) -> None:
    empty.run("translations", "init", "models")
    project = Installed(empty.programs, empty.folder / "models")
    code = (
        "import os; os.environ['TRANSLATIONS_DEPLOYMENT'] = 'deploy/deployment.on-premises.example.yml'; "
        "from translations_assets.project import this_project; this_project().runner"
    )
    assert "'translations-assets[cluster]'" in project.failed("python", "-c", code)
