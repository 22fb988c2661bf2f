"""`translations artifacts`, `results` and `translate`: results of steps, and their quality."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from translations_assets.cli import common, completion, exits, output
from translations_assets.cli.common import Json, Partition, Set
from translations_assets.cli.models import makers_of
from translations_assets.cli.output import print_json
from translations_assets.common.errors import TranslationsError
from translations_assets.common.listing import some
from translations_assets.common.scripts import script_command, script_environment
from translations_assets.config.model_names import QUANTIZED
from translations_assets.records.inside import inside
from translations_assets.records.manifest import Blob
from translations_assets.results.evaluations import (
    Evaluations,
    evaluation_steps,
    markup_steps,
    missing_evaluations,
    read_evaluations,
    read_markup_scores,
    shown_model,
)
from translations_assets.results.files import read_metrics
from translations_assets.results.known import known_results, read_each
from translations_assets.results.markup import MarkupScores
from translations_assets.results.scores import METRICS, Scores, score_tables
from translations_assets.running.protocols import Store
from translations_assets.running.session import Result, Session
from translations_assets.why.provenance import provenance


@common.reads
def artifacts(
    partition: Partition,
    label: Annotated[
        str | None,
        typer.Argument(
            metavar="LABEL",
            help="A step's label; every finished step by default.",
            autocompletion=completion.labels,
        ),
    ] = None,
    download: Annotated[
        Path | None, typer.Option(help="Copy the step's files to this folder.", file_okay=False)
    ] = None,
    provenance: Annotated[
        bool,
        typer.Option("--provenance", help="Print everything needed to repeat the step's files, as JSON."),
    ] = False,
    overrides: Set = None,
    json: Json = False,
) -> None:
    """List the files of a step, or of all finished steps, copy them, or print how they were made.

    --provenance covers the step and all steps before it: training config, code, commands, inputs by
    digest up to the datasets, versions, seeds, and shell lines that repeat each.
    """
    if label is None and (provenance or download is not None):
        raise TranslationsError(
            "Name the step whose files to download, or whose provenance to print: translations artifacts "
            "PARTITION LABEL."
        )
    session, missing = common.reading_session(partition, overrides), list[str]()
    if label is None:
        planned = common.plan_of(session, "all").steps
        found = {
            one.step.label: one.manifest.outputs for one in planned if one.status == "cached" and one.manifest
        }
        missing = [one.step.label for one in planned if one.step.label not in found]
    else:
        (result,) = common.results_of(session, [common.find_step(session.graph, partition, label)])
        if provenance:
            _print_provenance(session, label, result)
            return
        found = {label: result.outputs}
        if download is not None:
            _download(session.store, result.outputs, download)
    if json:
        print_json(
            {name: {file: vars(blob) for file, blob in files.items()} for name, files in found.items()}
        )
    else:
        for name, files in found.items():
            typer.echo(name)
            for file, blob in files.items():
                typer.echo(f"    {blob.size:>13,}  {blob.digest[:12]}  {file}")
    _refuse_missing(session, missing)


def _print_provenance(session: Session, label: str, result: Result) -> None:
    manifest = result.manifest or session.store.generation(result.key, result.generation)
    if manifest is None:
        raise TranslationsError(f"The store has the files of {label}, but not their provenance any more.")
    print_json(provenance(session.store, manifest))


def _download(store: Store, files: Mapping[str, Blob], folder: Path) -> None:
    try:
        targets = {name: inside(folder, name) for name in files}
    except ValueError as error:
        raise TranslationsError(f"Nothing was copied to {folder}: {error}.") from error
    if existing := [name for name, target in targets.items() if target.exists()]:
        raise TranslationsError(f"{folder} already holds {', '.join(existing)}. Give another folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".download-") as work:
            for name, blob in files.items():
                common.copy_blob(store, blob, Path(work) / "copy")
                os.replace(Path(work) / "copy", targets[name])
    except OSError as error:
        raise TranslationsError(f"{folder} cannot be written: {error}. Give another folder.") from error


@common.reads
def results(partition: Partition, overrides: Set = None, json: Json = False) -> None:
    """Print the scores of every model on every test set."""
    session = common.reading_session(partition, overrides)
    found = known_results(session, [*evaluation_steps(session), *markup_steps(session)])
    common.print_warnings(session)
    metrics = read_evaluations(session, found, read_each(session, found, read_metrics))
    if not metrics:
        raise TranslationsError(
            f"not made: no model of {session.partition} is evaluated yet. "
            f"To make them: {session.command('train')}"
        )
    print_results(metrics, json, read_markup_scores(session, found))
    _refuse_missing(session, missing_evaluations(session, found))


def print_results(metrics: Evaluations, json: bool, markup: MarkupScores | None = None) -> None:
    """Print scores, speeds, what becomes of HTML, and some sentences; as JSON the scores and speeds alone."""
    if json:
        print_json(
            {
                model: {dataset: _scores_as_json(scores) for dataset, scores in tests.items()}
                for model, tests in metrics.items()
            }
        )
    else:
        _print_scores(metrics)
        _print_speeds(metrics)
        if markup:
            typer.echo(f"HTML: {markup}")
        _print_samples(metrics)


def _scores_as_json(scores: Scores) -> dict[str, Any]:
    """Scores by metric, half their confidence intervals, differences from other models, measured speed."""
    found = scores.by_metric.items()
    intervals = {metric: score.ci for metric, score in found if score.ci is not None}
    others = {
        model: {
            metric: {"difference": one.difference, "p_value": one.p_value}
            for metric, one in by_metric.items()
        }
        for model, by_metric in scores.others.items()
    }
    return {
        **{metric: score.score for metric, score in found},
        **({"ci": intervals} if intervals else {}),
        **({"others": others} if others else {}),
        **(scores.speed.to_dict() if scores.speed else {}),
    }


def _refuse_missing(session: Session, missing: Sequence[str]) -> None:
    """With overrides, name the requested results that are missing, and exit with code 1.

    What the training config itself lacks is no error: it may be on its way.
    """
    if missing and session.options.overrides:
        typer.echo(f"not made: {some(missing)}. To make them: {session.command('train')}", err=True)
        raise typer.Exit(exits.FAILED)


def _print_scores(metrics: Evaluations) -> None:
    """Print a table for each test set: a row for each model, a column for each metric, and differences."""
    from rich.table import Table

    for dataset, names, models in score_tables(metrics):
        table = Table("model", title=dataset)
        for name in names:
            table.add_column(METRICS[name], justify="right")
        compared = any(found.others for found in models.values())
        if compared:
            table.add_column("difference in chrF")
        for model, found in models.items():
            scores = [str(found.by_metric.get(name, "")) for name in names]
            differences = ["\n".join(found.compared)] if compared else []
            table.add_row(model, *scores, *differences)
        output.print_table(table)


def _print_speeds(metrics: Evaluations) -> None:
    """Print what models need that were timed, on their first test set."""
    for model, tests in metrics.items():
        if speed := next(iter(tests.values())).speed:
            typer.echo(
                f"{model}: {speed.words_per_second:,.0f} words/s on one thread, "
                f"{speed.memory_megabytes:,.0f} MB of memory, model {speed.model_bytes / 1e6:,.1f} MB"
            )


def _print_samples(metrics: Evaluations) -> None:
    """Print a few sentences as the model that users get, or the last one, translates the first test set."""
    model = shown_model(metrics) or next(iter(metrics))
    scores = next(iter(metrics[model].values()))
    typer.echo(f"\nSentences of {scores.dataset} as the {model} model translates them:")
    for sample in scores.samples[:5]:
        typer.echo(f"  {sample.source}\n    → {sample.translation}")


@common.reads
def translate(
    partition: Partition,
    model: Annotated[
        str,
        typer.Option(
            help="A model that Marian runs, as `results` names them: backwards, teacher-1, teacher-ensemble, "
            "student, finetuned-student, or quantized, the student in 8 bits.",
            autocompletion=completion.models,
        ),
    ] = QUANTIZED,
    overrides: Set = None,
) -> None:
    """Translate standard input, a sentence a line, to standard output."""
    from translations_assets.stages.handles import MODEL_FILES, QUANTIZED_FILES

    session = common.reading_session(partition, overrides)
    makers = makers_of(session.graph, model)
    files = QUANTIZED_FILES if model == QUANTIZED else MODEL_FILES
    with tempfile.TemporaryDirectory() as work:
        folders = []
        for number, result in enumerate(common.results_of(session, makers)):
            folders.append(Path(work) / str(number))
            folders[-1].mkdir()
            for name in set(files) & set(result.outputs):  # a student may have no shortlist
                session.store.place_blob(result.outputs[name], folders[-1] / name)
        script = [*script_command("pipeline.translate.stream"), "--models", *map(str, folders)]
        code = subprocess.run(script, check=False, env=script_environment()).returncode
    raise typer.Exit(128 - code if code < 0 else exits.FAILED if code else exits.DONE)
