"""Answers that are paid for, kept in checkpoint sets as they come, so that none is paid for twice.

A set is a folder `requests-N` with the records of N requests, in the order in which they were answered, in
files `first-end.zst`, and what they are made from. A set is written each time that answers come: to write all
of them anew would take longer and longer, so that most files of a set are those of the set before.
"""

import json
import logging
import os
import re
import shutil
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, TypeAlias

from pipeline.common.errors import InputError, TemporaryError
from pipeline.common.lines import read_lines, write_lines
from pipeline.common.made_from import MadeFrom
from pipeline.common.processes import put_off
from pipeline.common.resources import checkpoints

Record: TypeAlias = dict[str, Any]

_SET = re.compile(r"requests-\d{12}")
_FILE = re.compile(r"(\d{12})-(\d{12})\.zst")

log = logging.getLogger(__name__)


@contextmanager
def kept_answers(
    scratch: Path, made_from: MadeFrom, formerly: MadeFrom | None = None
) -> Iterator["KeptAnswers"]:
    """The answers of earlier attempts, to add to; `scratch` is a folder for files when nobody keeps sets.

    `formerly` is what sets tell that an earlier version has written, which are taken, too. Raises InputError
    when they are made from something else. SIGTERM raises TemporaryError, between two sets. Only a script's
    main thread may call this.
    """
    answers = KeptAnswers(checkpoints() or scratch / "answers", made_from, formerly)
    before = signal.signal(signal.SIGTERM, answers.stop)
    try:
        yield answers
    finally:
        signal.signal(signal.SIGTERM, before)


class KeptAnswers:
    """The records of requests that were answered, those of earlier attempts first."""

    def __init__(self, folder: Path, made_from: MadeFrom, formerly: MadeFrom | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._made_from, self._formerly = folder, made_from, formerly
        self._files: list[Path] = []
        self._records: list[Record] = []
        self._newest: Path | None = None
        self._restore()

    @property
    def records(self) -> Sequence[Record]:
        """All records so far, in the order in which they came."""
        return self._records

    def add(self, records: Sequence[Record]) -> None:
        """Keep more records; when this returns they are on the disk."""
        with put_off(signal.SIGTERM):
            self._records += records
            self._save(len(records))

    def stop(self, number: int, frame: FrameType | None) -> None:
        """What SIGTERM does."""
        raise TemporaryError(f"Stopped by {signal.Signals(number).name}")

    def _save(self, new: int) -> None:
        """Write a set: a file of the new records, with those of the files before that are not much larger."""
        total = len(self._records)
        first, files = total - new, list(self._files)
        while files and (begin := _first_of(files[-1])) >= 2 * first - total:
            first = begin
            files.pop()
        hidden, final = (self._folder / f"{mark}requests-{total:012d}" for mark in (".", ""))
        shutil.rmtree(hidden, ignore_errors=True)
        hidden.mkdir()
        for path in files:
            _link(path, hidden / path.name)
        latest = hidden / f"{first:012d}-{total:012d}.zst"
        write_lines(latest, (json.dumps(one, ensure_ascii=False) for one in self._records[first:]))
        self._made_from.write(hidden)
        if final.exists():  # a damaged set; what was whole of it is in the new one
            shutil.rmtree(final)
        hidden.rename(final)
        if self._newest and self._newest != final:  # a worker that stores it has second names of its files
            shutil.rmtree(self._newest)
        self._newest = final
        self._files = [final / path.name for path in [*files, latest]]

    def _restore(self) -> None:
        """Take the set with most records; of one that is damaged those before the damage.

        Other damaged sets are removed.
        """
        damaged: list[Path] = []
        for begun in self._folder.glob(".requests-*"):  # by an attempt that was killed
            shutil.rmtree(begun)
        for kept in sorted(
            (path for path in self._folder.iterdir() if _SET.fullmatch(path.name)), reverse=True
        ):
            try:
                self._check(kept)
                files, records = _whole(kept)
            except ValueError:
                files, records = [], []
            if len(records) > len(self._records):
                self._files, self._records, self._newest = files, records, kept
            if kept.name == f"requests-{len(records):012d}":
                break
            log.warning("The checkpoint set %s is damaged after request %s", kept.name, f"{len(records):,}")
            damaged.append(kept)
        for kept in damaged:
            if kept != self._newest:
                shutil.rmtree(kept)
        if self._records:
            log.info("Going on after %s requests that are answered", f"{len(self._records):,}")

    def _check(self, kept: Path) -> None:
        """Raise InputError for a set of another input, and ValueError for one that does not tell."""
        try:
            self._made_from.check(kept)
        except InputError as error:
            if not self._formerly:
                raise
            try:
                self._formerly.check(kept)
            except InputError:
                raise error from None


def _whole(kept: Path) -> tuple[list[Path], list[Record]]:
    """The files of a set up to the first gap or damage, and their records."""
    files: list[Path] = []
    records: list[Record] = []
    for path in sorted(kept.glob("*.zst")):
        match = _FILE.fullmatch(path.name)
        if match is None or int(match[1]) != len(records):
            break
        try:
            found = [json.loads(line) for line in read_lines(path)]
        except (InputError, ValueError):
            break
        if len(found) != int(match[2]) - int(match[1]):
            break
        files.append(path)
        records += found
    return files, records


def _first_of(path: Path) -> int:
    return int(path.name.partition("-")[0])


def _link(path: Path, target: Path) -> None:
    try:
        os.link(path, target)
    except OSError:  # another file system, or one without hard links
        shutil.copyfile(path, target)
