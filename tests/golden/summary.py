"""A graph in a few lines a stage, so that a pull request shows what a change makes of it."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence

from translations_assets.graph.graph import Graph
from translations_assets.graph.step import Step


def summary(graph: Graph) -> str:
    """The number of steps; per stage the stages it reads from; per script its worker class and its steps.

    Steps that differ in a dataset or a number only share a line: `3 × pipeline.x.y  cpu  label-*/3`.
    """
    lines = [f"{len(graph.steps)} steps in {sum(map(bool, graph.stages.values()))} stages"]
    for stage, steps in graph.stages.items():
        if not steps:
            lines.append(f"\n{stage}: no steps")
            continue
        reads = _in_order(graph, (up.stage for step in steps for up in step.upstream() if up.stage != stage))
        lines += [f"\n{stage}{' <- ' if reads else ''}{', '.join(reads)}", *_steps(steps)]
    return "\n".join(lines) + "\n"


def _in_order(graph: Graph, names: Iterable[str]) -> list[str]:
    found = set(names)
    return [name for name in graph.stages if name in found]


def _steps(steps: Sequence[Step]) -> list[str]:
    alike: dict[tuple[str, str], list[str]] = defaultdict(list)
    for step in steps:
        alike[step.script, _kind(step)].append(step.label)
    return [
        f"  {len(labels)} × {script}  {kind}  {_pattern(labels)}" for (script, kind), labels in alike.items()
    ]


def _kind(step: Step) -> str:
    """Location and treatment of a step."""
    kinds = [step.worker, "resumable" * step.resumable, "not repeatable" * (not step.repeatable)]
    return ", ".join(filter(None, kinds))


def _pattern(labels: Sequence[str]) -> str:
    """Common beginning and end of labels; one label as it is."""
    if len(labels) == 1:
        return labels[0]
    start = os.path.commonprefix(labels)
    rest = [label[len(start) :][::-1] for label in labels]
    return f"{start}*{os.path.commonprefix(rest)[::-1]}"
