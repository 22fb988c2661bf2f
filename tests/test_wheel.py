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
    plan = json.loads(empty.run("translations", "plan", "en-eo.demo", "--json"))
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
    assert json.loads(below.run("translations", "plan", "en-eo.demo", "--json"))["steps"]
    assert (project.folder / ".state").is_dir()
    before = (project.folder / "README.md").read_bytes()
    project.run("translations", "init", ".", code=1)
    assert (project.folder / "README.md").read_bytes() == before
