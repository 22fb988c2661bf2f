"""`translations playground`: an exported model in a web page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def playground(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="What `artifacts PARTITION export-SRC-TRG --download` has copied."
        ),
    ],
    port: Annotated[int, typer.Option(help="Port of 127.0.0.1; 0: any that is free.")] = 8000,
    engine: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the npm package @browsermt/bergamot-translator, else in requirements/browser."
        ),
    ] = None,
) -> None:
    """Translate with an exported model in a web page, in the engine that browsers ship, until Ctrl-C."""
    from translations_assets.ui.playground.server import ENGINE, serve

    serve(folder, engine or ENGINE, port)
