"""Checkpoint sets: all files that belong to one save of a training, kept together.

A folder NNNNNN-update-U holds Marian's model, optimizer and progress, its best models so far and the curve;
feed.json: the curriculum's stage and the feed's state; made-from.json: digests of the pairs, the options and
whatever else decides the training; and set.json: the update, and the sizes of the files. Marian writes its
.npz files anew and renames them, so these are hard links; its .yml files it rewrites in place.
"""

import argparse
import json
import logging
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import yaml

from pipeline.common.made_from import FILE, MadeFrom
from pipeline.common.marian_options import Options, read_options

MODEL = "model.npz"
OPTIMIZER = "model.npz.optimizer.npz"
PROGRESS = "model.npz.progress.yml"
OPTIONS = "model.npz.yml"
CONTINUED = "model.npz.continued"  # there when the optimizer's steps are not the updates: it began elsewhere
FEED = "feed.json"
SET = "set.json"
KEPT = 2  # sets: should the newest be damaged, the one before is used

# With these options Adam takes fewer steps, or steps of another length, than there are updates.
_UNCOUNTED = ("cost-scaling", "check-gradient-nan", "lr-decay-reset-optimizer", "mini-batch-words-ref")
_OF_THE_END = ("after", "after-batches", "after-epochs", "early-stopping", "disp-freq", "save-freq")
_SAME = 1e-9  # of sums in double precision
_NAME = re.compile(r"(\d+)-update-\d+")
_PROGRESS = re.compile(r"^(\w+): (\d+)$", re.MULTILINE)

log = logging.getLogger(__name__)


def decided_by(args: argparse.Namespace, pairs: Mapping[str, Path], merged: Options) -> MadeFrom:
    """What decides the updates of a training: its arguments, pairs by their datasets' names, and options.

    When it ends, and how often it tells and saves, changes none that was made: a training that has stopped
    may go on with a later `after`.
    """
    before = {"--pretrained": args.pretrained, "--state": args.state}
    files = {
        "the vocabularies": [args.source_vocab, args.target_vocab],
        "the development set": [args.dev_src, args.dev_trg],
        **{f"--{name}": folder for name, folder in pairs.items()},
        **{name: folder for name, folder in before.items() if folder},
    }
    mixed = {"--old-text": args.old_text} if args.finetune else {}
    arguments = {
        "--src": args.src,
        "--trg": args.trg,
        "--modifiers": args.modifiers,
        "--bicameral": args.bicameral,
        "--phonemic": args.phonemic,
        "--seed": args.seed,
        "--best-model": args.best_model,
        "the curriculum": read_options(args.curriculum),
        **mixed,
    }
    options = {name: value for name, value in merged.items() if name not in _OF_THE_END}
    return MadeFrom(files, {**options, **arguments})


@dataclass(frozen=True)
class Progress:
    """Where Marian was when it saved. `epochs` counts from 1; `samples` are the sentences of this epoch."""

    update: int
    epochs: int
    samples: int


@dataclass(frozen=True)
class Place:
    """Where a training stands.

    update  updates made
    stage   the curriculum's stage, from 0
    feed    the feed's state in it, None at the stage's beginning
    lines   lines that this state had given out since the training was started or went on: at most those that
            Marian had trained on
    unvalidated  the validation that was due after the last update was cut short
    halved_at  the update from which micro-batches are half as large, for a GPU's memory had run out; None
            while it never has
    """

    update: int
    stage: int
    feed: dict[str, Any] | None
    lines: int = 0
    unvalidated: bool = False
    halved_at: int | None = None


def read_progress(folder: Path) -> Progress | None:
    """Marian's progress in a model's work folder, None before the first save."""
    file = folder / PROGRESS
    if not file.exists():
        return None
    found = {name: int(number) for name, number in _PROGRESS.findall(file.read_text())}
    try:
        return Progress(found["batches"], found["epochs"], found["samples"])
    except KeyError:  # Marian is writing it
        return None


def make_up_for_validation(folder: Path, place: Place) -> Place:
    """Have Marian, which validates after updates only, make the last one again, on further text.

    The optimizer has then made a step more than there are updates.
    """
    file = folder / PROGRESS
    progress = yaml.safe_load(file.read_text())
    for name in ("batches", "prev-batches"):
        progress[name] = max(0, progress.get(name, 0) - 1)
    file.write_text(yaml.safe_dump(progress, sort_keys=False))
    (folder / CONTINUED).write_text("an update was made twice\n")
    log.info("The validation of update %d was cut short and is made up for", place.update)
    return replace(place, update=place.update - 1, unvalidated=False)


def saved_at(folder: Path) -> tuple[int, ...] | None:
    """A mark of Marian's last save when it is complete, else None.

    The optimizer is written last; best models that are newer belong to a validation after the save.
    """
    try:
        best = [path.stat().st_mtime_ns for path in folder.glob(f"{MODEL}.best-*.npz")]
        times = [(folder / name).stat().st_mtime_ns for name in (MODEL, PROGRESS, OPTIMIZER)]
    except FileNotFoundError:
        return None
    return tuple(times) if times == sorted(times) and max(best, default=0) <= times[0] else None


