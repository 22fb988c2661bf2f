"""The texts of a training config: which steps leave them, which read them, and which trainings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from translations_assets.graph.graph import Graph
from translations_assets.graph.step import Output, Step

# Inputs of scripts that hold the text that they work on, and not text that they take out of it.
WORKED_ON = tuple(
    f"{kind}{side}" for kind in ("corpus", "mono", "backtranslated") for side in ("_src", "_trg")
) + ("text",)
NAMES = ("corpus", "mono")  # of files, before the language
COLLECT = "pipeline.translate.collect"
PAIRS, TRAIN = "pipeline.train.training_pairs", "pipeline.train.train"


@dataclass(frozen=True)
class Text:
    """A text that a step leaves. `files` are its sides, the source first, or its only one.

    Of translations, the other side is the file that was translated, which another step has left.
    """

    step: Step
    files: tuple[Output, ...]

    @property
    def label(self) -> str:
        """The step's label."""
        return self.step.label


class Texts:
    """The texts of a graph, in the order of its steps; `langs` are the source and the target language."""

    def __init__(self, graph: Graph, langs: Sequence[str]) -> None:
        self._graph, self._langs = graph, langs

    @cached_property
    def all(self) -> list[Text]:
        """All texts, but for those that only checks read."""
        steps = (step for step in self._graph.steps if step.stage not in self._graph.checks)
        return [Text(step, files) for step in steps if (files := self._files(step))]

    def following(self, text: Text) -> list[Text]:
        """The texts that steps make of all sides of a text, but for translations of it."""
        return self._following.get(text.step, [])

    def read_by(self, text: Text) -> list[str]:
        """The labels of the trainings that read a text."""
        return self._read_by.get(text.step, [])

    def _files(self, step: Step) -> tuple[Output, ...]:
        names = [f"{kind}.{lang}.zst" for kind in NAMES for lang in self._langs]
        own = tuple(step[name] for name in names if name in step.outputs)
        translated = step.inputs.get("text") if step.script == COLLECT else None
        if len(own) != 1 or not isinstance(translated, Output):
            return own
        is_target = own[0].name.split(".")[1] == self._langs[1]
        return (translated, *own) if is_target else (*own, translated)

    @cached_property
    def _following(self) -> dict[Step, list[Text]]:
        known = {text.step: text for text in self.all}
        found: dict[Step, list[Text]] = {}
        for text in self.all:
            read = {*_worked_on(text.step)}
            for step in {output.step for output in read} & known.keys():
                before = {*known[step].files}
                if before <= read and not before & {*text.files}:
                    found.setdefault(step, []).append(text)
        return found

    @cached_property
    def _read_by(self) -> dict[Step, list[str]]:
        """Step that leaves a text → labels of trainings. Aligned text is traced to the text that it was."""
        known = {text.step for text in self.all}
        found: dict[Step, list[str]] = {}
        for training in self._graph.steps:
            if training.script == TRAIN:
                pairs = [step for step in training.upstream() if step.script == PAIRS]
                for step in dict.fromkeys(read for made in pairs for read in _texts_before(made, known)):
                    found.setdefault(step, []).append(training.label)
        return found


def _worked_on(step: Step) -> Iterator[Output]:
    """The files whose text a step works on."""
    return (output for name, _, output in step.input_outputs() if name in WORKED_ON)


def _texts_before(step: Step, known: set[Step]) -> Iterator[Step]:
    """The nearest steps before one that leave texts."""
    for before in _worked_on(step):
        if before.step in known:
            yield before.step
        else:
            yield from _texts_before(before.step, known)
