"""All that is used of Dagster's private modules, with its reason, so that an upgrade tells what it moved.

Imports none of the package's modules that use them: they would fail with the first missing name only.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import dagster
import pytest

import translations_assets

PACKAGE = Path(translations_assets.__file__).parent

# File and what it imports → why no public name serves
IMPORTED = {
    "defs/endings.py dagster._core.errors.DagsterUserCodeProcessError": (
        "an error that comes with a record of itself: pages show its text without a dozen of Dagster's frames"
    ),
    "defs/engine_events.py dagster._core.events.EngineEventData": (
        "the payload of an ENGINE_EVENT, the only event with free text and metadata that is no asset's"
    ),
    "defs/executor.py dagster._core.execution.api.ExecuteRunWithPlanIterable": (
        "runs an executor's loop with the run's context, and clears up, with interrupts captured"
    ),
    "defs/executor.py dagster._core.execution.context_creation_job.PlanExecutionContextManager": (
        "makes the resources once for a run; Dagster's executors of several steps make them for each"
    ),
    "defs/executor.py dagster._core.execution.plan.execute_plan._trigger_hook": "the hooks of one step",
    "defs/executor.py dagster._core.execution.plan.execute_plan.dagster_event_sequence_for_step": (
        "runs one step and yields its events; no public function runs less than a job"
    ),
    "defs/executor.py dagster._core.execution.plan.instance_concurrency_context.InstanceConcurrencyContext": (
        "the instance's pools, which every executor gives to its plan"
    ),
    "defs/notices.py dagster._core.definitions.run_request.DagsterRunReaction": (
        "the success of a run-status sensor; only returning it ends the tick after one notice"
    ),
    "defs/runs.py dagster._core.definitions.reconstruct.ReconstructableRepository": (
        "finds Dagster's own job of all assets, too, whose name is reserved"
    ),
    "defs/runs.py dagster._core.execution.api.execute_run": (
        "runs a job under an id that is known before; `execute_job` tells it at the end"
    ),
    "ui/__main__.py dagster._cli.dev": "`dagster dev` has no option that names its web server",
    "dagster_storage.py dagster._core.instance.ref.InstanceRef": (
        "the defaults of an instance, which a class of one's own must give"
    ),
    "dagster_storage.py dagster._core.storage.event_log.SqliteEventLogStorage": (
        "Dagster's storage of events, whose databases stay open"
    ),
    "dagster_storage.py dagster._core.storage.runs.SqliteRunStorage": (
        "Dagster's storage of runs, whose database stays open"
    ),
}
# File and what it replaces, of Dagster's → why
REPLACED = {
    "ui/__main__.py dev.open_ipc_subprocess": "`dagster dev` starts the guarded web server, not its own",
    "ui/web_server.py dagster_webserver.app.DagsterWebserver": "`dagster-webserver` cannot take another",
    "ui/schema.py field.resolve": "no list or lineage shows recipes, in our own server's schema",
    "ui/schema.py types['StaleCause'].fields['reason'].resolve": "a stale mark names what has changed",
}
# Names and values in Dagster's databases that are written out here: our place → Dagster's
WRITTEN_OUT = {
    "defs.assets.NO_EVENT": (
        "dagster._core.definitions.source_asset.SYSTEM_METADATA_KEY_SOURCE_ASSET_OBSERVATION"
    ),
    "defs.recipes.DATA_VERSION_TAG": "dagster._core.definitions.data_version.DATA_VERSION_TAG",
    "defs.recipes.INPUT_EVENT_TAG": "dagster._core.definitions.data_version.INPUT_EVENT_POINTER_TAG_PREFIX",
    "defs.recipes.INPUT_VERSION_TAG": "dagster._core.definitions.data_version.INPUT_DATA_VERSION_TAG_PREFIX",
    "instance.server.AUTO_RETRY_RUN_ID_TAG": "dagster._core.storage.tags.AUTO_RETRY_RUN_ID_TAG",
    "instance.server.MAX_RETRIES_TAG": "dagster._core.storage.tags.MAX_RETRIES_TAG",
    "instance.server.PARTITION_TAG": "dagster._core.storage.tags.PARTITION_NAME_TAG",
    "instance.server.RETRY_NUMBER_TAG": "dagster._core.storage.tags.RETRY_NUMBER_TAG",
    "instance.server.RUN_FAILURE_REASON_TAG": "dagster._core.storage.tags.RUN_FAILURE_REASON_TAG",
}
ATTRIBUTES = {
    "dagster._core.execution.plan.active.ActiveExecution": (
        "check_for_interrupts concurrency_event_iterator get_known_state get_steps_to_execute handle_event "
        "is_complete plan_events_iterator verify_complete"
    ),
    "dagster._core.execution.plan.instance_concurrency_context.InstanceConcurrencyContext": "free_step",
    "dagster._core.execution.plan.plan.ExecutionPlan": "start step_keys_to_execute",
    "dagster._core.execution.context.system.PlanExecutionContext": "dagster_run for_step instance log run_id",
    "dagster._core.execution.context.system.PlanOrchestrationContext": (
        "dagster_run executor instance job output_capture raise_on_error retry_mode run_config run_id"
    ),
    "dagster._core.instance.ref.InstanceRef": "config_defaults",
    "dagster._core.storage.event_log.SqliteEventLogStorage": ("_connect _initdb path_for_shard"),
    "dagster._core.storage.legacy_storage.CompositeStorage": "from_config_value",
    "dagster._core.storage.runs.SqliteRunStorage": "connect from_local",
}
PARAMETERS = {
    "dagster._core.execution.api.ExecuteRunWithPlanIterable": (
        "execution_plan iterator execution_context_manager"
    ),
    "dagster._core.execution.context_creation_job.PlanExecutionContextManager": (
        "job execution_plan run_config dagster_run instance retry_mode raise_on_error output_capture "
        "step_dependency_config"
    ),
    "dagster._core.execution.plan.plan.ExecutionPlan.start": (
        "retry_mode max_concurrent tag_concurrency_limits instance_concurrency_context"
    ),
    "dagster._core.execution.plan.execute_plan.dagster_event_sequence_for_step": "step_context",
    "dagster._core.execution.plan.execute_plan._trigger_hook": "step_context step_event_list",
    "dagster._core.execution.api.execute_run": "job dagster_run instance",
    "dagster.DagsterInstance.create_run_for_job": (
        "job_def run_config tags asset_selection root_run_id parent_run_id remote_job_origin job_code_origin"
    ),
}


def parsed() -> Iterator[tuple[str, list[ast.AST]]]:
    """Each file of the package, and its nodes."""
    for path in PACKAGE.rglob("*.py"):
        yield (
            path.relative_to(PACKAGE).as_posix(),
            list(ast.walk(ast.parse(path.read_text(encoding="utf-8")))),
        )


def private_imports(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            found = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        else:
            continue
        for name in found:
            package, _, rest = name.partition(".")
            if package.startswith("dagster") and any(part.startswith("_") for part in rest.split(".")):
                yield name


def replacements(nodes: list[ast.AST]) -> Iterator[str]:
    """Yield the attributes that are set of anything but one's own object."""
    for node in nodes:
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if isinstance(target, ast.Attribute) and not ast.unparse(target).startswith("self."):
                yield ast.unparse(target)


