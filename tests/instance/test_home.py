"""Preparing DAGSTER_HOME: once, by one process, without touching what a user wrote."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from dagster import DagsterInstance
from dagster._core.run_coordinator import QueuedRunCoordinator
from sqlalchemy.exc import OperationalError

from tests.shared_home import create_databases
from translations_assets.common.errors import TranslationsError
from translations_assets.common.settings import repository_root
from translations_assets.instance import home as dagster_home
from translations_assets.instance.home import home, prepare

SHIPPED = Path(dagster_home.__file__).with_name("dagster.yaml").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def _its_own_databases(monkeypatch: pytest.MonkeyPatch) -> None:
    """None here is a copy of another."""
    monkeypatch.setattr(dagster_home, "_create_databases", create_databases)


def ship(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make `text` the dagster.yaml that comes with the package."""
    shipped = folder / "shipped.yaml"
    shipped.write_text(text, encoding="utf-8")
    monkeypatch.setattr(dagster_home, "_SHIPPED", shipped)


def test_home_is_in_the_state_folder_unless_the_user_set_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSLATIONS_STATE", str(tmp_path))
    monkeypatch.setenv("DAGSTER_HOME", "")
    assert home() == tmp_path / "dagster"
    monkeypatch.setenv("DAGSTER_HOME", "/srv/dagster")
    assert home() == Path("/srv/dagster")


def test_the_shipped_settings_reach_dagster(tmp_path: Path) -> None:
    prepare(tmp_path / "home")
    assert (tmp_path / "home" / "dagster.yaml").read_text(encoding="utf-8") == SHIPPED
    with DagsterInstance.from_config(str(tmp_path / "home")) as instance:
        assert not instance.telemetry_enabled
        assert not instance.nux_enabled
        assert not isinstance(instance.run_coordinator, QueuedRunCoordinator)
        assert instance.run_monitoring_enabled
        assert instance.run_monitoring_max_runtime_seconds == 0


def test_all_databases_are_there_afterwards(tmp_path: Path) -> None:
    prepare(tmp_path)
    databases = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.db")}
    assert databases == {"history/runs.db", "history/runs/index.db", "schedules/schedules.db"}


PREPARE_AND_USE = """
import os, sys, traceback
from pathlib import Path
from dagster import DagsterInstance
from translations_assets.instance.home import prepare

def use():
    prepare(Path(sys.argv[1]))
    with DagsterInstance.from_config(sys.argv[1]) as instance:
        instance.get_runs_count()
        instance.all_asset_keys()
        instance.all_instigator_state()

prepare(Path(f"{sys.argv[1]}-other"))  # imports all that it takes, so that the real race is close
start, go = os.pipe()
children = []
for _ in range(6):
    if not (child := os.fork()):
        os.close(go)
        os.read(start, 1)  # until all are there
        try:
            use()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    children.append(child)
os.close(go)
sys.exit(any([os.waitpid(child, 0)[1] for child in children]))
"""


@pytest.mark.slow
def test_six_processes_may_start_with_a_fresh_home_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PREPARE_AND_USE, str(tmp_path / "home")]
    done = subprocess.run(
        command, cwd=repository_root(), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    with DagsterInstance.from_config(str(tmp_path / "home")) as instance:
        assert instance.get_runs_count() == 0


def test_the_second_call_does_not_import_dagster(tmp_path: Path) -> None:
    prepare(tmp_path)
    code = (
        "import sys; from pathlib import Path; from translations_assets.instance.home import prepare; "
        "prepare(Path(sys.argv[1])); sys.exit('dagster' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=repository_root(), check=True)


def test_a_user_s_dagster_yaml_is_never_touched(tmp_path: Path) -> None:
    (tmp_path / "dagster.yaml").write_text("telemetry: {enabled: false}\n", encoding="utf-8")
    prepare(tmp_path)
    prepare(tmp_path)
    assert (tmp_path / "dagster.yaml").read_text(encoding="utf-8") == "telemetry: {enabled: false}\n"


def test_an_untouched_older_version_is_renewed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(tmp_path / "home")
    newer = SHIPPED + "\nrun_retries: {enabled: true}\n"
    ship(newer, tmp_path, monkeypatch)
    prepare(tmp_path / "home")
    assert (tmp_path / "home" / "dagster.yaml").read_text(encoding="utf-8") == newer


def test_an_edited_version_is_kept_and_the_user_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    prepare(tmp_path / "home")
    config = tmp_path / "home" / "dagster.yaml"
    config.write_text(SHIPPED + "\n# mine\n", encoding="utf-8")
    ship(SHIPPED + "\nrun_retries: {enabled: true}\n", tmp_path, monkeypatch)
    prepare(tmp_path / "home")
    prepare(tmp_path / "home")
    assert config.read_text(encoding="utf-8") == SHIPPED + "\n# mine\n"
    assert [record.message for record in caplog.records if record.name == dagster_home.__name__] == [
        f"{config} was edited and is kept; the settings shipped now: {tmp_path / 'shipped.yaml'}"
    ]


@pytest.mark.parametrize("name", ["dagster.yaml", "history/runs.db", "schedules/schedules.db"])
def test_what_was_deleted_is_made_again(tmp_path: Path, name: str) -> None:
    prepare(tmp_path)
    (tmp_path / name).unlink()
    prepare(tmp_path)
    assert (tmp_path / name).exists()


def test_databases_of_single_runs_may_be_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one_run = tmp_path / "history" / "runs" / "3d3a9b3e-0000-4000-8000-000000000000.db"
    one_run.parent.mkdir(parents=True)
    one_run.touch()
    prepare(tmp_path)
    one_run.unlink()
    monkeypatch.setattr(dagster_home, "_create_databases", lambda _: pytest.fail("prepared again"))
    prepare(tmp_path)


def test_a_mistake_in_dagster_yaml_is_told_each_time_until_it_is_mended(tmp_path: Path) -> None:
    config = tmp_path / "dagster.yaml"
    config.write_text("telemtry: {enabled: false}\n", encoding="utf-8")
    for _ in range(2):
        with pytest.raises(Exception, match="telemtry"):
            prepare(tmp_path)
    config.write_text("telemetry: {enabled: false}\n", encoding="utf-8")
    prepare(tmp_path)
    assert (tmp_path / "history" / "runs.db").exists()


def test_the_shipped_file_is_yaml_without_paths() -> None:
    settings = yaml.safe_load(SHIPPED)
    assert "storage" not in settings
    assert not [value for value in str(settings).split("'") if value.startswith("/")]


def test_a_database_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OperationalError("CREATE TABLE", None, sqlite3.OperationalError("database or disk is full"))

    monkeypatch.setattr("dagster.DagsterInstance.from_config", fail)
    with pytest.raises(TranslationsError, match="disk is full.*Make room"):
        prepare(tmp_path / "home")


def test_a_mounted_home_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dagster.yaml").write_text("telemetry: {enabled: false}\n", encoding="utf-8")
    monkeypatch.setattr("os.access", lambda *_: False)  # root writes whatever the mode says
    prepare(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["dagster.yaml"]
