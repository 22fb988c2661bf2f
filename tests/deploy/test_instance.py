"""Dagster's settings on a cluster: valid, the same in Helm's values, and as the runner needs them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from dagster import DagsterRun
from dagster._config import process_config
from dagster._core.instance.ref import InstanceRef
from dagster._core.utils import make_new_run_id
from dagster_gcp.gcs.compute_log_manager import GCSComputeLogManager
from dagster_k8s import K8sRunLauncher
from dagster_k8s.container_context import K8sContainerContext
from dagster_k8s.job import USER_DEFINED_K8S_CONFIG_KEY, construct_dagster_k8s_job
from dagster_postgres import PostgresEventLogStorage, PostgresRunStorage, PostgresScheduleStorage

from tests.deploy.files import DEPLOY, objects, read_yaml, values

FILE = DEPLOY / "dagster.yaml"
NOTICES = ("TRANSLATIONS_PUBLIC_SERVER", "TRANSLATIONS_WEBHOOK")  # variables that only they need
CHART = "DAGSTER_CHART"  # folder of the chart, unpacked: helm pull --untar dagster/dagster

KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: none
contexts: [{name: none, context: {cluster: none, user: none}}]
clusters: [{name: none, cluster: {server: "http://127.0.0.1:9"}}]
users: [{name: none, user: {}}]
"""


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
    chart, found = values(), instance()["run_launcher"]
    assert chart["runLauncher"]["type"] == "CustomRunLauncher"
    assert chart["runLauncher"]["config"]["customRunLauncher"] == found
    assert found["config"]["dagster_home"] == chart["global"]["dagsterHome"]
    assert found["config"]["postgres_password_secret"] == chart["global"]["postgresqlSecretName"]


def test_runs_get_what_the_code_server_has() -> None:
    """From the launcher: what the chart copies from the code server would count as a user's wish."""
    code, config = (
        values()["dagster-user-deployments"]["deployments"][0],
        instance()["run_launcher"]["config"],
    )
    assert code["includeConfigInLaunchedRuns"] == {"enabled": False}
    for_runs = [pair for pair in code["env"] if pair["name"] not in NOTICES]
    assert config["env_vars"] == [f"{pair['name']}={pair['value']}" for pair in for_runs]
    assert (config["volumes"], config["volume_mounts"]) == (code["volumes"], code["volumeMounts"])
    assert config["resources"] == code["resources"]
    account = values()["dagster-user-deployments"]["serviceAccount"]["name"]
    assert config["service_account_name"] == account


def test_the_webhook_of_notices_is_a_secret_that_runs_do_not_get() -> None:
    code = values()["dagster-user-deployments"]["deployments"][0]
    given = {pair["name"]: pair for pair in code["env"]}
    secret = given["TRANSLATIONS_WEBHOOK"]["valueFrom"]["secretKeyRef"]
    guide = (DEPLOY.parent / "docs" / "deployment.md").read_text(encoding="utf-8")
    made = re.search(r"create secret generic (\S+webhook) \\?\s*--from-literal (\w+)=", guide)
    assert made
    assert secret == {"name": made[1], "key": made[2], "optional": True}
    assert set(NOTICES) <= set(given)
    assert not [line for line in instance()["run_launcher"]["config"]["env_vars"] if "WEBHOOK" in line]


def pod_of_a_run(tmp_path: Path, wished: dict[str, Any]) -> dict[str, Any]:
    """The Job's pod that the launcher of the settings makes for a run with `wished` as its tag."""
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(KUBECONFIG, encoding="utf-8")
    config = instance()["run_launcher"]["config"]
    outside = {"load_incluster_config": False, "kubeconfig_file": str(kubeconfig)}
    launcher = K8sRunLauncher(**{**config, **outside})
    tags = {USER_DEFINED_K8S_CONFIG_KEY: json.dumps(wished)}
    run = DagsterRun(job_name="all", run_id=make_new_run_id(), tags=tags)
    context = K8sContainerContext.create_for_run(run, launcher, include_run_tags=True)
    job = construct_dagster_k8s_job(
        context.get_k8s_job_config("worker:1", launcher),
        ["dagster", "api", "execute_run"],
        "dagster-run-1",
        user_defined_k8s_config=context.run_k8s_config,
    )
    spec: dict[str, Any] = job.to_dict()["spec"]["template"]["spec"]
    return spec


@pytest.mark.parametrize(
    "wished",
    [
        {"pod_spec_config": {"service_account_name": "dagster"}},
        {"pod_spec_config": {"host_network": True}},
        {"pod_spec_config": {"volumes": [{"name": "root", "host_path": {"path": "/"}}]}},
        {"pod_spec_config": {"containers": [{"name": "other", "image": "elsewhere/other:1"}]}},
        {"container_config": {"image": "elsewhere/other:1"}},
        {"container_config": {"command": ["sh", "-c", "env"]}},
        {"container_config": {"security_context": {"privileged": True}}},
        {"container_config": {"volume_mounts": [{"name": "tmp", "mount_path": "/opt"}]}},
        {"container_config": {"env_from": [{"secret_ref": {"name": "others"}}]}},
        {"container_config": {"env": [{"name": "TRANSLATIONS_STORE", "value": "gs://elsewhere"}]}},
        {"pod_template_spec_metadata": {"labels": {"translations/proxy": "true"}}},
        {"job_metadata": {"namespace": "kube-system"}},
        {"job_spec_config": {"parallelism": 1000}},
    ],
    ids=str,
)
def test_a_runs_tags_may_not_change_its_pod(tmp_path: Path, wished: dict[str, Any]) -> None:
    with pytest.raises(Exception, match="violated the allowed list"):
        pod_of_a_run(tmp_path, wished)


def test_a_runs_tags_may_ask_for_memory(tmp_path: Path) -> None:
    spec = pod_of_a_run(tmp_path, {"container_config": {"resources": {"limits": {"memory": "8Gi"}}}})
    container = spec["containers"][0]
    assert container["resources"]["limits"] == {"memory": "8Gi"}
    assert spec["service_account_name"] == "translations-orchestrator"
    assert {volume["name"] for volume in spec["volumes"]} >= {"tmp", "deployment"}
    assert {"TRANSLATIONS_DEPLOYMENT", "DAGSTER_HOME"} <= {pair["name"] for pair in container["env"]}


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


def test_the_web_server_is_ours_and_knows_the_store_whose_logs_it_shows() -> None:
    server = values()["dagsterWebserver"]
    (variable,) = [pair for pair in server["env"] if pair["name"] == "TRANSLATIONS_DEPLOYMENT"]
    folders = {mount["name"]: mount["mountPath"] for mount in server["volumeMounts"]}
    assert Path(variable["value"]).parent == Path(folders["deployment"])
    build = (DEPLOY / "orchestrator.Dockerfile").read_text(encoding="utf-8")
    (module,) = re.findall(r"exec python -m (\S+) .*> /usr/local/bin/dagster-webserver", build)
    done = subprocess.run([sys.executable, "-m", module, "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout.split(",")[0]) == (0, "dagster-webserver"), done


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
