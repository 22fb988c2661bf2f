"""A runner that makes results up, for tests of what is done with them."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace

import zstandard

from tests.checks.numbers import NUMBERS, training
from translations_assets.records.manifest import Manifest, Usage, Worker
from translations_assets.running.events import Started
from translations_assets.running.job import Job, Outcome
from translations_assets.running.runner import Submission
from translations_assets.running.tasks import Work

STATISTICS = {"lines": {"in": 3, "kept": 2, "dropped": {"empty": 1}}, "samples": ["a line"]}
SCORES = {
    "dataset": "tiny",
    "bleu": {"score": 1.0, "signature": "made up"},
    "chrf": {"score": 2.0, "ci": 0.5, "signature": "made up"},
    "samples": [{"source": "A dog.", "reference": "Hundo.", "translation": "Hundo!"}],
}
SPEED = {"words_per_second": 2500.0, "memory_megabytes": 150.0, "model_bytes": 17_000_000}
METRICS = {
    "pipeline.eval.evaluate": SCORES,
    "pipeline.eval.exported": {**SCORES, "speed": SPEED},
    "pipeline.eval.final": {**SCORES, "model": "released"},
}


class MadeUpRunner:
    """Finishes every job at once; what it writes depends on the job's key alone.

    chrf   the validation score of trainings, by the beginning of their labels; others have 50
    fails  the label of a step that fails
    seconds  that each step takes
    gpus   of each step that asks for some
    """

    def __init__(
        self,
        chrf: Mapping[str, float] | None = None,
        fails: str = "",
        seconds: float = 0.0,
        gpus: int = 0,
    ) -> None:
        self._chrf, self._fails, self._seconds, self._gpus = chrf or {}, fails, seconds, gpus

    def run(self, submission: Submission) -> Work[Outcome]:
        """See `running.runner.Runner`."""
        job, store = submission.job, submission.store
        submission.on_event(Started(pid=1))
        store.append_log(job.key, job.generation, job.attempt, 0, f"the log of {job.label}\n".encode())
        if job.label == self._fails:
            return Outcome("failed", None, f"{job.script} ended with exit code 1", "error: too little text\n")
        outputs = {name: store.add_bytes(self._contents(job, name)) for name in job.outputs}
        gpus = self._gpus if job.worker.endswith("gpu") else 0
        manifest = Manifest(
            key=job.key,
            generation=job.generation,
            outputs=outputs,
            label=job.label,
            bundle=job.bundle,
            provenance=replace(job.provenance, worker=Worker(gpus=gpus)) if gpus else job.provenance,
            attempt=job.attempt,
            host="here",
            started=1.0,
            ended=2.0,
            usage=Usage(self._seconds, self._seconds, gpus=gpus),
        )
        return Outcome("done", store.commit(manifest))
        yield 0.0

    def _contents(self, job: Job, name: str) -> bytes:
        for label, chrf in self._chrf.items():
            if name == "metrics.json" and job.label.startswith(label):
                return json.dumps(training(chrf)).encode()
        return _contents(job, name)


def _contents(job: Job, name: str) -> bytes:
    if name == "stats.json":
        return json.dumps({**STATISTICS, "datasets": _datasets(job)}).encode()
    if name == "metrics.json":
        return json.dumps(METRICS.get(job.script) or training(50.0)).encode()
    if name == "numbers.json":
        return json.dumps(NUMBERS.get(job.script, {})).encode()
    if name == "records.json":
        return json.dumps(_records(job)).encode()
    if name.endswith(".zst"):
        return zstandard.compress(f"{job.key} {name}\n".encode())
    if name.endswith(".spm"):
        return b"the vocabulary that all models share"
    return hashlib.sha256(f"{job.key} {name}".encode()).hexdigest().encode()


def _records(job: Job) -> list[dict[str, object]]:
    """An export's records of its files."""
    own = {"sourceLanguage": "en", "targetLanguage": "eo", "architecture": "tiny", "decompressedSize": 9}
    packed = [name.removesuffix(".zst") for name in job.outputs if name.endswith(".zst")]
    kinds = [(name, name.partition(".")[0]) for name in packed]
    return [{"name": name, "fileType": kind, **own, "attachment": {"size": 5}} for name, kind in kinds]


def _datasets(job: Job) -> list[dict[str, object]]:
    """A merge's numbers of each dataset; nothing for other scripts."""
    given = list(job.command)
    names = given[given.index("--datasets") + 1 :] if "--datasets" in given else []
    end = next((place for place, name in enumerate(names) if name.startswith("--")), len(names))
    return [{"dataset": name, "in": 3, "kept": 2} for name in names[:end]]
