"""A report of the finished demo: seconds to make, size.

    python -m benchmarks.report

Needs the demo to be finished (`make demo`).
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.timing import BIN, report, seconds
from translations_assets.common.settings import repository_root

PARTITION = "en-eo.demo"
RUNS = 5


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        command = [str(BIN / "translations"), "report", PARTITION, "--output", str(page)]
        times = [seconds(command, {}, cwd=repository_root()) for _ in range(RUNS)]
        report("translations report", times, "5 s")
        print(f"size: {page.stat().st_size / 1e6:.2f} MB (bar: 5 MB)")


if __name__ == "__main__":
    main()
