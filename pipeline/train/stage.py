"""One stage of a training: `marian train` and its feed; its log is read and its saves are kept.

Both run in a process group of their own, led by Marian. To stop: SIGTERM to Marian, which saves and ends;
then what feeds it is ended, then the whole group.
"""

import logging
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import IO

from pipeline.common.errors import InputError, TemporaryError
from pipeline.common.marian_options import Options, write_options
from pipeline.common.marian_process import marian_error
from pipeline.common.processes import dying_with_parent, kill_group
from pipeline.common.resources import grace_seconds, marian_command
from pipeline.train.checkpoints import MODEL, Checkpoints, Place, read_progress, saved_at
from pipeline.train.curve import Curve, parse_validation
from pipeline.train.feed import CLOSED, LOST, Feed
from pipeline.train.gpu_memory import OutOfGpuMemory, not_reserved, ran_out
from pipeline.train.settings import updates_in
from pipeline.train.stopping import StopSwitch
from pipeline.train.validations import Validations

POLL_SECONDS = 0.2
CUT_FEED_SECONDS = 2.0  # Marian looks for signals between updates; waiting for text, it would not
KILL_AFTER = 0.75  # of the time that a worker gives; the rest is for keeping the save
FEED_END_SECONDS = 1.0
END_SECONDS = 60.0  # in which Marian ends after its last word; now and then 1.12.42 spins for ever instead
TAIL_LINES = 40
CURVE = "curve.jsonl"
# In Marian's log
STARTED = "Training started"  # the workspace has been reserved, and only with mini-batch-fit been used
INTERRUPTED = "Training interrupted (via signal)"
FINISHED = "Training finished"  # a validation and a save may follow

log = logging.getLogger(__name__)


