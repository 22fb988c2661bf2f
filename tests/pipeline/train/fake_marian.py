"""Stands in for Marian in tests of stopping: saves after ten updates, then does what FAKE_MARIAN says.

deaf         ignores SIGTERM
slow         saves at SIGTERM, which takes it five seconds
polite       saves at SIGTERM, and ends with status 0
validating   at SIGTERM reports a validation that was cut short, saves, and ends with status 143
failing      ends with an error

It tells in its log whether patience is counted anew.
"""

import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType

import yaml

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
            print("[valid] Ep. 1 : Up. 20 : chrf : 99.9 : new best", file=sys.stderr, flush=True)
        if mode == "slow":
            time.sleep(5)
        if mode != "deaf":
            save_like_marian(folder, 20)
            sys.exit(143 if mode == "validating" else 0)

    signal.signal(signal.SIGTERM, terminate)
    print(f"valid-reset-stalled: {config['valid-reset-stalled']}", file=sys.stderr, flush=True)
    save_like_marian(folder, 10)
    if mode == "failing":
        sys.exit("Error: out of ideas")
    while True:
        time.sleep(0.05)


if __name__ == "__main__":
    main()
