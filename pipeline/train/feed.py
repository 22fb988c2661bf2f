"""Feeds Marian: a stage's batches of lines, mixed and modified by workers, and notes how far it has come.

A batch follows from its number: which lines stand in it (pipeline.train.mixing), what becomes of them
(pipeline.train.modifying), their order. Workers read and unpack the lines themselves and hand back the
finished text; this process hands out numbers and writes the text in order. So the number of workers changes
nothing, and text stays on disk once, compressed.

Marian reads ahead, so the feed is always further than Marian: the state after each batch is kept with the
number of lines given out until then, and a checkpoint takes the newest state that Marian had passed.
"""

import json
import logging
import os
import selectors
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from pipeline.common.errors import InputError
from pipeline.common.processes import dying_with_parent
from pipeline.train.curriculum import load
from pipeline.train.mixing import Mix, Stretch, mix
from pipeline.train.modifying import Modifying
from pipeline.train.pair_blocks import PairBlocks

State: TypeAlias = dict[str, Any]

CLOSED = 3  # exit status: Marian stopped reading
LOST = 4  # exit status: a worker died
WORKER_MB = 250  # memory of a worker with batches of 16,384 lines
_AHEAD = 2  # batches for each worker that are being made or wait to be written
_COUNT_BYTES = 8  # before a batch's text: the number of its lines


@dataclass(frozen=True)
class Feed:
    """One stage of a curriculum as it is fed: OpusTrainer's configuration, whose datasets are folders of
    pipeline.train.pair_blocks, and where to begin.
    """

    config: dict[str, Any]
    batch_size: int
    workers: int
    scratch: Path
    resume: State | None = None

    @property
    def states(self) -> Path:
        """Folder of the states so far: a file for each, named after the lines given out before it."""
        return self.scratch / "states"

    @property
    def error(self) -> str:
        """What is wrong with the input, when that has ended the feed."""
        return self._told.read_text(encoding="utf-8") if self._told.exists() else ""

    def tell(self, error: InputError) -> None:
        """Leave the error for the script, which tells it as its own."""
        self._told.write_text(str(error), encoding="utf-8")

    @property
    def _told(self) -> Path:
        return self.scratch / "error.txt"

    def start(self, pipe: int, group: int) -> BaseProcess:
        """Start to write lines to a pipe, as a process in the given process group. Ends with status 0 after
        the stage's last line, CLOSED when nobody reads any more, LOST when a worker died.
        """
        self.states.mkdir(parents=True, exist_ok=True)
        with Connection(os.dup(pipe), readable=False) as connection:
            begun = (self, connection, group, dying_with_parent())
            process = get_context("spawn").Process(target=_run, args=begun)
            process.start()
        return process

    def state_after(self, lines: int) -> tuple[State | None, int]:
        """The newest state with at most so many lines given out, and how many; older ones are removed."""
        passed = sorted(path for path in self.states.glob("[0-9]*.json") if int(path.stem) <= lines)
        for old in passed[:-1]:
            old.unlink()
        return (json.loads(passed[-1].read_text()), int(passed[-1].stem)) if passed else (self.resume, 0)

    def modifying(self) -> Modifying:
        """What the stage's modifiers make of a batch."""
        return Modifying(self.config)

    def batches(self) -> Iterator[tuple[list[str], State]]:
        """The stage's lines in batches, without line feeds, each with the state after it."""
        making = _Making(self)
        for number in making.numbers():
            yield making.lines(number, making.mix.batch(number)), {"batch": number + 1}


class _Making:
    """What a batch is made from; every process opens the same."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._modifying = feed.modifying()
        self._datasets = {name: PairBlocks.open(Path(file)) for name, file in feed.config["datasets"].items()}
        self._stage = load(feed.config).stages[feed.config["stages"][0]]
        self._seed = f"{feed.config['seed']} {self._stage.name}"

    @cached_property
    def mix(self) -> Mix:
        """Which lines stand in which batch."""
        sizes = {name: blocks.sizes for name, blocks in self._datasets.items()}
        return mix(self._stage, sizes, self._feed.batch_size, self._seed)

    def numbers(self) -> Iterator[int]:
        """The numbers of the batches to make."""
        begin = self._feed.resume["batch"] if self._feed.resume else 0
        return iter(count(begin) if self.mix.batches is None else range(begin, self.mix.batches))

    def lines(self, number: int, stretches: list[Stretch]) -> list[str]:
        """A batch's lines, finished."""
        lines = (
            line
            for dataset, block, first, last in stretches
            for line in self._datasets[dataset].read(block)[first:last]
        )
        return self._modifying.batch(lines, f"{self._seed} {number}")


