"""Many requests to a service at once, as many as it takes.

Each answer that comes lets a little more be asked at once, each sign of overload halves that, as TCP does it
(additive increase, multiplicative decrease); as many as were too many before are tried late. A pause that
the service asks for holds for all requests. A request that fails each time is given up where others are
answered meanwhile; else the service is gone, or takes no more.
"""

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Generic, TypeVar

from pipeline.common.errors import TemporaryError
from pipeline.translate.web_service import Busy

Request = TypeVar("Request")
Reply = TypeVar("Reply")

FIRST, MOST = 8, 128  # requests at once
CAREFUL = 20  # times as many answers before it asks as many at once as were too many before
TRIES = 8  # of a request that fails
PAUSE, LONGEST_PAUSE = 1.0, 60.0  # seconds, doubled with each try
LONGEST_ASKED = 600.0  # seconds; of a service that wants more, another attempt will ask

log = logging.getLogger(__name__)


@dataclass
class _Waiting(Generic[Request]):
    """A request that is to be asked; `tries` have failed, and the next may begin at `due`.

    answered  how many were answered before its first try
    """

    request: Request
    tries: int = 0
    due: float = 0.0
    answered: int = 0


@dataclass(frozen=True)
class _Ended(Generic[Request, Reply]):
    """A request that was asked from `began` on, and its reply or what it raised."""

    waiting: _Waiting[Request]
    began: float
    reply: Reply | None
    error: BaseException | None


class Pacing(Generic[Request, Reply]):
    """Asks requests in threads; the caller's thread gets the replies as they come.

    ask      what one request is asked by; Busy of it is tried again
    give_up  what makes the reply of a request that fails each time
    """

    def __init__(self, ask: Callable[[Request], Reply], give_up: Callable[[Request, Busy], Reply]) -> None:
        self._ask, self._give_up = ask, give_up
        self._waiting: deque[_Waiting[Request]] = deque()
        self._ended: SimpleQueue[_Ended[Request, Reply]] = SimpleQueue()
        self._running = self._answered = 0
        self._limit, self._too_many, self._grown = FIRST, MOST + 1, 0
        self._halved = self._open = 0.0

    def add(self, requests: Iterable[Request]) -> None:
        """Add requests; also while replies are read."""
        self._waiting.extend(map(_Waiting, requests))

    def replies(self) -> Iterator[list[tuple[Request, Reply]]]:
        """Yield the replies, those together that have come meanwhile, until every request has one.

        What `ask` raises is raised, after the replies that have come; TemporaryError for a request that has
        failed too often, where none was answered since its first try or the service is full. Requests that
        run are then left to themselves.
        """
        while self._waiting or self._running:
            self._begin()
            ended = self._next()
            replies = [(one.waiting.request, one.reply) for one in ended if one.reply is not None]
            if replies:
                yield replies
            given_up = [reply for one in ended for reply in self._settle(one)]
            if given_up:
                yield given_up

    def _begin(self) -> None:
        now = time.monotonic()
        if now < self._open:
            return
        for _ in range(len(self._waiting)):
            if self._running >= self._limit:
                return
            waiting = self._waiting.popleft()
            if waiting.due > now:
                self._waiting.append(waiting)
                continue
            self._running += 1
            if not waiting.tries:
                waiting.answered = self._answered
            # A daemon: a script that is stopped does not wait for answers.
            Thread(target=self._run, args=(waiting, now), daemon=True).start()

    def _run(self, waiting: _Waiting[Request], began: float) -> None:
        try:
            self._ended.put(_Ended(waiting, began, self._ask(waiting.request), None))
        except BaseException as error:
            self._ended.put(_Ended(waiting, began, None, error))

    def _next(self) -> list[_Ended[Request, Reply]]:
        """What has ended; waits for it, no longer than until another request may begin."""
        ended = []
        try:
            ended.append(self._ended.get(timeout=self._until_due()))
            while True:
                ended.append(self._ended.get_nowait())
        except Empty:
            pass
        self._running -= len(ended)
        return ended

    def _until_due(self) -> float | None:
        if not self._waiting or self._running >= self._limit:
            return None
        due = max(self._open, min(waiting.due for waiting in self._waiting))
        return max(0.0, due - time.monotonic())

    def _settle(self, ended: _Ended[Request, Reply]) -> Iterator[tuple[Request, Reply]]:
        """Let more or less be asked at once, and ask again what failed; yield a reply if it is given up."""
        if ended.error is None:
            self._answered += 1
            self._grown += 1
            slowly = CAREFUL if self._limit + 1 >= self._too_many else 1
            if self._grown >= self._limit * slowly:
                self._limit, self._grown = min(MOST, self._limit + 1), 0
            return
        if not isinstance(ended.error, Busy):
            raise ended.error
        waiting, error, now = ended.waiting, ended.error, time.monotonic()
        waiting.tries += 1
        if waiting.tries == TRIES and not error.full and self._answered > waiting.answered:
            yield waiting.request, self._give_up(waiting.request, error)
            return
        if waiting.tries == TRIES or (error.pause or 0.0) > LONGEST_ASKED:
            raise TemporaryError(f"{error}; tried {waiting.tries} times") from error
        if error.overload and ended.began >= self._halved:  # once for all that were asked together
            self._too_many = self._limit
            self._limit, self._grown, self._halved = max(1, self._limit // 2), 0, now
        log.warning("%s; asking again, %d requests at once", error, self._limit)
        if error.pause is not None:
            self._open = max(self._open, now + error.pause)
        waiting.due = now + min(LONGEST_PAUSE, PAUSE * 2 ** (waiting.tries - 1))
        self._waiting.append(waiting)
