"""The examples in the docstrings of the central functions of graphs, keys, plans, sessions and the engine."""

from __future__ import annotations

import doctest

import pytest

from tests.running.conftest import Bench, demo_config
from translations_assets.graph.graph import Graph
from translations_assets.graph.stage import build_graph, stage, step
from translations_assets.graph.step import placed
from translations_assets.keys.code.fingerprint import CodeBase
from translations_assets.keys.key import KeyMaker
from translations_assets.running.engine import Engine
from translations_assets.running.plan import make_plan
from translations_assets.running.resolve import Resolver
from translations_assets.running.session import RunResults

FUNCTIONS = [
    *(build_graph, placed, Graph.step_closure),
    *(KeyMaker.parts, CodeBase.fingerprint),
    *(make_plan, Resolver.resolve, RunResults.need, Engine.run),
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__qualname__)
def test_an_example_is_true(function: object, bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    session = bench.session()
    names = {
        **{each.__name__: each for each in (build_graph, make_plan, placed, stage, step)},
        "graph": session.graph,
        "store": bench.store,
        "keys": session.keys,
        "config": demo_config(),
        "session": session,
        "later": bench.session(session.graph, "run-2"),
        "engine": Engine(bench.store, bench.runner),
        "cancel": bench.cancel,
        "listener": bench.events.append,
        "resolver": session.results.resolver(),
        "code": CodeBase(bench.root),
    }
    (example,) = doctest.DocTestFinder(recurse=False).find(function, "example", globs=names)
    result = doctest.DocTestRunner().run(example)
    assert result.attempted > 0
    assert result.failed == 0, capsys.readouterr().out