class _Worker:
    """A process that makes one batch at a time."""

    def __init__(self, feed: Feed, making: _Making) -> None:
        self.connection, theirs = get_context("fork").Pipe()
        begun = (feed, making, theirs, dying_with_parent())
        self.process = get_context("fork").Process(target=_work, args=begun, daemon=True)
        self.process.start()
        theirs.close()
        self.number: int | None = None  # of the batch that it is making

    def begin(self, number: int, stretches: list[Stretch]) -> None:
        """Have it make a batch. Ends this process when it has died."""
        self.number = number
        try:
            self.connection.send((number, stretches))
        except (BrokenPipeError, ConnectionResetError):
            self._fail()

    def finish(self) -> tuple[int, bytes]:
        """The number of its batch, and what it has made. Ends this process when it has died."""
        try:
            made = self.connection.recv_bytes()
        except (EOFError, OSError):  # an OSError where it died amid a message
            self._fail()
        number, self.number = self.number, None
        assert number is not None
        return number, made

    def _fail(self) -> NoReturn:
        self.process.join()
        if self.process.exitcode == 1:
            sys.exit(1)  # it has told why
        logging.error("A worker of the feed died (status %s)", self.process.exitcode)
        sys.exit(LOST)


class _Feeding:
    """Keeps workers busy and writes what they have made, in order, as fast as Marian reads."""

    def __init__(self, feed: Feed, pipe: int) -> None:
        self._making = _Making(feed)
        self._states, self._pipe = feed.states, pipe
        self._numbers = self._making.numbers()
        self._mix = self._making.mix
        self._workers = [_Worker(feed, self._making) for _ in range(feed.workers)]
        self._order: deque[int] = deque()  # numbers of batches handed out and not yet written
        self._made: dict[int, bytes] = {}
        self._text = memoryview(b"")  # of the batch that is being written
        self._lines = 0  # given out with it

    def run(self) -> None:
        """Write the stage to its end; raises BrokenPipeError when nobody reads any more."""
        os.set_blocking(self._pipe, False)
        with selectors.DefaultSelector() as selector:
            for worker in self._workers:
                selector.register(worker.connection, selectors.EVENT_READ, worker)
            self._hand_out()
            while self._order:
                self._watch_pipe(selector)
                for key, _ in selector.select():
                    if key.data is None:
                        self._write()
                    else:
                        number, made = key.data.finish()
                        self._made[number] = made
                self._hand_out()

    def _watch_pipe(self, selector: selectors.BaseSelector) -> None:
        """Ask for room in the pipe while there is something to write."""
        if bool(self._text or self._order[0] in self._made) != (self._pipe in selector.get_map()):
            if self._pipe in selector.get_map():
                selector.unregister(self._pipe)
            else:
                selector.register(self._pipe, selectors.EVENT_WRITE)

    def _hand_out(self) -> None:
        for worker in self._workers:
            if worker.number is not None or len(self._order) >= _AHEAD * len(self._workers):
                continue
            if (number := next(self._numbers, None)) is not None:
                worker.begin(number, self._mix.batch(number))
                self._order.append(number)

    def _write(self) -> None:
        if not self._text:
            made = memoryview(self._made[self._order[0]])
            self._lines += int.from_bytes(made[:_COUNT_BYTES], "little")
            self._text = made[_COUNT_BYTES:]
        with suppress(BlockingIOError):
            self._text = self._text[os.write(self._pipe, self._text) :]
        if not self._text:
            number = self._order.popleft()
            del self._made[number]
            _keep(self._states / f"{self._lines:015d}.json", {"batch": number + 1})


def _run(feed: Feed, pipe: "Connection[Any, Any]", group: int, die_with_parent: Callable[[], None]) -> None:
    die_with_parent()
    try:
        os.setpgid(0, group)
    except PermissionError:  # there is no such group: Marian has ended already
        sys.exit(CLOSED)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole terminal; the script decides
    logging.basicConfig(level=logging.INFO, format="%(asctime)s feed: %(message)s", datefmt="%H:%M:%S")
    try:
        _Feeding(feed, pipe.fileno()).run()
    except BrokenPipeError:
        sys.exit(CLOSED)
    except InputError as error:
        feed.tell(error)
        sys.exit(1)


def _work(
    feed: Feed, making: _Making, connection: "Connection[Any, Any]", die_with_parent: Callable[[], None]
) -> None:
    die_with_parent()
    while True:
        try:
            lines = making.lines(*connection.recv())
        except InputError as error:
            feed.tell(error)
            sys.exit(1)
        text = "".join(f"{line}\n" for line in lines).encode()
        connection.send_bytes(len(lines).to_bytes(_COUNT_BYTES, "little") + text)


def _keep(path: Path, state: State) -> None:
    hidden = path.with_name(f".{path.name}")
    hidden.write_text(json.dumps(state))
    hidden.rename(path)
