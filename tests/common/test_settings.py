"""Tests of the locations of an installation, with and without the environment variables."""

from __future__ import annotations

import getpass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from translations_assets.common import settings


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "STATE",
        "STORE",
        "STORE_BASE",
        "LEVEL",
        "CONFIGS",
        "SPACE",
        "SERVER",
        "CACHE",
        "CACHE_GB",
        "DEPLOYMENT",
    ):
        monkeypatch.delenv(f"TRANSLATIONS_{name}", raising=False)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that takes the place of the project folder, for a user named Zoë."""
    monkeypatch.setattr(settings, "project_folder", lambda: tmp_path)
    monkeypatch.setattr(getpass, "getuser", lambda: "Zoë")
    return tmp_path


def check_out(folder: Path, head: str) -> None:
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text(head, encoding="utf-8")


def test_the_repository_holds_both_packages() -> None:
    root = settings.repository_root()
    assert (root / "pipeline" / "__init__.py").is_file()
    assert (root / "translations_assets" / "common" / "settings.py").is_file()


def test_state_is_kept_in_the_checkout_whatever_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert settings.state_folder() == settings.repository_root() / ".state"


def test_state_is_kept_in_the_current_folder_when_the_packages_are_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site_packages = tmp_path / "site-packages"
    site_packages.mkdir()
    monkeypatch.setattr(settings, "repository_root", lambda: site_packages)
    monkeypatch.chdir(tmp_path)
    assert settings.state_folder() == tmp_path / ".state"


def test_a_folder_whose_pyproject_names_the_definitions_is_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = tmp_path / "mine" / "deploy"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    (tmp_path / "mine" / "pyproject.toml").write_text('[project]\nname = "another"\n', encoding="utf-8")
    assert settings.project_folder() == settings.repository_root()
    text = '[tool.dagster]\nmodule_name = "translations_assets.definitions"\n'
    (tmp_path / "mine" / "pyproject.toml").write_text(text, encoding="utf-8")
    assert settings.state_folder() == tmp_path / "mine" / ".state"
    (tmp_path / "mine" / "configs").mkdir()
    assert settings.config_folders() == (tmp_path / "mine" / "configs",)


def test_new_configs_are_written_to_no_folder_of_examples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    examples = tmp_path / "wheel"
    (examples / "configs").mkdir(parents=True)
    monkeypatch.setattr(settings, "repository_root", lambda: examples)
    assert settings.config_folders() == (examples / "configs",)
    assert settings.new_config_folder() == tmp_path / "configs"
    assert settings.config_folders() == (tmp_path / "configs",)


def test_a_relative_state_folder_is_taken_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRANSLATIONS_STATE", "here")
    assert settings.state_folder() == tmp_path / "here"
    assert settings.store_url() == str(tmp_path / "here" / "store")


def test_an_empty_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSLATIONS_STATE", "")
    assert settings.state_folder() == settings.repository_root() / ".state"


@pytest.mark.parametrize(
    ("value", "url"),
    [
        ("gs://bucket/models", "gs://bucket/models"),
        ("/data/store", "/data/store"),
        ("~/store", str(Path.home() / "store")),
    ],
)
def test_the_store_is_a_url_or_an_absolute_folder(
    value: str, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSLATIONS_STORE", value)
    assert settings.store_url() == url


def test_config_folders_are_split_by_colons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRANSLATIONS_CONFIGS", "mine::/shared/configs:")
    assert settings.config_folders() == (tmp_path / "mine", Path("/shared/configs"))


def test_configs_here_come_before_those_of_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert settings.config_folders() == (settings.repository_root() / "configs",)
    (tmp_path / "configs").mkdir()
    assert settings.config_folders() == (tmp_path / "configs",)


@pytest.mark.parametrize(
    ("head", "space"),
    [
        ("ref: refs/heads/main\n", "zoe-main"),
        ("ref: refs/heads/feature/Better_Filter #2\n", "zoe-feature-better_filter-2"),
        ("6f1ed002ab5595859014ebf0951522d9f0a1c7d3\n", "zoe-detached"),
    ],
)
def test_the_space_is_user_and_branch(project: Path, head: str, space: str) -> None:
    check_out(project, head)
    assert settings.space() == space


def test_a_worktree_names_its_own_branch(project: Path) -> None:
    worktree = project / "main" / ".git" / "worktrees" / "second"
    worktree.mkdir(parents=True)
    (worktree / "HEAD").write_text("ref: refs/heads/second\n", encoding="utf-8")
    (project / ".git").write_text("gitdir: main/.git/worktrees/second\n", encoding="utf-8")
    assert settings.space() == "zoe-second"


def test_without_git_the_space_is_the_user(project: Path) -> None:
    assert settings.space() == "zoe"


def test_a_user_without_a_name_has_a_number(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nameless() -> str:
        raise KeyError("getpwuid(): uid not found: 1234")

    monkeypatch.setattr(getpass, "getuser", nameless)
    monkeypatch.setattr("os.getuid", lambda: 1234)
    assert settings.space() == "uid-1234"


def test_the_space_can_be_named(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSLATIONS_SPACE", "production")
    assert settings.space() == "production"


@pytest.mark.parametrize("name", ["Production", "a/b", "../a", ".hidden", "a b", "a\n"])
def test_a_space_that_is_no_safe_name_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSLATIONS_SPACE", name)
    with pytest.raises(ValueError, match="cannot be the name of a space"):
        settings.space()


@given(user=st.text(min_size=1), branch=st.text(st.characters(blacklist_categories=["Cs"]), min_size=1))
def test_any_user_on_any_branch_has_a_space_that_could_be_named(user: str, branch: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(getpass, "getuser", lambda: user)
        patch.setattr(settings, "_branch", lambda _: branch)
        space = settings.space()
        assert space
        patch.setenv("TRANSLATIONS_SPACE", space)
        assert settings.space() == space


def test_the_server_is_the_one_of_make_ui_unless_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings.server_url() == "http://127.0.0.1:3000"
    monkeypatch.setenv("TRANSLATIONS_SERVER", "https://dagster.example.org")
    assert settings.server_url() == "https://dagster.example.org"


def test_people_reach_the_server_where_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSLATIONS_SERVER", "http://dagster-webserver:3000")
    assert settings.public_server_url() == ""
    monkeypatch.setenv("TRANSLATIONS_PUBLIC_SERVER", "https://dagster.example.org\n")
    assert settings.public_server_url() == "https://dagster.example.org"


def test_a_webhook_from_a_file_of_a_secret_has_no_end_of_line(monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings.webhook() == ""
    monkeypatch.setenv("TRANSLATIONS_WEBHOOK", "https://hooks.example.org/1\n")
    assert settings.webhook() == "https://hooks.example.org/1"


def test_a_login_from_a_file_of_a_secret_has_no_end_of_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRANSLATIONS_REMOTE_SETTINGS_LOGIN", raising=False)
    assert settings.remote_settings_login() == ""
    monkeypatch.setenv("TRANSLATIONS_REMOTE_SETTINGS_LOGIN", "editor:s3cret\n")
    assert settings.remote_settings_login() == "editor:s3cret"


def test_a_password_from_a_file_of_a_secret_has_no_end_of_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRANSLATIONS_SIGN_PASSWORD", raising=False)
    assert settings.sign_password() == ""
    monkeypatch.setenv("TRANSLATIONS_SIGN_PASSWORD", "s3 cret\n")
    assert settings.sign_password() == "s3 cret"


def test_downloads_are_cached_where_a_folder_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings.download_cache() is None
    monkeypatch.setenv("TRANSLATIONS_CACHE", "/cache")
    assert settings.download_cache() == (Path("/cache"), 100 * 10**9)
    monkeypatch.setenv("TRANSLATIONS_CACHE_GB", "0.5")
    assert settings.download_cache() == (Path("/cache"), 5 * 10**8)


@pytest.mark.parametrize("size", ["0", "-1", "much", "inf", "nan"])
def test_a_cache_of_no_size_is_refused(size: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSLATIONS_CACHE", "/cache")
    monkeypatch.setenv("TRANSLATIONS_CACHE_GB", size)
    with pytest.raises(ValueError, match="TRANSLATIONS_CACHE_GB.*positive number"):
        settings.download_cache()


def test_a_deployment_names_store_and_space_unless_a_variable_does(monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings.deployment_file() is None
    monkeypatch.setenv("TRANSLATIONS_DEPLOYMENT", "deployment.yml")
    assert settings.deployment_file() == Path.cwd() / "deployment.yml"
    assert settings.store_url("gs://bucket/path") == "gs://bucket/path"
    assert settings.space("production") == "production"
    monkeypatch.setenv("TRANSLATIONS_STORE", "gs://mine")
    monkeypatch.setenv("TRANSLATIONS_SPACE", "mine")
    assert (settings.store_url("gs://bucket/path"), settings.space("production")) == ("gs://mine", "mine")


def test_the_store_beneath_is_the_variables_else_the_deployments(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert settings.store_base_url() == ""
    assert settings.store_base_url("gs://production/store") == "gs://production/store"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRANSLATIONS_STORE_BASE", "production")
    assert settings.store_base_url("gs://production/store") == str(tmp_path / "production")


def test_ones_own_level_is_the_variables_else_the_deployments(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (settings.level(), settings.level("anyone")) == ("", "anyone")
    monkeypatch.setenv("TRANSLATIONS_LEVEL", "branch")
    assert settings.level("anyone") == "branch"


def test_files_of_credentials_of_every_service_are_known() -> None:
    named = {
        "HOME": "/home/ann",
        "GOOGLE_APPLICATION_CREDENTIALS": "/keys/google.json",
        "AWS_SHARED_CREDENTIALS_FILE": "/keys/aws",
        "AWS_WEB_IDENTITY_TOKEN_FILE": "/var/run/secrets/token",
    }
    found = settings.credentials(named)
    assert {*named.values()} - {"/home/ann"} < {*found}
    assert "/home/ann/.aws" in found
