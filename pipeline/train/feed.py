"""Feeds Marian: runs a stage of the curriculum with OpusTrainer, and notes how far it has come.

Marian reads ahead, so OpusTrainer is always further than Marian: its state after each batch is kept with the
number of lines given out until then, and a checkpoint takes the newest state that Marian had passed.

OpusTrainer forks its workers, so it runs in a fresh process: what threads and libraries of another one leave
behind can crash a fork. It would wait for ever for a worker that has died; here it ends.
"""

import json
import logging
import os
import signal
import sys
from collections.abc import Generator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from multiprocessing import get_context, set_start_method
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from multiprocessing.queues import Queue
from pathlib import Path
from queue import Empty
from typing import Any, TypeAlias

from opustrainer.modifiers import pool
from opustrainer.modifiers.pool import ModifierPool
from opustrainer.trainer import (
    AsyncDatasetReader,
    CurriculumLoader,
    DatasetState,
    EpochTrackerState,
    Trainer,
    TrainerState,
)

from pipeline.common.processes import die_with_parent
from pipeline.train import typos

State: TypeAlias = dict[str, Any]

CLOSED = 3  # exit status: Marian stopped reading
LOST = 4  # exit status: a worker of OpusTrainer died
_LOOK_SECONDS = 0.2


@dataclass(frozen=True)
class Feed:
    """One stage of a curriculum as it is fed: OpusTrainer's configuration, and where to begin."""

    config: dict[str, Any]
    batch_size: int
    chunk_size: int
    workers: int
    scratch: Path
    resume: State | None = None

    @property
    def states(self) -> Path:
        """Folder of the states so far: a file for each, named after the lines given out before it."""
        return self.scratch / "states"

    def start(self, pipe: int, group: int) -> BaseProcess:
        """Start to write lines to a pipe, as a process in the given process group. Ends with status 0 after
        the stage's last line, CLOSED when nobody reads any more, LOST when a worker of OpusTrainer died.
        """
        self.states.mkdir(parents=True, exist_ok=True)
        with Connection(os.dup(pipe), readable=False) as connection:
            process = get_context("spawn").Process(target=_run, args=(self, connection, group))
            process.start()
        return process

    def state_after(self, lines: int) -> tuple[State | None, int]:
        """The newest state with at most so many lines given out, and how many; older ones are removed."""
        passed = sorted(path for path in self.states.glob("[0-9]*.json") if int(path.stem) <= lines)
        for old in passed[:-1]:
            old.unlink()
        return (json.loads(passed[-1].read_text()), int(passed[-1].stem)) if passed else (self.resume, 0)

    def batches(self) -> Generator[tuple[list[str], State], None, None]:
        """The stage's lines in batches, each with OpusTrainer's state after it."""
        typos.install()
        curriculum = CurriculumLoader().load(self.config)
        trainer = Trainer(curriculum, reader=AsyncDatasetReader, tmpdir=str(self.scratch))
        with closing(trainer):
            if self.resume:
                trainer.restore(_restored(self.resume))
            run = trainer.run(batch_size=self.batch_size, chunk_size=self.chunk_size, processes=self.workers)
            with closing(run):
                for batch in run:
                    yield batch, _state(trainer)


class _Pool(ModifierPool):  # type: ignore[misc]  # OpusTrainer has no types
    """OpusTrainer's workers; when one has died, this process ends."""

    results: Any

    def __enter__(self) -> "_Pool":
        super().__enter__()
        self.results = _Results(self.results, self.processes)
        return self


class _Results:
    """What the workers have done, as OpusTrainer's pool takes it out."""

    def __init__(self, queue: "Queue[Any]", workers: list[BaseProcess]) -> None:
        self._queue, self._workers = queue, workers

    def get(self) -> Any:
        """The next chunk's number, lines and error."""
        while True:
            for worker in self._workers:
                if worker.exitcode:
                    logging.error("A worker of OpusTrainer died (status %d)", worker.exitcode)
                    os._exit(LOST)  # it may have held the queues' locks: nothing can be closed in order
            with suppress(Empty):
                return self._queue.get(timeout=_LOOK_SECONDS)


def _run(feed: Feed, pipe: "Connection[Any, Any]", group: int) -> None:
    _prepare(group)
    set_start_method("fork", force=True)  # of OpusTrainer's workers; a spawned process spawns its own
    logging.basicConfig(level=logging.INFO, format="%(asctime)s OpusTrainer: %(message)s", datefmt="%H:%M:%S")
    os.register_at_fork(after_in_child=die_with_parent)  # OpusTrainer's workers would wait for ever
    pool.ModifierPool = _Pool
    try:
        _write(feed, os.dup(pipe.fileno()))
    except BrokenPipeError:
        sys.exit(CLOSED)


def _prepare(group: int) -> None:
    die_with_parent()
    os.setpgid(0, group)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole terminal; the script decides


def _write(feed: Feed, pipe: int) -> None:
    lines = 0
    with os.fdopen(pipe, "w", encoding="utf-8", newline="\n") as stream, closing(feed.batches()) as batches:
        for batch, state in batches:
            stream.writelines(batch)
            stream.flush()
            lines += len(batch)
            _keep(feed.states / f"{lines:015d}.json", state)


def _keep(path: Path, state: State) -> None:
    hidden = path.with_name(f".{path.name}")
    hidden.write_text(json.dumps(state))
    hidden.rename(path)


def _state(trainer: Trainer) -> State:
    """OpusTrainer's state as JSON values."""
    state = trainer.state()
    return {
        "stage": state.stage,
        "random": state.random_state,
        "epochs": asdict(state.epoch_tracker_state),
        "datasets": {name: _dataset_state(reader) for name, reader in trainer.readers.items()},
    }


def _dataset_state(reader: AsyncDatasetReader) -> State:
    """How far a dataset has been read.

    After the last line OpusTrainer counts the next epoch at once, but its lines only when it reads the first:
    going on from that, it would pass over the whole epoch.
    """
    state = asdict(reader.state())
    return {**state, "line": 0} if reader._fh is not None and reader._fh.closed else state


def _restored(state: State) -> TrainerState:
    version, numbers, gauss = state["random"]
    return TrainerState(
        stage=state["stage"],
        random_state=(version, tuple(numbers), gauss),
        epoch_tracker_state=EpochTrackerState(**state["epochs"]),
        datasets={name: DatasetState(**dataset) for name, dataset in state["datasets"].items()},
    )
