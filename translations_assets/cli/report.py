"""`translations report`, `tensorboard` and `wandb`: a partition's results as a page, a card, or for tools."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from translations_assets.cli import common
from translations_assets.cli.common import Json, Partition, Set
from translations_assets.cli.output import print_answer
from translations_assets.common.errors import TranslationsError
from translations_assets.common.extras import how_to_install
from translations_assets.common.settings import state_folder
from translations_assets.common.whole_file import write_whole
from translations_assets.configs.sweeps import is_sweep
from translations_assets.project import this_project

if TYPE_CHECKING:
    from translations_assets.report.facts import Report


@common.reads
def report(
    partition: Partition,
    card: Annotated[
        bool, typer.Option("--card", help="Write a model card in Markdown, as the Hugging Face hub reads it.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The file to write. Defaults to PARTITION.html (or .md) in this folder, or with "
            "--set to PARTITION@ID.html.",
            dir_okay=False,
        ),
    ] = None,
    overrides: Set = None,
    json: Json = False,
) -> None:
    """Write a report: data, curves, scores, sentences, gates, hours, config and provenance in one HTML file.

    It covers the finished results in the store, and opens without any other file. Of a sweep's name it shows
    the comparison of its variants, as `translations sweep` prints it.
    """
    if is_sweep(partition):
        if card or overrides:
            raise typer.BadParameter("--card and --set are for one training config, not for a sweep.")
        path = output or Path(f"{partition}.html")
        write_whole(path, _sweep_page(partition))
        print_answer(json, {"file": str(path)}, str(path))
        return
    from translations_assets.report.page import as_card, as_html

    found = gathered(partition, overrides)
    text, _ = this_project().configs.text(partition)
    path = output or Path(f"{found.session.ref_partition}.{'md' if card else 'html'}")
    write_whole(path, as_card(found, text) if card else as_html(found, text))
    print_answer(json, {"file": str(path)}, str(path))


def _sweep_page(name: str) -> str:
    from translations_assets.sweeps.of_project import compare
    from translations_assets.sweeps.page import as_html

    return as_html(compare(this_project(), name))


def gathered(partition: str, overrides: Sequence[str] | None) -> Report:
    """Gather a partition's results, and print notes on them. TranslationsError where it has none."""
    from translations_assets.report.facts import gather

    project, session = this_project(), common.reading_session(partition, overrides)
    found = gather(
        session, project.history(session.partition), project.prices(session.machine), project.cluster
    )
    if not found.results:
        raise TranslationsError(
            f"not made: the store has no results of {session.partition}. "
            f"To make them: {session.command('train')}"
        )
    common.print_warnings(session)
    return found


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
