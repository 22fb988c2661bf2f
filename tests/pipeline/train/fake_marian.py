"""Stands in for Marian in tests of stopping: saves after ten updates, then does what FAKE_MARIAN says.

deaf         ignores SIGTERM
slow         saves at SIGTERM, which takes it five seconds
polite       saves at SIGTERM, and ends with status 0
validating   has validated once; at SIGTERM it reports a validation that was cut short, whose model it takes
             for the best, saves, and ends with status 143
failing      ends with an error
spinning     finishes at once, saves, and does not end
full...      runs out of a GPU's memory, as `fill` says, while micro-batches are as large as asked for; once
             they are smaller, it ends its training after 25 updates

It tells in its log whether patience is counted anew.
"""

import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any

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
    if mode.startswith("full"):
        fill(folder, mode, config)
    print(f"valid-reset-stalled: {config['valid-reset-stalled']}", file=sys.stderr, flush=True)
    if mode == "validating":
        folder.mkdir(exist_ok=True)
        validate(folder, 9, {"chrf": 41.5, "ce-mean-words": 2.25, "bleu-detok": 12.5})
    save_like_marian(folder, 10)
    if mode == "failing":
        sys.exit("Error: out of ideas")
    if mode == "spinning":
        time.sleep(0.5)  # until the save is seen
        print("Ep. 1 : Up. 20 : Sen. 640 : Cost 5.25 : Time 1s : 9.00 words/s", file=sys.stderr)
        print("Training finished", file=sys.stderr, flush=True)
        time.sleep(4)  # a validation
        save_like_marian(folder, 20)
    while True:
        time.sleep(0.05)


def fill(folder: Path, mode: str, config: dict[str, Any]) -> None:
    """Run out of memory, or end the training.

    full             after a save
    full-first       in the first update
    full-validating  after a save and half a validation
    full-stopping    at SIGTERM
    full-always      with smaller micro-batches as well
    full-reserving   before it has read any text
    """
    print(f"optimizer-delay: {config['optimizer-delay']}", file=sys.stderr, flush=True)
    print("[memory] Extending reserved space to 9088 MB (device gpu0)", file=sys.stderr, flush=True)
    if mode == "full-reserving":
        abort()
    print("Training started", file=sys.stderr, flush=True)
    sys.stdin.readline()
    if config["optimizer-delay"] > 1 and mode != "full-always":
        print("Ep. 1 : Up. 25 : Sen. 800 : Cost 5.25 : Time 1s : 9.00 words/s", file=sys.stderr, flush=True)
        save_like_marian(folder, 25)
        sys.exit()
    if mode != "full-first":
        print("Ep. 1 : Up. 10 : Sen. 320 : Cost 6.50 : Time 1s : 9.00 words/s", file=sys.stderr, flush=True)
        save_like_marian(folder, 10)
        while not list(Path(os.environ["TRANSLATIONS_CHECKPOINTS"]).glob("0*")):
            time.sleep(0.05)
        print("Ep. 1 : Up. 15 : Sen. 480 : Cost 6.00 : Time 1s : 9.00 words/s", file=sys.stderr, flush=True)
    if mode == "full-validating":
        save_like_marian(folder, 20)
        validate(folder, 20, {"chrf": 99.9})
    if mode == "full-stopping":
        signal.signal(signal.SIGTERM, lambda number, frame: abort())
        print("waiting for a signal", file=sys.stderr, flush=True)
        while True:
            time.sleep(0.05)
    abort()


def abort() -> None:
    """End as Marian does when CUDA has no more memory: with a call stack, by SIGABRT."""
    place = "device.cu:38: cudaMalloc(&data_, size)"
    print(f"[2026-01-01 00:00:00] Error: CUDA error 2 'out of memory' - {place}", file=sys.stderr)
    print(
        "[2026-01-01 00:00:00] Error: Aborted from Device::reserve(size_t)\n\n[CALL STACK]", file=sys.stderr
    )
    print("[0x1db8c8b] marian::gpu::Device::reserve (unsigned long)\n" * 50, file=sys.stderr, flush=True)
    os.abort()


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
