"""`translations serve`: an exported model in a web page, beside its teacher and other models."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from translations_assets.cli import common, completion
from translations_assets.cli.models import teachers_of
from translations_assets.cli.output import print_note
from translations_assets.common.errors import TranslationsError
from translations_assets.project import this_project
from translations_assets.records.inside import inside
from translations_assets.records.manifest import Blob
from translations_assets.records.run import RunRecord
from translations_assets.results.files import read_metrics
from translations_assets.results.known import known_results, read_each
from translations_assets.results.scores import Scores
from translations_assets.running.protocols import Store
from translations_assets.running.session import Session, UpstreamMissing
from translations_assets.runs.known import whole_id
from translations_assets.ui.playground.models import ExportedModel, read_exported
from translations_assets.ui.playground.server import ENGINE, Playground
from translations_assets.ui.playground.server import serve as serve_page
from translations_assets.ui.playground.teacher import Teacher

EXPORT = "export"  # the stage
_PACKED = ".zst"  # what browsers download; the engine reads the others
EXAMPLES = 8  # sentences that the page offers


def serve(
    name: Annotated[
        str,
        typer.Argument(
            metavar="PARTITION|FOLDER",
            help="A training config's name, or a folder that `artifacts PARTITION export-SRC-TRG --download` "
            "has filled.",
            autocompletion=completion.partitions,
        ),
    ],
    beside: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PARTITION|RUN|FOLDER",
            help="Show another exported model beside it. Repeatable.",
            autocompletion=completion.partitions_or_runs,
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="Port of 127.0.0.1; 0 for any free one.")
    ] = 8000,
    engine: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the npm package @browsermt/bergamot-translator, else in requirements/browser.",
            file_okay=False,
        ),
    ] = None,
) -> None:
    """Translate in a web page, in the engine that browsers ship, until Ctrl-C.

    The browser runs the exported model. For a training config, the page also shows the teacher, which
    Marian runs on this machine. Once loaded, the page needs no network.
    """
    with tempfile.TemporaryDirectory(prefix="playground-") as work:
        folder = Path(work)
        models = [_exported(one, folder / str(number)) for number, one in enumerate([name, *(beside or ())])]
        _check_languages(models)
        page = Playground(models)
        if not Path(name).is_dir() and not common.known_runs().is_run(name):
            session = common.reading_session(name)
            page = Playground(models, _teacher(session, folder / "teacher"), _examples(session))
        serve_page(page, engine or ENGINE, port)


def _exported(name: str, folder: Path) -> ExportedModel:
    """The exported model of a folder, a run or a training config; the files of the latter are placed."""
    if Path(name).is_dir():
        return read_exported(Path(name), Path(name).resolve().name)
    shown, outputs = _of_run(name) if common.known_runs().is_run(name) else _of_partition(name)
    _place(this_project().store, outputs, folder, [file for file in outputs if not file.endswith(_PACKED)])
    return read_exported(folder, shown)


@common.reads
def _of_partition(name: str) -> tuple[str, Mapping[str, Blob]]:
    """Return the name for the model of a training config, and the files of its export."""
    session = common.reading_session(name)
    steps = session.graph.stages.get(EXPORT, ())
    if not steps:
        raise TranslationsError(f"The training config of {session.partition} has no stage {EXPORT}.")
    return session.partition, common.results_of(session, steps)[-1].outputs


@common.reads
def _of_run(name: str) -> tuple[str, Mapping[str, Blob]]:
    """Return the name for the model of a run, and the files of its export."""
    store = this_project().store
    run = whole_id(name, store.runs(), "The store has no run", "translations status")
    record = store.read_run(run) or RunRecord()
    used = [record.uses[label] for label in record.steps.get(EXPORT, ()) if label in record.uses]
    manifest = store.generation(*used[-1]) if used else None
    if manifest is None:
        raise TranslationsError(f"Run {name} has no exported model in the store.")
    return f"{record.partition}, run {run[: completion.SHORT]}", manifest.outputs


def _check_languages(models: Sequence[ExportedModel]) -> None:
    first = models[0]
    for other in models[1:]:
        if (other.source, other.target) != (first.source, first.target):
            raise TranslationsError(
                f"{other.name} translates {other.source} → {other.target}, and {first.name} {first.source} → "
                f"{first.target}: they cannot be shown side by side."
            )


def _teacher(session: Session, folder: Path) -> Teacher | None:
    """The teacher, or all of them together; None, with a note, when the store has it no longer."""
    from translations_assets.stages.handles import MODEL_FILES

    name, makers = teachers_of(session.graph)
    if not makers:
        return None
    try:
        results = common.results_of(session, makers)
    except UpstreamMissing as missing:
        print_note(f"The page shows no teacher: {missing}")
        return None

    def place() -> list[Path]:
        folders = [folder / str(number) for number in range(len(results))]
        for result, target in zip(results, folders, strict=True):
            _place(session.store, result.outputs, target, MODEL_FILES)
        return folders

    folder.mkdir()
    return Teacher(name, sum(result.outputs["model.npz"].size for result in results), place, folder)


def _examples(session: Session) -> list[str]:
    """Sentences of the test sets on which the exported model is evaluated: five of the first, one of each."""
    steps = session.graph.stages.get("evaluate_exported", ())
    found = read_each(session, known_results(session, steps), read_metrics).values()
    sources = [[one.source for one in scores.samples] for scores in found if isinstance(scores, Scores)]
    return [*itertools.chain(*sources[:1]), *itertools.chain(*(others[:1] for others in sources[1:]))][
        :EXAMPLES
    ]


def _place(store: Store, files: Mapping[str, Blob], folder: Path, names: Iterable[str]) -> None:
    """Copy some of a result's files to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        store.place_blob(files[name], inside(folder, name))
