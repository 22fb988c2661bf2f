"""`translations evaluate`: a model's folder, of whatever form, on test sets."""

from __future__ import annotations

import json as jsonlib
import re
import shutil
import tempfile
import threading
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer

from translations_assets.cli import common
from translations_assets.cli.common import Json
from translations_assets.cli.output import tell
from translations_assets.cli.results import print_results
from translations_assets.common.errors import TranslationsError
from translations_assets.common.scripts import run_script
from translations_assets.config.model_names import RELEASED
from translations_assets.config.yaml_reader import Document
from translations_assets.configs.training_configs import ReadConfig, graph_of
from translations_assets.graph.step import Step
from translations_assets.project import this_project
from translations_assets.records.run import RunOptions
from translations_assets.results.evaluations import Evaluations
from translations_assets.results.files import METRICS, parse_scores
from translations_assets.results.scores import Scores
from translations_assets.running.session import Session

if TYPE_CHECKING:
    from translations_assets.config.datasets import Dataset
    from translations_assets.config.schema import TrainingConfig

GIVEN = "the command line"
DATASETS = "Keys of test sets: flores_devtest, sacrebleu_wmt19, url_file:///tests/news.[LANG].zst"
Language = Annotated[str | None, typer.Option(help="Defaults to that of the folder's metadata.json.")]


def evaluate(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="Folder of a model: exported, or Firefox's, Marian's or CTranslate2's."
        ),
    ],
    more: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
    datasets: Annotated[list[str] | None, typer.Option(help=DATASETS, metavar="KEY ...")] = None,
    src: Language = None,
    trg: Language = None,
    name: Annotated[
        str | None, typer.Option(help="The model's name in results. Defaults to the folder's name.")
    ] = None,
    released: Annotated[
        bool, typer.Option("--released", help="Also evaluate the model that Firefox ships.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option(help="Folder for the results in Mozilla's layout.", file_okay=False)
    ] = None,
    override: Annotated[
        bool, typer.Option("--override", help="Replace results that the folder has already.")
    ] = False,
    json: Json = False,
) -> None:
    """Translate test sets with any model, and print its scores.

    Test sets are fetched once and kept in the store. An exported model runs in Firefox's engine, a sentence
    at a time. A folder's results are replaced with --override only.
    """
    if not model.is_dir():
        raise TranslationsError(f"{model} is no folder. Give a model's folder before --datasets.")
    keys = [*(datasets or ()), *(more or ())]
    if not keys:
        raise TranslationsError("Name at least one test set: --datasets flores_devtest")
    names = {_name(name or model.resolve().name): model}
    if released and RELEASED in names:
        raise TranslationsError(f"{RELEASED} is the name of Firefox's model. Give yours another --name.")
    read = _read(keys, *_languages(model, src, trg), released)
    if output and not override:
        _refuse_existing(output, read.config, [*names, *([RELEASED] if released else [])])
    session = this_project().new_session(str(uuid4()), read, RunOptions(), ())
    fetched = _fetch(session)
    metrics: Evaluations = {}
    with tempfile.TemporaryDirectory() as work:
        if fetched:
            common.copy_blob(
                session.store, session.results.result_of(fetched).outputs["model.tar"], Path(work, "tar")
            )
            names[RELEASED] = Path(work, "tar")
        for dataset, (called, files) in product(session.config.datasets.test, names.items()):
            found = _evaluate(session, dataset, called, files, Path(work), output)
            metrics.setdefault(called, {})[dataset.short_name] = found
    print_results(metrics, json)


def _languages(model: Path, src: str | None, trg: str | None) -> tuple[str, str]:
    """Return the given languages, else those of the folder's metadata.json."""
    try:
        told = jsonlib.loads((model / "metadata.json").read_bytes())
    except (OSError, ValueError):
        told = {}
    told = told if isinstance(told, dict) else {}
    src, trg = src or told.get("sourceLanguage"), trg or told.get("targetLanguage")
    if not src or not trg:
        raise TranslationsError(f"{model} does not name its languages. Give them: --src en --trg ru")
    return src, trg


def _read(datasets: Sequence[str], src: str, trg: str, released: bool) -> ReadConfig:
    """A training config of which nothing but the test sets and the released model is made."""
    from translations_assets.config.checks import languages_of_providers
    from translations_assets.config.datasets import locate
    from translations_assets.config.final_evaluation import SECTION
    from translations_assets.config.load import validated
    from translations_assets.config.schema import TrainingConfig

    values: dict[str, Any] = {
        "experiment": {"name": "evaluate", "src": src, "trg": trg},
        "datasets": {"test": [*dict.fromkeys(datasets)]},
        SECTION: {"released": released},
    }
    locate(values, Path.cwd())
    problems = [*languages_of_providers(values)]
    values["datasets"]["devtest"] = ["demo_dev"]  # a config needs one
    config = validated(Document(GIVEN, values), TrainingConfig, lambda _: problems)
    name, text = f"{config.pair}.evaluate", jsonlib.dumps(values)
    return ReadConfig(name, graph_of(config), [], GIVEN, text, GIVEN, lambda: config)


def _fetch(session: Session) -> Step | None:
    """Make the test sets and the released model, if missing in the store; return the latter's step."""
    fetches = [step for step in session.graph.stages["final_evaluation"] if "model.tar" in step.outputs]
    try:
        for steps in (session.graph.stages["dataset_test"], fetches):
            this_project().engine.run(session, steps, threading.Event(), common.tell_event)
    finally:
        session.end()
    return fetches[0] if fetches else None


def _evaluate(
    session: Session, dataset: Dataset, name: str, model: Path, work: Path, output: Path | None
) -> Scores:
    """The scores of a model on a test set, by the script that runs for training configs, too."""
    pair = session.config.pair
    test = session.graph.step(f"dataset-test-{dataset.short_name}-{pair}")
    folder = Path(tempfile.mkdtemp(dir=work))
    sides, made = [folder / f"corpus.{lang}.zst" for lang in pair.split("-")], folder / "made"
    for side in sides:
        common.copy_blob(session.store, session.results.result_of(test).outputs[side.name], side)
    options = ["--model", str(model), "--name", name]
    options += ["--trg", session.config.experiment.trg, "--dataset", dataset.short_name]
    options += ["--corpus-src", str(sides[0]), "--corpus-trg", str(sides[1])]
    options += ["--results", _results(pair, dataset, "{translator}", name), "--output", str(made)]
    tell(f"evaluate {name} on {dataset.short_name}")
    run_script("pipeline.eval.final", options)
    scores = parse_scores((made / METRICS).read_bytes(), f"{name} on {dataset.short_name}")
    if output:
        output.mkdir(parents=True, exist_ok=True)
        for path in made.glob(f"{pair}__*.json"):
            shutil.move(path, output / path.name)
    return scores


def _results(pair: str, dataset: Dataset, translator: str, name: str) -> str:
    """Return the beginning of the names of results in Mozilla's layout; the script adds the translator."""
    return "__".join((pair, dataset.short_name, translator, name, "latest"))


def _refuse_existing(output: Path, config: TrainingConfig, names: Sequence[str]) -> None:
    """Raise TranslationsError when a folder has results already, before anything is done."""
    for dataset, name in product(config.datasets.test, names):
        if found := next(output.glob(f"{_results(config.pair, dataset, '*', name)}__*"), None):
            raise TranslationsError(
                f"{output} already holds {found.name}. Give --override to replace what it has of {name} on "
                f"{dataset.short_name}, or another --output."
            )


def _name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9.-]+", "-", name).strip("-") or "model"
