"""A runner whose models translate a test set of real sentences with some words wrong."""

import json
import random
from collections.abc import Sequence

import zstandard

from pipeline.eval.metrics import evaluation_scores
from tests.defs.runner import SPEED, MadeUpRunner
from tests.end_to_end.tiny import sentences
from translations_assets.running.job import Job

TEXT = sentences()[:120]
SOURCE, REFERENCES = [source for source, _ in TEXT], [reference for _, reference in TEXT]


def garbled(share: float, seed: int) -> list[str]:
    """The references with so large a share of words replaced."""
    chance = random.Random(seed)
    return [
        " ".join("xyz" if chance.random() < share else word for word in line.split()) for line in REFERENCES
    ]


class Translating(MadeUpRunner):
    """Every model forwards makes the same translations, which are scored as evaluations are."""

    def __init__(
        self,
        translations: Sequence[str],
        words_per_second: float = 2500.0,
        seconds: float = 3600.0,
        vocabulary: bytes = b"",
    ) -> None:
        super().__init__(seconds=seconds)
        self._translations, self._speed, self._vocabulary = translations, words_per_second, vocabulary

    def _contents(self, job: Job, name: str) -> bytes:
        if job.label.startswith("dataset-test") and name.endswith(".zst"):
            return _packed(REFERENCES if ".eo" in name else SOURCE)
        if job.label.startswith("evaluate") and "backwards" not in job.label:
            if name == "translations.zst":
                return _packed(self._translations)
            if name == "metrics.json":
                speed = (
                    {"speed": {**SPEED, "words_per_second": self._speed}} if "exported" in job.label else {}
                )
                scores = evaluation_scores(self._translations, REFERENCES, "eo")
                return json.dumps({"dataset": "tiny", **scores, **speed}).encode()
        return (
            self._vocabulary if self._vocabulary and name.endswith(".spm") else super()._contents(job, name)
        )


def _packed(lines: Sequence[str]) -> bytes:
    return zstandard.compress("".join(f"{line}\n" for line in lines).encode())
