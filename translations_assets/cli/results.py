"""`translations results`: BLEU and chrF of every model on every test set."""

from __future__ import annotations

import json as jsonlib
from typing import TYPE_CHECKING, Any

import typer

from translations_assets.cli.common import Json, Partition, Set, print_json, print_table, reading_session
from translations_assets.errors import TranslationsError
from translations_assets.project import this_project
from translations_assets.running.session import UpstreamMissing

if TYPE_CHECKING:
    from translations_assets.graph.step import Step
    from translations_assets.running.session import Session

Scores = dict[str, dict[str, dict[str, float]]]


def command(partition: Partition, overrides: Set = None, json: Json = False) -> None:
    """Print the scores of every model on every test set."""
    session = reading_session(this_project(), partition, overrides)
    metrics = read_metrics(session)
    if not metrics:
        raise TranslationsError(
            f"No model of {session.partition} is evaluated yet: translations train {session.partition}"
        )
    if json:
        print_json(scores_of(metrics))
    else:
        print_scores(scores_of(metrics))
        print_samples(metrics)


def read_metrics(session: Session) -> dict[str, dict[str, dict[str, Any]]]:
    """Model → test set → metrics.json of every evaluation that was made."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for stage, steps in session.graph.stages.items():
        for step in steps if stage.startswith("evaluate_") else ():
            try:
                session.need([step])
            except UpstreamMissing:
                continue
            value = jsonlib.loads(session.store.read_blob(session.result_of(step).outputs["metrics.json"]))
            value["dataset"] = step.aliases.get(str(step.args["dataset"]), value["dataset"])
            found.setdefault(_model(step), {})[value["dataset"]] = value
    for warning in session.warnings:
        typer.echo(f"note: {warning}", err=True)
    return found


def _model(step: Step) -> str:
    """`evaluate_teacher` of the second teacher → teacher-2."""
    model = step.stage.removeprefix("evaluate_").replace("_", "-")
    for number in range(1, 100):
        if step.label.startswith(f"evaluate-teacher-{number}-"):
            return f"teacher-{number}"
    return model


def scores_of(metrics: dict[str, dict[str, dict[str, Any]]]) -> Scores:
    """Model → test set → {"bleu": …, "chrf": …}."""
    return {
        model: {
            dataset: {"bleu": value["bleu"]["score"], "chrf": value["chrf"]["score"]}
            for dataset, value in datasets.items()
        }
        for model, datasets in metrics.items()
    }


def print_scores(scores: Scores) -> None:
    """Print a table: a row for each model, BLEU and chrF for each test set."""
    from rich.table import Table

    datasets = list(dict.fromkeys(dataset for tests in scores.values() for dataset in tests))
    table = Table("model", title="BLEU / chrF")
    for dataset in datasets:
        table.add_column(dataset, justify="right", overflow="fold")
    for model, tests in scores.items():
        found = [tests.get(dataset) for dataset in datasets]
        table.add_row(
            model, *(f"{score['bleu']:.1f} / {score['chrf']:.1f}" if score else "" for score in found)
        )
    print_table(table)


def print_samples(metrics: dict[str, dict[str, dict[str, Any]]]) -> None:
    """Print a few sentences as the last model translates the first test set."""
    model, datasets = list(metrics.items())[-1]
    value = next(iter(datasets.values()))
    typer.echo(f"\nSentences of {value['dataset']} as the {model} model translates them:")
    for sample in value["samples"][:5]:
        typer.echo(f"  {sample['source']}\n    → {sample['translation']}")
