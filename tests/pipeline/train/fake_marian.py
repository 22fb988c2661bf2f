"""Stands in for Marian in tests of stopping: saves after ten updates, then does what FAKE_MARIAN says.

deaf         ignores SIGTERM
slow         saves at SIGTERM, which takes it five seconds
polite       saves at SIGTERM, and ends with status 0
validating   has validated once; at SIGTERM it reports a validation that was cut short, whose model it takes
             for the best, saves, and ends with status 143
failing      ends with an error

It tells in its log whether patience is counted anew.
"""

import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType

import numpy as np
import yaml

from pipeline.train.checkpoints import PROGRESS
from tests.pipeline.train.test_checkpoints import save_like_marian


def main() -> None:
    """Run `train --config FILE`, with or without --dump-config."""
    config = yaml.safe_load(Path(sys.argv[sys.argv.index("--config") + 1]).read_text())
    if "--dump-config" in sys.argv:
        print(yaml.safe_dump(config))
        return
    folder, mode = Path(config["model"]).parent, os.environ["FAKE_MARIAN"]

    def terminate(number: int, frame: FrameType | None) -> None:
        if mode == "validating":
            validate(folder, 20, {"chrf": 99.9})
        if mode == "slow":
            time.sleep(5)
        if mode != "deaf":
            save_like_marian(folder, 20)
            if mode == "validating":
                record(folder, {"chrf": {"last-best": 99.9, "stalled": 0}})
            sys.exit(143 if mode == "validating" else 0)

    signal.signal(signal.SIGTERM, terminate)
    print(f"valid-reset-stalled: {config['valid-reset-stalled']}", file=sys.stderr, flush=True)
    if mode == "validating":
        folder.mkdir(exist_ok=True)
        validate(folder, 9, {"chrf": 41.5, "ce-mean-words": 2.25, "bleu-detok": 12.5})
    save_like_marian(folder, 10)
    if mode == "failing":
        sys.exit("Error: out of ideas")
    while True:
        time.sleep(0.05)


def validate(folder: Path, update: int, scores: dict[str, float]) -> None:
    """Report a validation, each score the best so far, and leave the best models."""
    for metric, score in scores.items():
        best = folder / f"model.npz.best-{metric}.npz"
        np.savez(folder / "best.npz", weights=np.full(3, float(update)))
        os.utime(folder / "best.npz", (update, update))
        (folder / "best.npz").rename(best)
        print(f"[valid] Ep. 1 : Up. {update} : {metric} : {score} : new best", file=sys.stderr, flush=True)


def record(folder: Path, validators: dict[str, object]) -> None:
    """Write into Marian's progress what it says of validations; the time stays that of the save."""
    path = folder / PROGRESS
    saved = path.stat()
    path.write_text(f"{path.read_text()}\n{yaml.safe_dump({'validators': validators})}")
    os.utime(path, ns=(saved.st_atime_ns, saved.st_mtime_ns))


if __name__ == "__main__":
    main()
