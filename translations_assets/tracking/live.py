"""Live numbers of trainings, sent to Weights & Biases while a run makes them.

The engine's threads leave the numbers here; a thread of its own sends them. So a training neither waits for
the server nor fails with it. Offline nothing is sent: nobody could look at it.
"""

from __future__ import annotations

import secrets
import shutil
import threading
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from translations_assets.common.background import CLOCK, Clock, Repeating
from translations_assets.common.errors import TranslationsError
from translations_assets.graph.step import Step
from translations_assets.results.training import CurvePoint
from translations_assets.running.events import Cancelled, Done, Failed, Progress, Started, StepEvent
from translations_assets.tracking.live_notes import LiveNote, live_place, read_note, write_note
from translations_assets.tracking.tracked import curve_of
from translations_assets.tracking.wandb_runs import Mode, asked_mode, library, open_run

SECONDS = 15.0  # between two sendings
LONGEST = 600.0  # pause, while they fail
END_SECONDS = 150.0  # in which a sending ends: W&B's library waits a minute to begin a run, and one to end it
MOST = 100_000  # points of a training that wait; later ones take the place of the first


@dataclass
class LiveTraining:
    """A training that goes on: its points that are not sent yet, and its run as soon as there are any.

    place     of its files, and of the note on it
    is_ended  no further points come
    """

    label: str
    config: Mapping[str, Any]
    place: Path
    points: deque[CurvePoint] = field(default_factory=lambda: deque(maxlen=MOST))
    is_ended: bool = False
    _opened: Any = None
    _note: LiveNote | None = None

    @property
    def is_open(self) -> bool:
        """True if the server's run takes points."""
        return self._opened is not None

    def send(self, project: str, group: str) -> None:
        """Send the points that wait; close the run if no more come. Raises TranslationsError, OSError."""
        try:
            self._send(project, group)
        except library().Error as error:
            why = str(error).strip().splitlines()[-1:]  # the lines before name the try's id
            raise TranslationsError(f"It did not take {self.label}. {''.join(why)}") from error

    def _send(self, project: str, group: str) -> None:
        is_ended = self.is_ended  # before the last points are looked for
        if self.points and self._opened is None:
            shutil.rmtree(self.place / "wandb", ignore_errors=True)  # of earlier tries
            note = read_note(self.place) or LiveNote(secrets.token_hex(10), 0, 0)
            self._opened = open_run(
                self.label, note.identity, self.config, self.place, "online", project, group
            )
            is_whole = note.last < self._opened.starting_step  # the server has all that the note counts
            self._keep(note if is_whole else LiveNote(note.identity, 0, 0))
        while self.points:
            self._log(self.points.popleft())
        if self._note and self._note != read_note(self.place):
            self._keep(self._note)
        if is_ended and self._opened is not None:
            opened, self._opened = self._opened, None
            opened.finish()

    def _log(self, point: CurvePoint) -> None:
        """Log a point; one that the server has is counted alone, as after an interruption some come twice."""
        assert self._note
        for update, numbers in curve_of([point]):
            if update > self._note.last:
                self._note = LiveNote(self._note.identity, self._note.updates + 1, update)
            if update >= self._opened.starting_step:
                self._opened.log(dict(numbers), step=update)

    def _keep(self, note: LiveNote) -> None:
        self._note = note
        write_note(self.place, note)


class LiveRuns:
    """A listener of the engine that sends the curves of trainings as they grow.

    project, group  in Weights & Biases
    folder          for the files of the pair's runs
    report          gets a failure in words, once for all in a row that are alike
    """

    def __init__(
        self,
        project: str,
        group: str,
        folder: Path,
        report: Callable[[str], object],
        clock: Clock = CLOCK,
    ) -> None:
        self._project, self._group, self._folder = project, group, folder
        self._trainings: dict[str, LiveTraining] = {}
        self._mode: Mode | None = None
        self._begun: dict[str, tuple[str, int]] = {}
        self._lock = threading.Lock()
        self._sender = Repeating("wandb", self._send, SECONDS, report, longest=LONGEST, clock=clock)

    def __call__(self, event: StepEvent) -> None:
        """Take note of an event of a step; this waits for nothing."""
        label = event.step.label
        match event.what:
            case Started() if event.log:
                self._begun[label] = event.log
            case Progress(numbers) if label in self._begun:
                if point := _point(numbers):
                    self._training(event.step).points.append(point)
                    self._sender.start()
            case Done() | Failed() | Cancelled() if label in self._trainings:
                self._trainings[label].is_ended = True

    def end(self) -> None:
        """Send what is left and close all runs; this takes minutes at most, where the server is away."""
        self._sender.stop()
        if not self._trainings or not self._sender.join(END_SECONDS):
            return
        for training in self._trainings.values():
            training.is_ended = True
        if not self._sender.error:  # else the server is away: what is told at the end has all of it
            self._sender.tick()
        if self._mode == "online":
            with suppress(Exception):
                library().teardown()

    def _training(self, step: Step) -> LiveTraining:
        with self._lock:
            if step.label not in self._trainings:
                key, generation = self._begun[step.label]
                config = {"partition": self._group, "key": key, "generation": generation}
                place = live_place(self._folder, step.label, key, generation)
                self._trainings[step.label] = LiveTraining(step.label, config, place)
            return self._trainings[step.label]

    def _send(self) -> None:
        self._mode = self._mode or asked_mode()
        trainings = [*self._trainings.values()]
        for training in trainings:
            if self._mode != "online":
                training.points.clear()
                continue
            try:
                training.send(self._project, self._group)
            except TranslationsError:
                if not any(one.is_open for one in trainings):
                    library().teardown()  # which else takes the next try's id for one in use
                raise


def _point(numbers: Mapping[str, Any]) -> CurvePoint | None:
    """A point of a curve; None for live numbers that are none, such as those of a download."""
    try:
        return CurvePoint.from_dict(numbers)
    except ValueError:
        return None


_LIVE: dict[str, LiveRuns] = {}  # run → what sends its trainings' numbers


def begin_live(run: str, live: LiveRuns) -> LiveRuns:
    """Remember what sends the numbers of a run's trainings, until `end_live`."""
    _LIVE[run] = live
    return live


def end_live(run: str) -> None:
    """Send what is left of a run's live numbers; nothing where none are sent, or no more."""
    if live := _LIVE.pop(run, None):
        live.end()
