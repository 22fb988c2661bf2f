"""`translations tensorboard` and `wandb`: curves, scores and machine use for tools that track experiments."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from translations_assets.cli import common
from translations_assets.cli.common import Json, Partition, Set
from translations_assets.cli.output import print_answer
from translations_assets.cli.report import gathered
from translations_assets.common.errors import TranslationsError
from translations_assets.common.extras import how_to_install
from translations_assets.common.settings import state_folder


@common.reads
def tensorboard(
    partition: Partition,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder, for several partitions.", file_okay=False)
    ] = Path("tensorboard"),
    overrides: Set = None,
    json: Json = False,
) -> None:
    """Write the curves, the scores and the machine use of a training as files for TensorBoard.

    They are made from the store; existing files are not written again.
    """
    if find_spec("tensorboard") is None:
        raise TranslationsError(f"The library tensorboard is not installed. {how_to_install('tracking')}")
    from translations_assets.tracking.event_files import write_event_files
    from translations_assets.tracking.tracked import tracked_runs

    found = gathered(partition, overrides)
    folder = output / found.session.partition
    written = write_event_files(tracked_runs(found), folder)
    print_answer(
        json,
        {"folder": str(folder), "written": written},
        f"{folder}: {written} files written",
        f"To look at them: tensorboard --logdir {output}",
    )


@common.reads
def wandb(
    partition: Partition,
    offline: Annotated[
        bool, typer.Option("--offline", help="Send nothing: write files that `wandb sync` sends.")
    ] = False,
    overrides: Set = None,
    json: Json = False,
) -> None:
    """Send the curves, the scores and the machine use of a training to Weights & Biases.

    They come from the store. The key is that in WANDB_API_KEY, or of `wandb login`. Nothing is sent twice.
    """
    from translations_assets.tracking.wandb_runs import asked_mode, publish

    mode = asked_mode(offline=offline)
    if mode is None:
        raise TranslationsError("WANDB_MODE=disabled switches Weights & Biases off: nothing was sent.")
    folder = state_folder() / "wandb"
    published = publish(gathered(partition, overrides), folder, mode)
    told = f"{len(published.sent)} runs {'written' if mode == 'offline' else 'sent'}"
    before = f", {len(published.known)} before" if published.known else ""
    sync = [f"To send them: wandb sync {folder}/offline/*/*/wandb/offline-run-*"] * (mode == "offline")
    answer = {"sent": published.sent, "known": published.known, "pages": published.pages}
    print_answer(json, answer, f"{told}{before}", *published.pages.values(), *sync)
