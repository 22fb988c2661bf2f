"""Tests of a project made from the deployment file and the settings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.config.texts import SMALL
from translations_assets.common.errors import TranslationsError
from translations_assets.common.settings import allow_all_files
from translations_assets.config.errors import ConfigError
from translations_assets.project import Project
from translations_assets.runners.kubernetes.runner import KubernetesRunner
from translations_assets.runners.local import LocalRunner

CLUSTER = (
    "runner: kubernetes\nstore: gs://bucket/store\n"
    "kubernetes: {image: registry/worker, worker-classes: {cpu: {}}}\n"
)


@pytest.fixture
def deployment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The deployment file, empty until a test writes it."""
    for name in ("STORE", "SPACE"):
        monkeypatch.delenv(f"TRANSLATIONS_{name}", raising=False)
    path = tmp_path / "deployment.yml"
    monkeypatch.setenv("TRANSLATIONS_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("TRANSLATIONS_DEPLOYMENT", str(path))
    return path


def test_where_files_of_configs_may_lie(
    deployment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the command line of one's own machine lets a config name any file."""
    text = SMALL.replace("opus_ParaCrawl/v9", f"url_file://{tmp_path}/c.[LANG].zst")
    for name in ("FILES", "MIRROR"):
        monkeypatch.delenv(f"TRANSLATIONS_{name}", raising=False)
    here = write(deployment, "runner: local\n")
    with pytest.raises(ConfigError, match="files may lie in a mirror"):
        here.configs.keep(text, "pasted")  # as the UI's job does
    assert here.store.config_names() == []
    monkeypatch.setenv("TRANSLATIONS_MIRROR", str(tmp_path))
    assert here.configs.parse(text, "my.yml").datasets.train
    monkeypatch.setenv("TRANSLATIONS_MIRROR", "")
    monkeypatch.setenv("TRANSLATIONS_FILES", "")  # so that the next call is undone
    monkeypatch.delenv("TRANSLATIONS_FILES")
    allow_all_files()  # as the command line does
    assert here.configs.parse(text, "my.yml").datasets.train
    pods = write(deployment, CLUSTER)
    with pytest.raises(ConfigError, match="files may lie in a mirror"):
        pods.configs.parse(text, "my.yml")
    pods = write(deployment, CLUSTER.replace("image:", f"files: [{tmp_path}], image:"))
    assert pods.configs.parse(text, "my.yml").datasets.train


def test_where_files_named_by_paths_may_lie(
    deployment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside the config's own file also where the UI starts runs; where steps run does not matter."""
    for name in ("FILES", "MIRROR"):
        monkeypatch.delenv(f"TRANSLATIONS_{name}", raising=False)
    config = tmp_path / "configs" / "en-ru.own.yml"
    for file in (config.with_name("c.en"), config.with_name("c.ru"), tmp_path / "c.en", tmp_path / "c.ru"):
        file.parent.mkdir(exist_ok=True)
        file.touch()
    beside, above = (SMALL.replace("opus_ParaCrawl/v9", path) for path in ("./c.[LANG]", "../c.[LANG]"))
    pods = write(deployment, CLUSTER)
    assert pods.configs.parse(beside, config).datasets.train[0].name == str(config.with_name("c.[LANG]"))
    with pytest.raises(ConfigError, match=f"{tmp_path}/c.en must not be read here: files may lie below"):
        pods.configs.parse(above, config)
    with pytest.raises(ConfigError, match="counts from the config's file, and here is none"):
        pods.configs.keep(beside, "pasted")
    with pytest.raises(ConfigError, match="must not be read here"):
        pods.configs.keep(above.replace("..", str(tmp_path)), "pasted")
    monkeypatch.setenv("TRANSLATIONS_FILES", str(tmp_path))
    assert pods.configs.parse(above, config).datasets.train


@pytest.mark.parametrize("dataset", ["url_file://{}/c.en", "{}/c.en"])
def test_overrides_name_no_file_that_a_config_may_not_name(
    dataset: str, deployment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSLATIONS_FILES", str(tmp_path / "elsewhere"))
    monkeypatch.delenv("TRANSLATIONS_MIRROR", raising=False)
    config = tmp_path / "configs" / "en-ru.own.yml"
    config.parent.mkdir()
    config.write_text(SMALL)
    (tmp_path / "c.en").touch()
    overrides = {"datasets.mono-src": [dataset.format(tmp_path)]}
    here = write(deployment, "runner: local\n")
    with pytest.raises(ConfigError, match=r"overrides: datasets\.mono-src\[0\]: .* must not be read here"):
        here.configs.read(str(config), overrides)
    monkeypatch.setenv("TRANSLATIONS_FILES", str(tmp_path))
    assert here.configs.read(str(config), overrides).config.datasets.mono_src


def test_a_config_that_is_kept_has_its_paths_written_out(
    deployment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSLATIONS_CONFIGS", str(tmp_path / "configs"))
    (tmp_path / "configs").mkdir()
    monkeypatch.setenv("TRANSLATIONS_FILES", "/")
    config = tmp_path / "en-ru.mine.yml"
    config.write_text(SMALL.replace("opus_ParaCrawl/v9", "./c.[LANG]"))
    for lang in ("en", "ru"):
        config.with_name(f"c.{lang}").touch()
    project = write(deployment, "runner: local\n")
    read = project.configs.read(str(config))
    project.configs.adopt(read)
    assert project.configs.read("en-ru.mine").config == read.config
    project.configs.adopt(read)  # the same again
    config.with_name("c.en").unlink()
    with pytest.raises(ConfigError, match=f"there is no file {tmp_path}/c.en"):
        project.configs.read("en-ru.mine")


def write(path: Path, text: str) -> Project:
    path.write_text(text)
    return Project()


def test_without_a_deployment_everything_is_here(monkeypatch: pytest.MonkeyPatch, deployment: Path) -> None:
    monkeypatch.delenv("TRANSLATIONS_DEPLOYMENT")
    project = Project()
    assert project.deployment is None
    assert isinstance(project.runner, LocalRunner)
    assert project.store.url == (deployment.parent / "state" / "store").as_uri()


def test_the_deployment_names_store_space_and_cluster(deployment: Path) -> None:
    store = deployment.parent / "shared"
    project = write(
        deployment,
        f"store: {store}\nspace: production\nrunner: kubernetes\n"
        "kubernetes: {image: registry/worker, worker-classes: {cpu: {}}}\n",
    )
    assert (project.store.url, project.space) == (store.as_uri(), "production")
    assert isinstance(project.runner, KubernetesRunner)


def test_a_deployment_may_run_on_this_machine(deployment: Path) -> None:
    assert isinstance(write(deployment, "runner: local\n").runner, LocalRunner)


def test_variables_win_over_the_deployment(deployment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSLATIONS_STORE", str(deployment.parent / "mine"))
    monkeypatch.setenv("TRANSLATIONS_SPACE", "mine")
    project = write(deployment, "store: gs://bucket\nspace: production\n")
    assert project.store.url == (deployment.parent / "mine").as_uri()
    assert project.space == "mine"


def test_what_is_wrong_with_a_deployment_is_told(deployment: Path) -> None:
    with pytest.raises(ConfigError, match=r"deployment\.yml:1: runer: unknown key\. Did you mean 'runner'"):
        assert write(deployment, "runer: local\n").runner
    with pytest.raises(TranslationsError, match="'My Space', from TRANSLATIONS_SPACE or the deployment file"):
        assert write(deployment, "space: My Space\n").space


def test_a_runner_that_makes_nothing_imports_nothing_heavy(deployment: Path) -> None:
    write(
        deployment,
        f"store: {deployment.parent}\nrunner: kubernetes\n"
        "kubernetes: {image: registry/worker, worker-classes: {cpu: {}}}\n",
    )
    code = (
        "import sys; from translations_assets.project import Project; assert Project().runner; "
        "print(*sorted({'kubernetes', 'dagster', 'dagster_k8s', 'urllib3'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
