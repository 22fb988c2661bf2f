"""Feeds Marian: runs a stage of the curriculum with OpusTrainer, and notes how far it has come.

Marian reads ahead, so OpusTrainer is always further than Marian: its state after each batch is kept with the
number of lines given out until then, and a checkpoint takes the newest state that Marian had passed.
"""

import json
import os
import signal
import sys
from collections.abc import Generator
from contextlib import closing
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, TypeAlias

from opustrainer.trainer import (
    AsyncDatasetReader,
    CurriculumLoader,
    DatasetState,
    EpochTrackerState,
    Trainer,
    TrainerState,
)

from pipeline.common.processes import die_with_parent

State: TypeAlias = dict[str, Any]

CLOSED = 3  # exit status: Marian stopped reading


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
        the stage's last line, CLOSED when nobody reads any more.
        """
        self.states.mkdir(parents=True, exist_ok=True)
        process = get_context("fork").Process(target=_run, args=(self, pipe, group))
        process.start()
        return process

    def state_after(self, lines: int) -> tuple[State | None, int]:
        """The newest state with at most so many lines given out, and how many; older ones are removed."""
        passed = sorted(path for path in self.states.glob("*.json") if int(path.stem) <= lines)
        for old in passed[:-1]:
            old.unlink()
        return (json.loads(passed[-1].read_text()), int(passed[-1].stem)) if passed else (self.resume, 0)

    def batches(self) -> Generator[tuple[list[str], State], None, None]:
        """The stage's lines in batches, each with OpusTrainer's state after it."""
        curriculum = CurriculumLoader().load(self.config)
        trainer = Trainer(curriculum, reader=AsyncDatasetReader, tmpdir=str(self.scratch))
        with closing(trainer):
            if self.resume:
                trainer.restore(_restored(self.resume))
            run = trainer.run(batch_size=self.batch_size, chunk_size=self.chunk_size, processes=self.workers)
            with closing(run):
                for batch in run:
                    yield batch, _state(trainer.state())


def _run(feed: Feed, pipe: int, group: int) -> None:
    _prepare(group)
    os.register_at_fork(after_in_child=die_with_parent)  # OpusTrainer's workers would wait for ever
    try:
        _write(feed, pipe)
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


def _state(state: TrainerState) -> State:
    """OpusTrainer's state as JSON values."""
    return {
        "stage": state.stage,
        "random": state.random_state,
        "epochs": asdict(state.epoch_tracker_state),
        "datasets": {name: asdict(dataset) for name, dataset in state.datasets.items()},
    }


def _restored(state: State) -> TrainerState:
    version, numbers, gauss = state["random"]
    return TrainerState(
        stage=state["stage"],
        random_state=(version, tuple(numbers), gauss),
        epoch_tracker_state=EpochTrackerState(**state["epochs"]),
        datasets={name: DatasetState(**dataset) for name, dataset in state["datasets"].items()},
    )
