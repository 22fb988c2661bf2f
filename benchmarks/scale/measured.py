"""Measurements of a real run's steps, by script: time, memory, disk and bytes, for each line read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.scale.flow import is_text, lines_read
from pipeline.common.lines import count_lines
from translations_assets.graph.graph import Graph
from translations_assets.graph.step import Output, Step
from translations_assets.records.manifest import Manifest
from translations_assets.running.protocols import Store

MB = 1e6
BEAM = 8  # lines that stand for one of the text in a list of n best, as the teachers' decoding config has it


@dataclass
class Measured:
    """The steps of a script together; memory and disk are those of the step that took most.

    largest  lines of the longest step
    bytes    file → its bytes, and its lines
    """

    steps: int = 0
    lines: float = 0.0
    largest: float = 0.0
    seconds: float = 0.0
    cpu: float = 0.0
    memory: float = 0.0
    disk: float = 0.0
    read: float = 0.0
    written: float = 0.0
    bytes: dict[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def each(self) -> float:
        """µs of a core for a line."""
        return self.cpu / self.lines * 1e6 if self.lines else 0.0


def measure(graph: Graph, made: Iterable[Manifest], store: Store, scratch: Path) -> dict[str, Measured]:
    """Measure the cost of a graph's results, by script."""
    manifests = {manifest.label: manifest for manifest in made}
    lines = dict(_lines(graph, manifests, store, scratch))
    found: dict[str, Measured] = {}
    for step in graph.steps:
        if (manifest := manifests.get(step.label)) is not None:
            _add(found.setdefault(step.script, Measured()), step, manifest, lines)
    return dict(sorted(found.items(), key=lambda item: -item[1].cpu))


def _add(to: Measured, step: Step, made: Manifest, lines: Mapping[Output, float]) -> None:
    usage = made.usage
    own = {name: lines[step[name]] for name in step.outputs}
    number = lines_read(step, lines) or max(own.values(), default=0.0)
    to.steps += 1
    to.lines += number
    to.largest = max(to.largest, number)
    to.seconds += usage.seconds
    to.cpu += usage.cpu_seconds
    to.memory, to.disk = max(to.memory, usage.peak_memory), max(to.disk, usage.disk)
    to.read += sum(blob.size for blob in made.provenance.files.values())
    for name, blob in made.outputs.items():
        to.written += blob.size
        if own.get(name):
            size, before = to.bytes.get(name, (0.0, 0.0))
            to.bytes[name] = size + blob.size, before + own[name]


def _lines(
    graph: Graph, made: Mapping[str, Manifest], store: Store, scratch: Path
) -> Iterator[tuple[Output, float]]:
    """The lines of every text that was made; other files have none."""
    known: dict[str, float] = {}
    for step in graph.steps:
        outputs = made[step.label].outputs if step.label in made else {}
        for name in step.outputs:
            blob = outputs.get(name)
            if blob is None or not is_text(name):
                yield step[name], 0.0
                continue
            if blob.digest not in known:
                file = scratch / "text.zst"
                store.place_blob(blob, file)
                known[blob.digest] = count_lines(file) / (BEAM if name.startswith("nbest") else 1)
                file.unlink()
            yield step[name], known[blob.digest]


def table(large: Mapping[str, Measured], small: Mapping[str, Measured]) -> Iterator[str]:
    """Lines of a table; with a smaller run, what a further line takes, and how memory has grown."""
    yield (
        "| script | steps | lines | s | CPU s | µs a line | MB of memory | MB on disk | MB read | MB written "
        "| memory × | lines × |"
    )
    yield "|---|" + "---|" * 11
    for script, one in large.items():
        other = small.get(script)
        each, grown, longer = one.each, "", ""
        if other and one.lines > 1.5 * other.lines and other.lines:
            each = (one.cpu - other.cpu) / (one.lines - other.lines) * 1e6
            grown, longer = f"{one.memory / other.memory:.1f}", f"{one.largest / other.largest:.1f}"
        yield (
            f"| {script.removeprefix('pipeline.')} | {one.steps} | {one.lines:,.0f} | {one.seconds:,.0f} "
            f"| {one.cpu:,.1f} | {each:,.1f} | {one.memory / MB:,.0f} | {one.disk / MB:,.1f} "
            f"| {one.read / MB:,.1f} | {one.written / MB:,.1f} | {grown} | {longer} |"
        )


def bytes_a_line(measured: Mapping[str, Measured]) -> Iterator[str]:
    """`nbest.zst 310.2`: compressed bytes of a line of each kind of file."""
    found: dict[str, tuple[float, float]] = {}
    for one in measured.values():
        for name, (size, lines) in one.bytes.items():
            kind = re.sub(r"^part\.\d+", "part.N", name)
            before = found.get(kind, (0.0, 0.0))
            found[kind] = before[0] + size, before[1] + lines
    for name, (size, lines) in sorted(found.items()):
        yield f"{name} {size / lines:.1f}"
