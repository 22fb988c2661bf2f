"""Tests of the differences between two graphs."""

from tests.running.conftest import demo_graph


def test_what_changes_and_what_reads_it_are_changed() -> None:
    graph = demo_graph(a="one", b="two")
    assert graph.changed_stages(demo_graph(a="one", b="two")) == set()
    changed = graph.changed_stages(demo_graph(a="one", b="three"))
    stage_of = {step.label: step.stage for step in graph.steps}
    assert {stage_of["write-b"], stage_of["join"]} <= changed
    assert graph.changed_stages(demo_graph(a="one")) == changed  # it has fewer steps
