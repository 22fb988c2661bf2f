"""Tests of imports: no file imports one that imports it again, not even for its types, or by a string."""

import ast
import tomllib
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

import grimp
import pytest

ROOT = Path(__file__).parents[1]
# Names of modules that no process imports which knows them: another one does.
FOR_OTHERS = {
    ("translations_assets.cli.runs_many", "translations_assets.cli.main"): "a process for each pair",
    ("translations_assets.defs.jobs", "translations_assets.cli.main"): "a process",
    ("translations_assets.runners.local", "translations_assets.runners.worker"): "a process",
    ("translations_assets.runners.pod.bundle", "translations_assets.runners.pod.main"): "a pod's process",
    ("translations_assets.common.settings", "translations_assets.definitions"): "Dagster's code location",
    ("translations_assets.store.medium", "translations_assets.store"): "a logger",
    ("translations_assets.ui.__main__", "translations_assets.ui.web_server"): "a process",
}
COMMANDS = ROOT / "translations_assets/cli/commands.toml"  # whose modules `cli/commands.py` imports
# What `--help` of any command does without → milliseconds that importing it takes
NO_HELP_NEEDS = {
    "dagster": 500,
    "pydantic": 70,
    "rich.console": 17,
    "rich.live": 16,
    "rich.progress_bar": 13,
    "rich.table": 11,
    "rich.text": 8,
    "importlib.metadata": 9,
}
# And what a short command, or the start of a worker, does without. In functions only modules that bring one
# of these are imported; all others are imported at the top.
LATE = {
    **NO_HELP_NEEDS,
    "dagster_gcp": 700,
    "dagster_k8s": 750,
    "kubernetes": 240,
    "model_signing": 1200,
    "securesystemslib": 500,
    "cryptography": 70,
    "boto3": 150,
    "botocore": 100,
    "google.cloud.storage": 170,
    "google.api_core": 80,
    "google.auth": 6,
    "sqlalchemy": 110,
    "wandb": 320,
    "tensorboard": 280,
    "huggingface_hub": 480,
    "langcodes": 90,  # languages beyond our own table
    "numpy": 60,
    "requests": 55,
    "sacrebleu": 30,
    "urllib3": 20,
    "psutil": 10,
    "yaml": 9,
    "packaging.markers": 9,
    "logging": 4,
    "concurrent.futures": 4,
    "translations_assets.keys.code.fingerprint": 30,  # the analysis of scripts, which the state folder caches
    "translations_assets.store.bucket.store": 20,  # stores that are no folders
    "translations_assets.results.files": 15,  # what steps leave, where all of it is cached
    "translations_assets.why.plan_forecast": 5,  # the cost of what is not cached
    "translations_assets.running.engine": 5,  # commands that only read
    "translations_assets.runners.machine": 5,  # the size of this machine
}


def named(module: str, tree: ast.Module, modules: set[str]) -> Iterator[str]:
    """The modules that literal texts of a module name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in modules - {module, "translations_assets"}:
            yield str(node.value)


def commands(listed: Mapping[str, Any]) -> Iterator[str]:
    """The modules of the command line's commands."""
    for entry in listed.values():
        if "where" in entry:
            yield f"translations_assets.cli.{entry['where'].partition(':')[0]}"
        yield from commands(entry.get("commands", {}))


def trees() -> dict[str, ast.Module]:
    found = {}
    for path in (ROOT / "translations_assets").rglob("*.py"):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def test_no_files_import_each_other() -> None:
    """Also in functions, below TYPE_CHECKING and by strings: a file can be read before those that use it."""
    graph = grimp.build_graph("translations_assets", "pipeline")
    assert len(graph.modules) > 300
    imports = {module: {*graph.find_modules_directly_imported_by(module)} for module in graph.modules}
    by_strings = {
        (module, other) for module, tree in trees().items() for other in named(module, tree, graph.modules)
    }
    assert by_strings >= FOR_OTHERS.keys(), "no longer named: take it out of FOR_OTHERS"
    for panel in tomllib.loads(COMMANDS.read_text(encoding="utf-8")).values():
        by_strings |= {("translations_assets.cli.commands", module) for module in commands(panel)}
    assert ("translations_assets.cli.commands", "translations_assets.cli.config") in by_strings
    for module, other in by_strings - FOR_OTHERS.keys():
        imports[module].add(other)
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' ← '.join(error.args[1])}")


def imported(node: ast.AST) -> Iterator[str]:
    """The modules that a statement imports, and the packages that they are in."""
    names: list[str] = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    for name in names:
        yield from accumulate(name.split("."), "{}.{}".format)


def test_only_what_short_commands_do_without_is_imported_in_functions() -> None:
    found = trees()
    top = {module: {*chain(*map(imported, tree.body))} for module, tree in found.items()}

    def brought(module: str, seen: set[str]) -> set[str]:
        """A module and all that it imports at its top."""
        if module not in seen:
            seen.add(module)
            for other in top.get(module, ()):
                brought(other, seen)
        return seen

    wrong = [
        f"{module} can have at its top: {ast.unparse(node)}"
        for module in found
        for function in ast.walk(found[module])
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
        if not LATE.keys() & set().union(*(brought(name, set()) for name in imported(node)))
    ]
    assert not wrong


def test_a_string_that_names_a_module_is_followed() -> None:
    """As one did that closed a circle of 17 files."""
    tree = ast.parse('import_module("translations_assets.stages")')
    assert [*named("translations_assets.config.a", tree, {"translations_assets.stages"})] == [
        "translations_assets.stages"
    ]