class Checkpoints:
    """The newest two sets, in the folder that outlives an attempt; without a folder, nothing is kept."""

    def __init__(self, folder: Path | None, made_from: MadeFrom) -> None:
        self._folder, self._made_from = folder, made_from
        if folder:
            folder.mkdir(parents=True, exist_ok=True)

    def save(self, folder: Path, files: Iterable[Path], place: Place) -> None:
        """Keep a set of files of a model's work folder; it counts once it has its name.

        Nothing is kept when Marian begins the next save in the meantime: the files would not fit together.
        """
        if not self._folder:
            return
        name = f"{self._next_number():06d}-update-{place.update:09d}"
        hidden = self._folder / f".{name}"
        shutil.rmtree(hidden, ignore_errors=True)
        hidden.mkdir()
        before = saved_at(folder)
        (hidden / FEED).write_text(json.dumps(asdict(place)))
        sizes = {file.name: take(file, hidden / file.name) for file in files}
        sizes |= {file.name: file.stat().st_size for file in (hidden / FEED, self._made_from.write(hidden))}
        (hidden / SET).write_text(json.dumps({"update": place.update, "files": sizes}))
        if before is None or saved_at(folder) != before:
            shutil.rmtree(hidden)
            return
        hidden.rename(self._folder / name)
        log.info("Checkpoint %s", name)
        self._remove_old(self._folder)

    def restore(self, folder: Path) -> Place | None:
        """Put the newest set that is whole into a folder, and say where its training stands.

        Raises InputError for one that is made from something else. What an attempt before was writing or
        removing when it was killed is removed.
        """
        self._remove_begun()
        for kept in self._newest_first():
            fault = find_fault(kept) or self._unknown(kept)
            if fault:
                log.warning("Checkpoint %s is damaged (%s); looking at the one before", kept.name, fault)
                continue
            for name in set(json.loads((kept / SET).read_text())["files"]) - {FEED, FILE}:
                take(kept / name, folder / name)
            log.info("Going on from checkpoint %s", kept.name)
            return Place(**json.loads((kept / FEED).read_text()))
        log.info("No checkpoint: training from the beginning")
        return None

    def _unknown(self, kept: Path) -> str:
        """Why it is not known what a set is made from."""
        try:
            self._made_from.check(kept)
        except ValueError as error:
            return str(error)
        return ""

    def _remove_begun(self) -> None:
        for path in [*self._folder.iterdir()] if self._folder else ():
            if path.name.startswith(".") and _NAME.fullmatch(path.name[1:]):
                shutil.rmtree(path)

    def _remove_old(self, folder: Path) -> None:
        """Remove all but the newest two sets; each loses its name first, so that none is taken for whole."""
        for old in [*self._newest_first()][KEPT:]:
            hidden = folder / f".{old.name}"
            old.rename(hidden)
            shutil.rmtree(hidden)

    def _next_number(self) -> int:
        numbers = (int(kept.name.split("-")[0]) for kept in self._newest_first())
        return 1 + next(numbers, 0)

    def _newest_first(self) -> Iterator[Path]:
        if self._folder:
            sets = (path for path in self._folder.iterdir() if _NAME.fullmatch(path.name))
            yield from sorted(sets, reverse=True)


def find_fault(kept: Path) -> str | None:
    """What is wrong with a set, None when it is whole.

    Marian itself goes on without an optimizer as if nothing had happened, and stops at a truncated one.
    """
    try:
        facts = json.loads((kept / SET).read_text())
        missing = {MODEL, OPTIMIZER, PROGRESS, FEED} - set(facts["files"])
        if missing:
            return f"{', '.join(sorted(missing))} is missing"
        for name, size in facts["files"].items():
            if "/" in name or name in (".", "..") or (kept / name).is_symlink():
                return f"{name!r} is none of its files"
            if (kept / name).stat().st_size != size:
                return f"{name} has another size"
            if name.endswith(".npz"):
                _read_through(kept / name)
        return _find_disagreement(kept, facts["update"])
    except (OSError, ValueError, KeyError, TypeError, BadZipFile, EOFError, yaml.YAMLError) as error:
        return f"{type(error).__name__}: {error}"


def _find_disagreement(kept: Path, update: int) -> str | None:
    """Which parts of a set are not of one update."""
    progress = yaml.safe_load((kept / PROGRESS).read_text())
    place = Place(**json.loads((kept / FEED).read_text()))
    for name, count in ((PROGRESS, progress["batches"]), (FEED, place.update)):
        if count != update:
            return f"the update counts disagree: {name} is of update {count}, not {update}"
    if place.lines > progress["samples"]:
        return f"the feed had given out {place.lines} lines, and Marian trained on {progress['samples']}"
    return None if _optimizer_agrees(kept, update) else f"{OPTIMIZER} is not of update {update}"


def _optimizer_agrees(kept: Path, update: int) -> bool:
    """Whether Adam has made so many steps, as far as it says: it keeps 1 - β₂ⁿ, which soon is 1."""
    options = yaml.safe_load((kept / OPTIONS).read_text()) if (kept / OPTIONS).exists() else {}
    if not isinstance(options, dict):  # Marian was writing it
        raise ValueError(f"{OPTIONS} is not whole")
    params = options.get("optimizer-params") or []
    if len(params) < 2 or any(map(options.get, _UNCOUNTED)):  # Marian's own default is not written down
        return True
    if (kept / CONTINUED).exists():
        return True
    with np.load(kept / OPTIMIZER) as arrays:
        if "adam_denoms" not in arrays.files:
            return True
        counted = float(arrays["adam_denoms"].ravel()[1])
    beta = float(np.float32(params[1]))  # Marian reads it in single precision
    return abs(counted - (1 - beta**update)) < _SAME


def _read_through(file: Path) -> None:
    """Read every array of an .npz file, one at a time; the checksums are verified on the way."""
    with np.load(file) as arrays:
        for name in arrays.files:
            arrays[name]


def take(file: Path, to: Path) -> int:
    """Bring a file to another folder; returns its size."""
    to.unlink(missing_ok=True)
    if file.suffix == ".npz":
        try:
            os.link(file, to)
            return to.stat().st_size
        except OSError:  # another file system, or one without hard links
            pass
    shutil.copyfile(file, to)
    return to.stat().st_size
