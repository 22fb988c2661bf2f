"""Tests of imports: no file imports one that imports it again, not even for its types, or by a string."""

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

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
ENTRY = re.compile(r"([a-z_]+):[a-z_]+")  # of the command line: module and function


def named(module: str, tree: ast.Module, modules: set[str]) -> Iterator[str]:
    """The modules that literal texts of a module name."""
    package = module.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            entry = ENTRY.fullmatch(node.value)
            name = f"{package}.{entry[1]}" if entry and package.endswith(".cli") else node.value
            if name in modules - {module, "translations_assets"}:
                yield name


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
    assert ("translations_assets.cli.commands", "translations_assets.cli.config") in by_strings
    for module, other in by_strings - FOR_OTHERS.keys():
        imports[module].add(other)
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' ← '.join(error.args[1])}")


def test_a_string_that_names_a_module_is_followed() -> None:
    """As one did that closed a circle of 17 files."""
    tree = ast.parse('import_module("translations_assets.stages")')
    assert [*named("translations_assets.config.a", tree, {"translations_assets.stages"})] == [
        "translations_assets.stages"
    ]
