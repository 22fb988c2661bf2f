"""Tests of Dagster's private modules that the executor and the recipes use, so that an upgrade is noticed.

Imports the executor itself nowhere: it would fail with the first missing name only.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from functools import reduce
from pathlib import Path
from typing import Any

import dagster
import pytest

import translations_assets

PACKAGE = Path(translations_assets.__file__).parent
EXECUTOR = PACKAGE / "defs" / "executor.py"
ASSETS = PACKAGE / "defs" / "assets.py"
RUNS = PACKAGE / "defs" / "runs.py"
RECIPES = PACKAGE / "defs" / "recipes.py"
ENDINGS = PACKAGE / "defs" / "endings.py"
CAPTURED = PACKAGE / "defs" / "captured_output.py"
ENDED = PACKAGE / "runs" / "ended.py"
NOTICES = PACKAGE / "defs" / "notices.py"
UI = PACKAGE / "ui" / "__main__.py"  # tests/ui starts it
STORAGE = PACKAGE / "dagster_storage.py"
USERS = (ASSETS, EXECUTOR, CAPTURED, RUNS, RECIPES, ENDINGS, ENDED, NOTICES, UI, STORAGE)


def private_imports(path: Path) -> list[tuple[str, str]]:
    """(module, name) of all that the file imports from a module of Dagster with a leading underscore."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = [
        (node.module or "", alias.name)
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    names += [(alias.name, "") for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return [(module, name) for module, name in names if module.startswith("dagster._")]


def moved(what: str) -> str:
    return f"dagster {dagster.__version__} has no {what}: adapt the module that imports it"


def lookup(module: str, *names: str) -> Any:
    try:
        return reduce(getattr, names, importlib.import_module(module))
    except (ImportError, AttributeError):
        pytest.fail(moved(".".join((module, *names))))


@pytest.mark.parametrize(
    ("module", "name"),
    [
        found
        for path in (EXECUTOR, CAPTURED, RUNS, RECIPES, ENDINGS, ENDED, NOTICES, UI, STORAGE)
        for found in private_imports(path)
    ],
)
def test_private_names_are_where_they_were(module: str, name: str) -> None:
    assert lookup(module, name) is not None


ATTRIBUTES = {
    "dagster._core.execution.plan.active:ActiveExecution": (
        "check_for_interrupts concurrency_event_iterator get_known_state get_steps_to_execute handle_event "
        "is_complete plan_events_iterator verify_complete"
    ),
    "dagster._core.execution.plan.instance_concurrency_context:InstanceConcurrencyContext": "free_step",
    "dagster._core.execution.plan.plan:ExecutionPlan": "start step_keys_to_execute",
    "dagster._core.execution.context.system:PlanExecutionContext": "dagster_run for_step instance log run_id",
    "dagster._core.events:EngineEventData": "in_process interrupted",
    "dagster._core.instance.ref:InstanceRef": "config_defaults",
    "dagster._core.storage.event_log:SqliteEventLogStorage": (
        "_initdb index_connection path_for_shard run_connection"
    ),
    "dagster._core.storage.runs:SqliteRunStorage": "connect from_local",
}


@pytest.mark.parametrize("path", ATTRIBUTES)
def test_private_classes_have_what_is_used(path: str) -> None:
    owner = lookup(*path.split(":"))
    for attribute in ATTRIBUTES[path].split():
        assert hasattr(owner, attribute), moved(f"{path}.{attribute}")


PARAMETERS = {
    "dagster._core.execution.api:ExecuteRunWithPlanIterable": (
        "execution_plan iterator execution_context_manager"
    ),
    "dagster._core.execution.context_creation_job:PlanExecutionContextManager": (
        "job execution_plan run_config dagster_run instance retry_mode raise_on_error output_capture "
        "step_dependency_config"
    ),
    "dagster._core.execution.plan.plan:ExecutionPlan.start": (
        "retry_mode max_concurrent tag_concurrency_limits instance_concurrency_context"
    ),
    "dagster._core.execution.plan.execute_plan:dagster_event_sequence_for_step": "step_context",
    "dagster._core.execution.plan.execute_plan:_trigger_hook": "step_context step_event_list",
    "dagster._core.execution.api:execute_run": "job dagster_run instance",
    "dagster._core.instance:DagsterInstance.create_run_for_job": (
        "job_def run_config tags asset_selection root_run_id parent_run_id remote_job_origin job_code_origin"
    ),
}


@pytest.mark.parametrize("path", PARAMETERS)
def test_private_functions_take_what_is_passed(path: str) -> None:
    module, names = path.split(":")
    parameters = inspect.signature(lookup(module, *names.split("."))).parameters
    missing = [name for name in PARAMETERS[path].split() if name not in parameters]
    assert not missing, moved(f"parameter {', '.join(missing)} of {path}")


def test_no_other_module_imports_from_dagsters_private_modules() -> None:
    users = {path for path in PACKAGE.rglob("*.py") if private_imports(path)}
    assert users == set(USERS)
