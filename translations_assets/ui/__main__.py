"""`dagster dev` with the guarded web server: what `make ui` runs. Takes the options of `dagster dev`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from dagster._cli import dev
from dagster_shared.ipc import open_ipc_subprocess

from translations_assets.instance.home import home, prepare

_SERVER = "dagster_webserver"
_GUARDED = "translations_assets.ui.web_server"


def _start(parts: Sequence[str], **options: Any) -> Any:
    return open_ipc_subprocess([_GUARDED if part == _SERVER else part for part in parts], **options)


def main() -> None:
    """Run code server, web server and daemon until Ctrl-C, on the runs of the command line."""
    prepare(home())
    os.environ["DAGSTER_HOME"] = str(home())
    # `dagster dev` has no option that names its web server
    dev.open_ipc_subprocess = _start  # type: ignore[attr-defined]  # a name that it imports
    dev.dev_command.main(sys.argv[1:], prog_name="python -m translations_assets.ui")


if __name__ == "__main__":
    main()