def lookup(path: str) -> Any:
    names = path.split(".")
    for end in range(len(names), 0, -1):
        try:
            return reduce(getattr, names[end:], importlib.import_module(".".join(names[:end])))
        except ModuleNotFoundError:
            continue
        except AttributeError:
            break
    pytest.fail(moved(path))


def moved(what: str) -> str:
    return f"dagster {dagster.__version__} has no {what}: adapt the module that uses it"


def test_every_private_import_is_in_the_list() -> None:
    assert {f"{file} {name}" for file, nodes in parsed() for name in private_imports(nodes)} == set(IMPORTED)


def test_what_is_replaced_of_dagster_is_in_the_list() -> None:
    """In the rooms that know Dagster's objects."""
    found = {
        f"{file} {name}"
        for file, nodes in parsed()
        for name in replacements(nodes)
        if file.startswith(("defs/", "ui/", "runs/", "instance/", "dagster_storage", "definitions"))
    }
    assert found - {f"{file} session.{name}" for file, name in OF_SESSIONS} == set(REPLACED)


OF_SESSIONS = {("defs/runs.py", "continues"), ("defs/runs.py", "expected")}  # objects of the package itself


@pytest.mark.parametrize("entry", IMPORTED)
def test_private_names_are_where_they_were(entry: str) -> None:
    assert lookup(entry.split()[1]) is not None


@pytest.mark.parametrize("path", ATTRIBUTES)
def test_private_classes_have_what_is_used(path: str) -> None:
    owner = lookup(path)
    missing = [name for name in ATTRIBUTES[path].split() if not hasattr(owner, name)]
    assert not missing, moved(f"{path}.{missing}")


@pytest.mark.parametrize("path", PARAMETERS)
def test_private_functions_take_what_is_passed(path: str) -> None:
    parameters = inspect.signature(lookup(path)).parameters
    missing = [name for name in PARAMETERS[path].split() if name not in parameters]
    assert not missing, moved(f"parameter {', '.join(missing)} of {path}")


@pytest.mark.parametrize("ours", WRITTEN_OUT)
def test_names_in_databases_are_dagsters(ours: str) -> None:
    assert lookup(f"translations_assets.{ours}") == lookup(WRITTEN_OUT[ours])


def test_reasons_of_lost_processes_are_dagsters() -> None:
    known = {reason.value for reason in lookup("dagster._core.events.RunFailureReason")}
    assert lookup("translations_assets.runs.ended._PROCESS_GONE") - {""} <= known


def test_the_origin_of_a_job_is_that_of_the_workspace() -> None:
    """As the web server makes it, from the definitions' module and the code location's name."""
    remote = importlib.import_module("dagster._core.remote_origin")
    loadable = lookup("dagster._core.types.loadable_target_origin.LoadableTargetOrigin")
    runs = importlib.import_module("translations_assets.defs.runs")
    target = loadable(module_name="translations_assets.definitions")
    location = remote.ManagedGrpcPythonEnvCodeLocationOrigin(target, "translations-assets")
    expected = remote.RemoteRepositoryOrigin(location, "__repository__").get_job_origin("all")
    assert runs._origin("all") == expected
