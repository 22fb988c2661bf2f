"""A sentence in a partition: the texts that hold it, in the order of the steps, and what became of it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from translations_assets.graph.step import Output, Step
from translations_assets.records.manifest import Blob, Manifest
from translations_assets.results.known import known_results
from translations_assets.running.session import Session
from translations_assets.trace.dropped import DroppedOnTheWay, explain, missing_lines
from translations_assets.trace.search import Indexed, SearchAnswer
from translations_assets.trace.texts import Text, Texts


@dataclass(frozen=True)
class Place:
    """A text in which a sentence is found; the trainings that read it; the steps that left it out then."""

    text: Text
    answer: SearchAnswer
    read_by: Sequence[str]
    dropped: Sequence[DroppedOnTheWay]


class PartitionTexts:
    """The texts of a partition that are made, with their contents in the store."""

    def __init__(self, session: Session) -> None:
        self.session = session
        experiment = session.config.experiment
        self._texts = Texts(session.graph, (experiment.src, experiment.trg))

    @cached_property
    def manifests(self) -> Mapping[Step, Manifest]:
        """The results of steps that leave texts, as far as they are there."""
        steps = dict.fromkeys(file.step for text in self._texts.all for file in text.files)
        return {known.step: known.manifest for known in known_results(self.session, steps).values()}

    @cached_property
    def blobs(self) -> Mapping[Output, Blob]:
        """The contents of all files that these steps left."""
        return {
            Output(step, name): blob
            for step, manifest in self.manifests.items()
            for name, blob in manifest.outputs.items()
        }

    @cached_property
    def made(self) -> list[Text]:
        """The texts that are there, in the order of the steps."""
        return [text for text in self._texts.all if all(file in self.blobs for file in text.files)]

    @property
    def missing(self) -> list[str]:
        """The labels of steps whose texts are not there."""
        made = {text.step for text in self.made}
        return [text.label for text in self._texts.all if text.step not in made]

    @property
    def files(self) -> dict[Output, Blob]:
        """The files of the texts that are there."""
        return {file: self.blobs[file] for text in self.made for file in text.files}

    def indexed(self, indexes: Mapping[str, Mapping[str, Blob]]) -> list[list[Indexed]]:
        """The sides of each text, with their indexes, which are given by the digests of the contents."""
        return [
            [Indexed(self.blobs[file], indexes[self.blobs[file].digest]) for file in text.files]
            for text in self.made
        ]

    def places(self, answers: Sequence[SearchAnswer], work: Path) -> list[Place]:
        """The texts in which the sentence is found, by the answer for each; scripts run below `work`."""
        by_step = {text.step: answer for text, answer in zip(self.made, answers, strict=True)}
        return [
            Place(text, by_step[text.step], self._texts.read_by(text), self._dropped(text, by_step, work))
            for text in self.made
            if by_step[text.step].number
        ]

    def _dropped(self, text: Text, answers: Mapping[Step, SearchAnswer], work: Path) -> list[DroppedOnTheWay]:
        found = []
        for after in self._texts.following(text):
            if after.step not in answers:
                continue
            missing = missing_lines(answers[text.step], answers[after.step])
            if missing:
                folder = Path(tempfile.mkdtemp(dir=work))
                found.append(explain(self.session, self._inputs(after), text, after, missing, folder))
        return found

    def _inputs(self, after: Text) -> Mapping[Output, Blob]:
        """The known files, and those that a step reads besides texts."""
        others = [up for up in after.step.upstream() if up not in self.manifests]
        known = known_results(self.session, others).values()
        read = {Output(one.step, name): blob for one in known for name, blob in one.manifest.outputs.items()}
        return {**self.blobs, **read}
