"""Text that every step of a graph reads and writes, from the datasets' lines on: pure arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.scale.pair import KEPT, lines_named
from benchmarks.scale.rates import BYTES, MODELS, TEXT
from translations_assets.graph.graph import Graph
from translations_assets.graph.step import Output, Step

TRAINING = "pipeline.train.train"


@dataclass(frozen=True)
class Flow:
    """Amounts of text that a step reads and writes.

    lines    that its work grows with: of the longest text that it reads, or writes where it reads none
    read     bytes of the files that it reads
    outputs  file → lines and bytes
    """

    lines: float
    read: float
    outputs: Mapping[str, tuple[float, float]]

    @property
    def written(self) -> float:
        """Bytes of all outputs."""
        return sum(size for _, size in self.outputs.values())


def flows(graph: Graph) -> dict[Step, Flow]:
    """The flow of every step.

    >>> flows(graph)[graph.step("merge-corpus-en-ru")].lines
    103806228
    """
    found: dict[Step, Flow] = {}
    for step in graph.steps:
        found[step] = _flow(step, found)
    return found


def is_text(name: str) -> bool:
    """True if a file has a line for each sentence, as corpora, scores and alignments have."""
    return (
        name.endswith(".zst") and not name.startswith("lex.") and not name.endswith((".bin.zst", ".spm.zst"))
    )


def _flow(step: Step, found: Mapping[Step, Flow]) -> Flow:
    read = {output: found[output.step].outputs[output.name] for _, _, output in step.input_outputs()}
    lines = lines_read(step, {output: lines for output, (lines, _) in read.items()}) or _named(step)
    size = sum(size for _, size in read.values())
    return Flow(lines, size, {name: _written(step, name, lines) for name in step.outputs})


def lines_read(step: Step, lines: Mapping[Output, float]) -> float:
    """The lines of the longest side of the text that a step reads; of a merge or a training, of all."""
    read: dict[str, float] = {}
    for name, _, output in step.input_outputs():
        read[name] = read.get(name, 0.0) + lines[output]
    if step.script == TRAINING or step.script == "pipeline.clean.merge_translated":
        sides = ("original", "original_src", "backtranslated", "backtranslated_src", "corpus_src", "mono_src")
        return sum(read.get(name, 0.0) for name in sides)
    return max((number for name, number in read.items() if not name.startswith("held_out")), default=0.0)


def _named(step: Step) -> float:
    dataset = step.args.get("dataset")
    return float(lines_named(dataset)) if isinstance(dataset, str) and ".data." in step.script else 0.0


def _written(step: Step, name: str, lines: float) -> tuple[float, float]:
    """Lines and bytes of an output."""
    if step.script == TRAINING or not is_text(name):
        kind = step.label.split("-")[1] if step.script == TRAINING else ""
        return 0.0, MODELS.get((kind, name), 0.0)
    kept = lines * KEPT.get(step.script, 1.0)
    if step.script in ("pipeline.clean.merge_mono", "pipeline.clean.merge_parallel"):
        limit = step.args.get("max_sentences")
        kept = min(kept, float(limit)) if isinstance(limit, int) else kept
    if name.startswith("part."):
        kept = lines / int(str(step.args["parts"]))
    return kept, kept * next((size for part, size in BYTES.items() if part in name), TEXT)