class Stage:
    """A stage of a curriculum, trained in a folder that holds Marian's model and the curve."""

    def __init__(
        self, number: int, folder: Path, feed: Feed, checkpoints: Checkpoints, halved_at: int | None
    ) -> None:
        """`number` counts from 0. A model that is in the folder already is trained further.

        halved_at  as in Place
        """
        self._number, self._folder, self._feed, self._checkpoints = number, folder, feed, checkpoints
        self._halved_at = halved_at
        begun = read_progress(folder)
        self._epoch = begun.epochs if begun else 1
        self._saved = self._seen = saved_at(folder)
        self._validated = 0, 0  # update and time (ns) of the last validation
        self._tail: list[str] = []
        self._valid_freq = 0
        self._told = False  # Marian was told to stop
        self._interrupted = False  # Marian says so; its status may be 0
        self._spoilt = False  # by the stop, which cut a validation short
        self._batches = False  # micro-batches may have been computed
        self._ran_out = ""  # how Marian says that a GPU's memory ran out
        self._finished = False  # Marian says so; it saves, and ends
        self._saved_before: tuple[int, ...] | None = None  # what was saved when it said so
        self._heard = time.monotonic()  # of Marian, for the last time

    def run(self, options: Options, curve: Curve, stop: StopSwitch) -> bool:
        """Train until the stage's text ends (True), or until Marian ends the training by itself (False).

        Raises TemporaryError when asked to stop, when the feed is killed or a GPU has no room for the
        workspace, OutOfGpuMemory when micro-batches want more than there is, InputError when the training
        fails or diverges.
        """
        self._valid_freq = updates_in(options["valid-freq"]) or 0
        self._batches = bool(options.get("mini-batch-fit"))
        metrics = options["valid-metrics"]
        assert isinstance(metrics, list)
        anew = bool(options["valid-reset-stalled"])
        validations = Validations(self._folder, [str(metric) for metric in metrics], anew)
        marian, feeding = self._start(options)
        assert marian.stderr is not None
        try:
            for line in self._lines(marian.stderr):
                if line:
                    self._read(line, curve, validations, stop)
                else:
                    self._look_for_save()
                if self._spins():
                    log.warning("Marian has finished and saved, and does not end: it is killed")
                    break
                self._stop_if_asked(stop, marian, feeding)
            status = 0 if self._spins() else marian.wait()
            feeding.join(FEED_END_SECONDS)
            fed = feeding.exitcode  # before the stage ends it
        finally:
            kill_group(marian.pid)
            marian.wait()
            feeding.join()
            marian.stderr.close()
        return self._outcome(status, fed, validations, stop)

    def _start(self, options: Options) -> "tuple[subprocess.Popen[bytes], BaseProcess]":
        """Start Marian as the leader of a process group, and what feeds it."""
        config = self._folder / "train.yml"
        write_options(config, options)
        reading, writing = os.pipe()
        marian = subprocess.Popen(
            [*marian_command(), "train", "--config", str(config)],
            stdin=reading,
            stderr=subprocess.PIPE,
            preexec_fn=partial(_lead_group, dying_with_parent()),
        )
        os.close(reading)
        feeding = self._feed.start(writing, marian.pid)
        os.close(writing)
        return marian, feeding

    def _lines(self, stream: IO[bytes]) -> Iterator[str]:
        """Marian's log, line by line, until it ends; an empty line whenever all there is has been read."""
        partial = b""
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            while True:
                if not selector.select(0):
                    yield ""
                    if not selector.select(POLL_SECONDS):
                        continue
                piece = os.read(stream.fileno(), 1 << 16)
                if not piece:
                    return
                *whole, partial = (partial + piece).split(b"\n")
                yield from (line.decode("utf-8", "replace") for line in whole)

    def _read(self, line: str, curve: Curve, validations: Validations, stop: StopSwitch) -> None:
        if "[config]" in line:  # the same, hundreds of lines long, as train.yml
            return
        print(line, file=sys.stderr, flush=True)
        self._tail = [*self._tail, line][-TAIL_LINES:]
        self._batches = self._batches or STARTED in line
        self._interrupted = self._interrupted or INTERRUPTED in line
        self._heard = time.monotonic()
        if FINISHED in line:
            self._finished, self._saved_before = True, saved_at(self._folder)
        self._ran_out = self._ran_out or (line if ran_out(line) else "")
        if stop.seconds is not None and parse_validation(line):
            self._spoilt = True  # Marian cuts a validation short when it is stopped
            return
        if validation := parse_validation(line):
            self._validated = validation[0], time.time_ns()
        curve.read(line)
        validations.read(line)

    def _spins(self) -> bool:
        """Whether Marian has finished and saved long ago, and does not end."""
        if not self._finished or time.monotonic() - self._heard < END_SECONDS:
            return False
        return saved_at(self._folder) not in (None, self._saved_before)

    def _look_for_save(self) -> None:
        """Keep a save that was there when the log was last read to its end: the curve has what led to it."""
        saved = saved_at(self._folder)
        if saved == self._seen and not self._told:
            self._keep_save()
        self._seen = saved

    def _keep_save(self, unvalidated: bool | None = None) -> None:
        """Keep Marian's latest save if it is complete, new, and made before the stage's text ended.

        unvalidated  its validation is to be made up for; by default a save that lacks one is passed over
        """
        saved, progress = saved_at(self._folder), read_progress(self._folder)
        if saved in (None, self._saved) or progress is None or progress.epochs != self._epoch:
            return
        if unvalidated is None and self._lacks_validation(progress.update):
            return
        self._saved = saved
        fed = self._feed.state_after(progress.samples)
        self._save(Place(progress.update, self._number, *fed, bool(unvalidated), self._halved_at))

    def _lacks_validation(self, update: int) -> bool:
        """Whether the latest save was made before the validation of its own update.

        Marian saves first, and when it goes on from there it does not make up for the validation.
        """
        if self._valid_freq <= 1 or update % self._valid_freq:
            return False
        validated, time = self._validated
        return validated != update or (self._folder / MODEL).stat().st_mtime_ns < time

    def _save(self, place: Place) -> None:
        files = sorted(path for path in self._folder.iterdir() if _is_kept(path))
        self._checkpoints.save(self._folder, files, place)

    def _stop_if_asked(
        self, stop: StopSwitch, marian: "subprocess.Popen[bytes]", feeding: BaseProcess
    ) -> None:
        seconds = stop.seconds
        if seconds is None:
            return
        if not self._told:
            self._told = True
            log.info("Asked to stop: Marian saves first")
            marian.send_signal(signal.SIGTERM)
        if seconds > CUT_FEED_SECONDS:
            feeding.kill()
        if seconds > KILL_AFTER * grace_seconds():
            kill_group(marian.pid)

    def _keep_last_save(self, validations: Validations) -> None:
        """Keep the save that Marian has made because it was stopped, without a validation cut short."""
        saved, progress = saved_at(self._folder), read_progress(self._folder)
        if saved in (None, self._saved) or progress is None:
            return
        is_due = self._valid_freq > 1 and progress.update % self._valid_freq == 0
        is_cut = self._spoilt or (is_due and validations.update != progress.update)
        if is_cut:
            validations.undo_last()
        self._keep_save(unvalidated=is_cut)

    def _outcome(self, status: int, fed: int | None, validations: Validations, stop: StopSwitch) -> bool:
        """Keep the last save, raise what ended the training early, and say whether the text has ended.

        fed  the feed's status, None when it did not end by itself
        """
        ended = status == 0 and fed == 0
        progress = read_progress(self._folder)
        if ended and progress and not self._spoilt:
            self._save(Place(progress.update, self._number + 1, None, halved_at=self._halved_at))
        elif stop.seconds is not None:
            self._keep_last_save(validations)
        else:
            self._keep_save()
        if stop.seconds is not None or self._interrupted:
            raise TemporaryError(f"Stopped at update {progress.update if progress else 0}, as asked")
        if wrong := self._feed.error:
            raise InputError(wrong)
        if status and self._ran_out:
            raise OutOfGpuMemory(self._ran_out) if self._batches else not_reserved(self._ran_out)
        if status:
            raise marian_error("train", status, "\n".join(self._tail))
        if fed == LOST:
            raise TemporaryError("A worker of the feed died, for lack of memory perhaps; see above")
        if fed is not None and fed < 0:
            name = signal.Signals(-fed).name
            raise TemporaryError(f"The feed was killed by {name}, for lack of memory perhaps; see above")
        if fed not in (0, CLOSED, None):
            raise InputError(f"The feed failed (status {fed}); its messages stand above")
        return ended


def _lead_group(die_with_parent: Callable[[], None]) -> None:
    die_with_parent()
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole terminal; the script decides


def _is_kept(path: Path) -> bool:
    """Whether a file of the work folder belongs to a checkpoint; Marian writes to names that end in $$."""
    return path.name == CURVE or path.name.startswith(MODEL) and not path.name.endswith("$$")
