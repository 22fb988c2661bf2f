"""The teacher behind the page: Marian, one process that stays open, asked by one request at a time."""

from __future__ import annotations

import asyncio
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from translations_assets.common.scripts import script_command, script_environment

MOST_CHARACTERS = 2_000  # of a text
MOST_WAITING = 4  # requests, with the one that is answered
SECONDS = 120.0  # for a text, with loading the model
END_SECONDS = 2.0  # for Marian to end by itself
_LONGEST_ANSWER = 1 << 20


class TextRefused(Exception):
    """A request that is not answered, with the status of the answer and why, for people."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Teacher:
    """A model that Marian runs.

    name   what results call it: teacher-1, teacher-ensemble
    bytes  of its weights
    place  puts its folders where Marian can read them; called at the first request
    work   folder for what Marian says, and for what it writes
    """

    def __init__(self, name: str, bytes: int, place: Callable[[], Sequence[Path]], work: Path) -> None:
        self.name = name
        self.bytes = bytes
        self._place = place
        self._work = work
        self._log = work / "marian.log"
        self._folders: Sequence[Path] = ()
        self._process: Process | None = None
        self._turn = asyncio.Lock()
        self._waiting = 0

    async def translate(self, sentences: Sequence[str]) -> tuple[list[str], float]:
        """A translation for each sentence, and the seconds that they took.

        Raises TextRefused when Marian fails, or is too busy or too slow.
        """
        if self._waiting >= MOST_WAITING:
            raise TextRefused(503, "The teacher has too many requests. Try again in a moment.")
        self._waiting += 1
        try:
            async with self._turn:
                return await self._translated(sentences)
        finally:
            self._waiting -= 1

    async def end(self) -> None:
        """End Marian, at first by ending its input."""
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        assert process.stdin
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), END_SECONDS)
        except TimeoutError:
            process.kill()
            await process.wait()

    async def _translated(self, sentences: Sequence[str]) -> tuple[list[str], float]:
        try:
            async with asyncio.timeout(SECONDS):
                process = await self._started()
                began = time.perf_counter()
                translations = [await self._answer(process, sentence) for sentence in sentences]
                return translations, time.perf_counter() - began
        except TimeoutError:
            await self._kill()
            raise TextRefused(
                503, f"The teacher took more than {SECONDS:.0f} s. Try a shorter text."
            ) from None
        except BaseException:  # what is left in the pipe would answer another request
            await self._kill()
            raise

    async def _started(self) -> Process:
        if self._process is None or self._process.returncode is not None:
            if not self._folders:
                self._folders = await asyncio.to_thread(self._place)
            with self._log.open("wb") as log:
                self._process = await self._start(log)
            await self._answer(self._process, "")  # when it has loaded the model
        return self._process

    async def _start(self, log: IO[bytes]) -> Process:
        """The script that runs Marian; it ends when its input does, also because this process has died."""
        return await asyncio.create_subprocess_exec(
            *script_command("pipeline.translate.stream"),
            *("--each", "--models", *map(str, self._folders)),
            stdin=PIPE,
            stdout=PIPE,
            stderr=log,
            limit=_LONGEST_ANSWER,
            env={**script_environment(), "TMPDIR": str(self._work)},
            start_new_session=True,  # Ctrl-C is for the server
        )

    async def _answer(self, process: Process, sentence: str) -> str:
        assert process.stdin
        assert process.stdout
        try:
            process.stdin.write(" ".join(sentence.split()).encode(errors="replace") + b"\n")
            await process.stdin.drain()
        except ConnectionError:
            pass  # its log tells why
        answer = await process.stdout.readline()
        if answer.endswith(b"\n"):
            return answer.decode(errors="replace").removesuffix("\n")
        await process.wait()
        said = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        raise TextRefused(500, f"Marian failed: {said[-1] if said else f'status {process.returncode}'}")

    async def _kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()  # its child dies with it
            await self._process.wait()
