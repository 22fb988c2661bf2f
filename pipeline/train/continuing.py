"""Going on with a training of an earlier run, from what it saved last."""

import argparse
import logging
import shutil
from collections.abc import Mapping
from pathlib import Path

from pipeline.common.errors import InputError
from pipeline.common.marian import load_model
from pipeline.common.marian_options import Value
from pipeline.train.checkpoints import CONTINUED, MODEL, OPTIMIZER, PROGRESS, Place, read_progress
from pipeline.train.settings import updates_in

STATE = {"last.npz": MODEL, "last.optimizer.npz": OPTIMIZER, "last.progress.yml": PROGRESS}

log = logging.getLogger(__name__)


def leave_state(folder: Path, output: Path) -> None:
    """Put what Marian saved last into the result."""
    for name, own in STATE.items():
        shutil.copyfile(folder / own, output / name)


def take_state(args: argparse.Namespace, folder: Path, expanded: Mapping[str, Value]) -> Place:
    """Put the files of --state into Marian's folder, and say where training begins.

    The best model so far goes with them: it is the result when no later one is better. The text is given from
    its beginning, at the first stage of the curriculum. Raises InputError when `after` leaves nothing to do.
    """
    for name, own in STATE.items():
        if not (args.state / name).is_file():
            raise InputError(f"{args.state / name} is missing: training cannot go on without it")
        shutil.copyfile(args.state / name, folder / own)
    shutil.copyfile(load_model(args.pretrained).weights, folder / f"{MODEL}.best-{args.best_model}.npz")
    (folder / CONTINUED).write_text("from another run\n")
    progress = read_progress(folder)
    if progress is None:
        raise InputError(f"{args.state / 'last.progress.yml'} does not tell how many updates were made")
    end = updates_in(str(expanded.get("after", "")))
    if end and end <= progress.update:
        raise InputError(
            f"The model has made {progress.update:,} updates, and training ends after {end:,}, those before "
            f"included. Set `after` in marian-args to more than {progress.update}u."
        )
    log.info("Going on with the training of %s after update %d", args.pretrained, progress.update)
    return Place(update=progress.update, stage=0, feed=None)
