"""Estimates of steps without earlier ones like them: by the text they read, and the work of a training.

In a training each piece of text passes through all weights of the model, forwards and backwards. How fast a
machine does that is known from any earlier training on it, or is measured.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from statistics import quantiles

import yaml

from translations_assets.graph.step import Step
from translations_assets.keys.key import KeyMaker
from translations_assets.records.cost import Cost
from translations_assets.records.manifest import Manifest
from translations_assets.results.files import METRICS, read_metrics
from translations_assets.results.training import Training
from translations_assets.why.history import History
from translations_assets.why.training_work import (
    FLOPS_A_WEIGHT,
    PASSES,
    pieces_of_an_update,
    updates_of,
    weights_of,
)

TRAINING = "pipeline.train.train"

START = 15.0  # seconds of a training before its first and after its last update
UPDATE = 0.05  # seconds of an update, whatever the model: Marian builds its graph anew
VALIDATIONS = 1.15  # times as long, with them
PIECES_A_BYTE = 0.75  # of one side of a compressed text: web pages and messages are alike in that
DECODING_START = 4.0  # seconds of a script that runs a model
DECODED = 20e-6  # seconds of a piece whatever the model, for each beam
BEAM = 6.0  # where no option says it
LOOKED_AT = 5  # earlier trainings
SPEEDS = 8  # points of a curve that tell a speed
WEIGHT = 4  # bytes, in a model
SAVED = 12  # models on the disk of a training: three saves with the optimiser's two, and the best


@dataclass(frozen=True)
class Rate:
    """Processor seconds of a script before it comes to its text, and for each megabyte (compressed) of it."""

    start: float
    text: float


# What takes most, of real text, as `python -m benchmarks.first_forecast` prints it; all others are alike.
SCRIPTS: Mapping[str, Rate] = {
    "pipeline.clean.clean_parallel": Rate(5, 1.8),
    "pipeline.clean.clean_mono": Rate(3, 1.8),
    "pipeline.data.analyze": Rate(0.8, 1),
    "pipeline.train.vocab": Rate(4, 2),
    "pipeline.train.training_pairs": Rate(0.5, 2),
    "pipeline.alignments.priors": Rate(4, 14),
    "pipeline.alignments.align": Rate(2, 15),
    "pipeline.alignments.shortlist": Rate(8, 50),
    "pipeline.translate.extract_best": Rate(0.4, 6),
    "pipeline.translate.mbr": Rate(0.4, 1.7),  # as `python -m benchmarks.mbr` prints it
    "pipeline.quantize.quantize": Rate(2, 25),
    "pipeline.eval.evaluate": Rate(4, 200),
    "pipeline.eval.exported": Rate(4, 80),
    "pipeline.checks.text": Rate(2, 0.5),
    "pipeline.checks.differences": Rate(1, 3),
}
OTHERS = Rate(0.5, 0.3)
DECODING = ("pipeline.translate.translate", "pipeline.cefilter.score")


# Of a service: tokens of the prompt, and those that number a sentence; tokens of a sentence's translation for
# each of its own, as languages other than English have more; tokens that are written in a second.
PROMPT, NUMBERING, MORE, WRITTEN = 130, 5, 1.4, 1000.0
SENTENCE = 35  # bytes of a sentence in a compressed text
LETTERS = 100  # characters of a sentence
AT_ONCE = 300  # sentences that a service which is paid by characters translates in a second
# Of a judge: tokens of its prompt, those that name the three texts of a line, and those of a score
JUDGES_PROMPT, NAMING, SCORE = 260, 15, 2


def _asking(step: Step, read: float) -> Cost:
    """The cost of asking a service for the translations of a text."""
    sentences, pieces = read / SENTENCE, read * PIECES_A_BYTE
    requests = sentences / float(str(step.args["lines"]))
    asked = PROMPT * requests + NUMBERING * sentences + pieces
    written = float(str(step.args["candidates"])) * (NUMBERING * sentences + MORE * pieces)
    return _answered(asked, written)


def _commercial(step: Step, read: float) -> Cost:
    """The cost of asking a service that is paid by characters for the translations of a text."""
    sentences = read / SENTENCE
    return Cost(1 + sentences / AT_ONCE, OTHERS.start, characters=sentences * LETTERS)


def _judging(step: Step, read: float) -> Cost:
    """The cost of asking a service what translations are worth; sources and references are read, too."""
    lines = read / (3 * SENTENCE)
    requests = lines / float(str(step.args["lines"]))
    asked = JUDGES_PROMPT * requests + (NUMBERING + NAMING) * lines + read * PIECES_A_BYTE
    return _answered(asked, (NUMBERING + SCORE) * lines)


def _answered(asked: float, written: float) -> Cost:
    seconds = 1 + written / WRITTEN
    return Cost(seconds, OTHERS.start, tokens_read=asked, tokens_written=written)


ASKED: Mapping[str, Callable[[Step, float], Cost]] = {
    "pipeline.translate.ask": _asking,
    "pipeline.translate.ask_commercial": _commercial,
    "pipeline.eval.judge": _judging,
}


@dataclass(frozen=True)
class Forecast:
    """The forecast of a step.

    disk       bytes that it needs while it runs; in an estimate, besides its inputs and texts
    outputs    file → its bytes
    estimated  nothing like it was made before
    reason     by what a training was estimated: `6,000 updates of 4,000 pieces, 9.8 million weights,
               90 GFLOP/s as train-backwards had`
    """

    cost: Cost
    disk: float = 0.0
    outputs: Mapping[str, float] = field(default_factory=dict)
    estimated: bool = False
    reason: str = ""


@dataclass(frozen=True)
class TrainingSpeed:
    """Floating-point operations a second that a machine makes in training, and from where that is known."""

    flops: float
    source: str


class Estimates:
    """Estimates steps; remembers what it has found. For one thread.

    gpus_of   the GPUs that a step has, 0 where it runs on processors
    measured  the speed of a machine with so many GPUs that has trained nothing yet
    """

    def __init__(
        self,
        keys: KeyMaker,
        history: History,
        gpus_of: Callable[[Step], int],
        measured: Callable[[int], TrainingSpeed],
    ) -> None:
        self._keys = keys
        self._history = history
        self._gpus_of = gpus_of
        self._measured = measured
        self._speeds: dict[bool, TrainingSpeed] = {}

    def of(self, step: Step, read: float | None) -> Forecast | None:
        """Of a step that reads so many bytes of compressed text; None where too little is known of it."""
        if step.script == TRAINING:
            return self._training(step, read)
        if read is None:
            return None
        if step.script in DECODING and (weights := self._weights_of_models(step)):
            return Forecast(self._cost(step, self._decoding(step, read, weights)), estimated=True)
        if estimate := ASKED.get(step.script):
            return Forecast(estimate(step, read), estimated=True)
        rate = SCRIPTS.get(step.script, OTHERS)
        seconds = rate.start + rate.text * read / 1e6
        return Forecast(Cost(seconds, seconds), estimated=True)

    def updates(self, step: Step, read: float | None) -> int | None:
        """The updates of a training that reads so many bytes of compressed text (`updates_of`)."""
        return updates_of(step, self._keys, read)

    def start(self, step: Step) -> Cost:
        """Return the cost of the step's script before it comes to its text."""
        seconds = DECODING_START if step.script in DECODING else SCRIPTS.get(step.script, OTHERS).start
        return self._cost(step, seconds)

    def _training(self, step: Step, read: float | None) -> Forecast | None:
        updates = updates_of(step, self._keys, read)
        if updates is None:
            return None
        weights, pieces = weights_of(step, self._keys), pieces_of_an_update(step, self._keys)
        speed = self._speed(step)
        an_update = UPDATE + FLOPS_A_WEIGHT * weights * pieces / speed.flops
        reason = (
            f"{updates:,} updates of {pieces:,.0f} pieces, {weights / 1e6:.1f} million weights, "
            f"{speed.flops / 1e9:,.0f} GFLOP/s {speed.source}"
        )
        seconds = START + updates * an_update * VALIDATIONS
        disk = SAVED * WEIGHT * weights
        return Forecast(self._cost(step, seconds), disk, estimated=True, reason=reason)

    def _decoding(self, step: Step, read: float, weights: float) -> float:
        """Seconds of a script that runs a model over a text, two operations for each weight."""
        options = json.loads(str(step.args.get("marian_args", "{}")))
        beam = float(options.get("beam-size", BEAM)) if "translate" in step.script else 1.0
        a_piece = DECODED + 2 * weights / self._speed(step).flops
        return DECODING_START + read * PIECES_A_BYTE * beam * a_piece

    def _weights_of_models(self, step: Step) -> float:
        """The weights of all models that a step reads and a step of this graph trains."""
        made = dict.fromkeys(before for before in step.upstream() if before.script == TRAINING)
        return sum(weights_of(before, self._keys) for before in made)

    def _cost(self, step: Step, seconds: float) -> Cost:
        gpus = self._gpus_of(step)
        return Cost(seconds, 0.0 if gpus else seconds, seconds * gpus)

    def _speed(self, step: Step) -> TrainingSpeed:
        """That of the machine where a step runs."""
        gpus = self._gpus_of(step)
        kind = gpus > 0
        if kind not in self._speeds:
            self._speeds[kind] = next(self._trained(kind), None) or self._measured(1 if kind else 0)
        speed = self._speeds[kind]
        return TrainingSpeed(speed.flops * max(1, gpus), speed.source)

    def _trained(self, on_gpus: bool) -> Iterator[TrainingSpeed]:
        """The speeds of earlier trainings, of one GPU each or of a machine's processors, newest first."""
        trained = [made for stage in PASSES for made in islice(self._history.of_stage(stage), LOOKED_AT)]
        for made in sorted(trained, key=lambda made: made.ended, reverse=True):
            gpus = made.provenance.worker.gpus if made.provenance.worker else 0
            flops = self._flops(made)
            if flops and (gpus > 0) == on_gpus:
                yield TrainingSpeed(flops / max(1, gpus), f"as {made.label} had")

    def _flops(self, made: Manifest) -> float:
        """Floating-point operations a second of the training that has left a model; 0 if that is not told."""
        progress, model = made.outputs.get("last.progress.yml"), made.outputs.get("model.npz")
        if not progress or not model or not made.cost.seconds or not self._history.store.has_blob(progress):
            return 0.0
        told = yaml.safe_load(self._history.store.read_blob(progress))
        if not isinstance(told, dict) or not {"batches", "labels-total"} <= told.keys():
            return 0.0
        words, speed = told["labels-total"], self._undisturbed(made)
        seconds = words / speed if speed else made.cost.seconds / VALIDATIONS - START
        seconds = max(seconds - UPDATE * told["batches"], made.cost.seconds / 10)
        return float(FLOPS_A_WEIGHT * model.size / WEIGHT * words / seconds)

    def _undisturbed(self, made: Manifest) -> float:
        """Words a second of a training where neither validations nor other programs held it up: the upper
        quartile of its curve. 0 where its curve is short or not there.
        """
        metrics = made.outputs.get(METRICS)
        if not metrics or not self._history.store.has_blob(metrics):
            return 0.0
        training = read_metrics(self._history.store, made.outputs, made.label)
        curve = training.curve if isinstance(training, Training) else ()
        speeds = [float(point.numbers.get("words_per_second", 0)) for point in curve if point.kind == "train"]
        return quantiles(speeds, n=4)[-1] if len(speeds) >= SPEEDS else 0.0
