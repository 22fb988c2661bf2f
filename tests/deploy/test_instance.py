"""Dagster's settings on a cluster: valid, the same in Helm's values, and as the runner needs them."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from dagster._config import process_config
from dagster._core.instance.ref import InstanceRef
from dagster_gcp.gcs.compute_log_manager import GCSComputeLogManager
from dagster_k8s import K8sRunLauncher
from dagster_postgres import PostgresEventLogStorage, PostgresRunStorage, PostgresScheduleStorage

from tests.deploy.files import DEPLOY, objects, read_yaml, values

FILE = DEPLOY / "dagster.yaml"
CHART = "DAGSTER_CHART"  # folder of the chart, unpacked: helm pull --untar dagster/dagster


def instance() -> dict[str, Any]:
    return read_yaml(FILE)


def snake(value: Any) -> Any:
    """Names as Dagster's settings have them, where a chart's have capitals inside."""
    if not isinstance(value, dict):
        return value
    return {re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower(): snake(inner) for name, inner in value.items()}


def test_dagster_reads_the_settings(tmp_path: Path) -> None:
    shutil.copy(FILE, tmp_path / "dagster.yaml")
    ref = InstanceRef.from_dir(str(tmp_path))
    settings: Any = ref.settings
    assert settings["run_monitoring"]["max_resume_run_attempts"] == 0
    assert settings["run_retries"] == {
        "enabled": True,
        "max_retries": 3,
        "retry_on_asset_or_op_failure": False,
    }
    assert settings["telemetry"] == {"enabled": False}


@pytest.mark.parametrize(
    ("section", "kind"),
    [
        ("run_launcher", K8sRunLauncher),
        ("compute_logs", GCSComputeLogManager),
        ("run_storage", PostgresRunStorage),
        ("event_log_storage", PostgresEventLogStorage),
        ("schedule_storage", PostgresScheduleStorage),
    ],
)
def test_each_part_takes_its_config(section: str, kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGSTER_PG_PASSWORD", "of a test")
    found = instance()[section]
    assert found["class"] == kind.__name__
    result = process_config(kind.config_type(), found["config"])
    assert result.success, result.errors


def test_a_password_is_never_in_the_settings() -> None:
    for section in ("run_storage", "event_log_storage", "schedule_storage"):
        assert instance()[section]["config"]["postgres_db"]["password"] == {"env": "DAGSTER_PG_PASSWORD"}


def test_the_charts_values_say_the_same() -> None:
    chart, found = values(), instance()
    daemon = chart["dagsterDaemon"]
    assert snake(daemon["runMonitoring"]) == found["run_monitoring"]
    assert snake(daemon["runRetries"]) == found["run_retries"]
    assert snake(daemon["sensors"]) == found["sensors"]
    assert snake(daemon["schedules"]) == found["schedules"]
    coordinator = daemon["runCoordinator"]["config"]["queuedRunCoordinator"]
    assert snake(coordinator) == found["run_coordinator"]["config"]
    logs = chart["computeLogManager"]["config"]["gcsComputeLogManager"]
    assert snake(logs) == found["compute_logs"]["config"]
    assert snake(chart["retention"]) == {"enabled": True, **found["retention"]}
    assert snake(chart["pythonLogs"]) == found["python_logs"]
    assert chart["telemetry"] == found["telemetry"]
    assert chart["additionalInstanceConfig"] == {key: found[key] for key in ("nux", "code_servers")}


def test_the_charts_launcher_is_the_same() -> None:
    chart, config = values(), instance()["run_launcher"]["config"]
    launcher = chart["runLauncher"]["config"]["k8sRunLauncher"]
    for name in ("imagePullPolicy", "loadInclusterConfig", "labels"):
        assert launcher[name] == config[next(iter(snake({name: 0})))]
    parts = launcher["runK8sConfig"]
    assert {next(iter(snake({name: 0}))): part for name, part in parts.items()} == config["run_k8s_config"]
    assert config["dagster_home"] == chart["global"]["dagsterHome"]
    assert config["service_account_name"] == chart["serviceAccount"]["name"]


def test_the_database_is_the_same() -> None:
    chart, found = values()["postgresql"], instance()["run_storage"]["config"]["postgres_db"]
    assert chart["enabled"] is False
    assert (chart["postgresqlUsername"], chart["postgresqlDatabase"]) == (found["username"], found["db_name"])
    assert (chart["postgresqlHost"], chart["service"]["port"]) == (found["hostname"], found["port"])
    assert chart["postgresqlScheme"] == found["scheme"]


def test_no_process_writes_where_its_root_is_read_only() -> None:
    chart = values()
    code = chart["dagster-user-deployments"]["deployments"][0]
    for part in (chart["dagsterWebserver"], chart["dagsterDaemon"], code):
        assert part["securityContext"]["readOnlyRootFilesystem"] is True
        assert part["podSecurityContext"]["runAsNonRoot"] is True
        assert "/tmp" in {mount["mountPath"] for mount in part["volumeMounts"]}
    assert chart["computeLogManager"]["config"]["gcsComputeLogManager"]["localDir"].startswith("/tmp/")


def test_the_location_reloads() -> None:
    code = values()["dagster-user-deployments"]["deployments"][0]
    assert code["codeServerArgs"] == ["-m", "translations_assets.definitions"]
    assert "dagsterApiGrpcArgs" not in code


def test_priorities_exist() -> None:
    spec = instance()["run_launcher"]["config"]["run_k8s_config"]["pod_spec_config"]
    assert spec["priorityClassName"] in objects("PriorityClass")


def test_the_values_follow_the_charts_schema() -> None:
    chart = os.environ.get(CHART)
    if not chart:
        pytest.skip(f"{CHART} names no folder of Dagster's chart")
    defaults = yaml.safe_load((Path(chart) / "values.yaml").read_text(encoding="utf-8"))
    schema = yaml.safe_load((Path(chart) / "values.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(merged(defaults, values()), schema)
    assert unknown(values(), defaults) == set()


def merged(defaults: Any, given: Any) -> Any:
    """Values as Helm merges them: mappings key by key, all else replaced."""
    if not (isinstance(defaults, dict) and isinstance(given, dict)):
        return given
    return {**defaults, **{name: merged(defaults.get(name), value) for name, value in given.items()}}


def unknown(given: dict[str, Any], defaults: dict[str, Any]) -> set[str]:
    """Sections, two levels deep, that the chart does not know: Helm says nothing of a misspelt one."""
    missing = given.keys() - defaults.keys()
    for name, value in given.items():
        if isinstance(value, dict) and isinstance(defaults.get(name), dict):
            missing |= {f"{name}.{inner}" for inner in value.keys() - defaults[name].keys()}
    return missing
