"""Tests of imports: no file imports one that imports it again, not even for its types."""

from graphlib import CycleError, TopologicalSorter

import grimp
import pytest


def test_no_files_import_each_other() -> None:
    """Also in functions and below TYPE_CHECKING: each file can be read before those that use it."""
    graph = grimp.build_graph("translations_assets", "pipeline")
    assert len(graph.modules) > 300
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' ← '.join(error.args[1])}")
