"""`translations evaluate`: a model's folder, of whatever form, and translators, on test sets."""

from __future__ import annotations

import json as jsonlib
import re
import shutil
import tempfile
import threading
from collections.abc import Mapping, Sequence
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
from translations_assets.config.errors import ConfigError
from translations_assets.config.model_names import EXPORTED, RELEASED
from translations_assets.config.yaml_reader import Document, read_yaml
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
        str | None,
        typer.Argument(
            metavar="MODEL", help="Folder of a model: exported, or Firefox's, Marian's or CTranslate2's."
        ),
    ] = None,
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
    translator: Annotated[
        list[str] | None,
        typer.Option(
            metavar="'NAME: {FORM: …}'",
            help="Also evaluate a translator, written as in a config's section translators. Repeatable.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder for the results in Mozilla's layout.", file_okay=False)
    ] = None,
    override: Annotated[
        bool, typer.Option("--override", help="Replace results that the folder has already.")
    ] = False,
    json: Json = False,
) -> None:
    """Translate test sets with any model or translator, and print its scores.

    Test sets, and what translators make of them, are kept in the store. An exported model runs in Firefox's
    engine, a sentence at a time. A folder's results are replaced with --override only.
    """
    others = _translators(translator or ())
    given = [*([model] if model else []), *(more or ())]
    # `--datasets a b` gives `b` as the model where there is none
    is_model = bool(given) and not ((others or released) and _is_key(given[0]))
    folder = Path(given.pop(0)) if is_model else None
    if folder and not folder.is_dir():
        raise TranslationsError(f"{folder} is no folder. Give a model's folder before --datasets.")
    if not (folder or others or released):
        raise TranslationsError("Give a model's folder, --released or --translator.")
    keys = [*(datasets or ()), *given]
    if not keys:
        raise TranslationsError("Name at least one test set: --datasets flores_devtest")
    own = {_name(name or folder.resolve().name): folder} if folder else {}
    names = [*([RELEASED] if released else []), *others]
    if twice := own.keys() & {*names}:
        raise TranslationsError(f"{twice.pop()} is the name of another model. Give yours another --name.")
    read = _read(keys, *_languages(folder, src, trg), released, others)
    if output and not override:
        _refuse_existing(output, read.config, [*own, *names])
    session = this_project().new_session(str(uuid4()), read, RunOptions(), ())
    made = _make(session)
    metrics: Evaluations = {}
    with tempfile.TemporaryDirectory() as work:
        for dataset, (called, files) in product(session.config.datasets.test, own.items()):
            found = _evaluate(session, dataset, called, files, Path(work), output)
            metrics.setdefault(called, {})[dataset.short_name] = found
        for dataset, called in product(session.config.datasets.test, names):
            step = made[f"final-evaluation-{called}-{dataset.short_name}-{session.config.pair}"]
            found = _copied(session, step, f"{called} on {dataset.short_name}", Path(work), output)
            metrics.setdefault(called, {})[dataset.short_name] = found
    print_results(metrics, json)


def _translators(given: Sequence[str]) -> dict[str, Any]:
    """The translators of options, by name, as a config has them."""
    found: dict[str, Any] = {}
    for text in given:
        document = read_yaml(text, "--translator", "translator", "a name and a form")
        if document.problems:
            raise ConfigError(document.problems)
        found |= document.value
    return found


def _is_key(word: str) -> bool:
    """True if a word begins as a test set's key, and is no folder."""
    from translations_assets.config.providers import PARALLEL

    return word.partition("_")[0] in PARALLEL and not Path(word).is_dir()


def _languages(model: Path | None, src: str | None, trg: str | None) -> tuple[str, str]:
    """Return the given languages, else those of the folder's metadata.json."""
    try:
        told = jsonlib.loads((model / "metadata.json").read_bytes()) if model else {}
    except (OSError, ValueError):
        told = {}
    told = told if isinstance(told, dict) else {}
    src, trg = src or told.get("sourceLanguage"), trg or told.get("targetLanguage")
    if not src or not trg:
        wanted = f"{model} does not name its languages. Give them" if model else "Give the languages"
        raise TranslationsError(f"{wanted}: --src en --trg ru")
    return src, trg


def _read(
    datasets: Sequence[str], src: str, trg: str, released: bool, translators: Mapping[str, Any]
) -> ReadConfig:
    """A training config of which nothing but the test sets and their translations is made."""
    from translations_assets.config.checks import languages_of_providers
    from translations_assets.config.final_evaluation import SECTION
    from translations_assets.config.load import validated
    from translations_assets.config.own_languages import check_languages
    from translations_assets.config.own_paths import locate
    from translations_assets.config.schema import TrainingConfig
    from translations_assets.config.translators import check_translators

    values: dict[str, Any] = {
        "experiment": {"name": "evaluate", "src": src, "trg": trg},
        "datasets": {"test": [*dict.fromkeys(datasets)]},
        "translators": translators,
        SECTION: {"released": released, "translators": [*translators]},
    }
    locate(values, Path.cwd())
    problems = [*check_languages(values), *languages_of_providers(values), *check_translators(values)]
    values["datasets"]["devtest"] = ["demo_dev"]  # a config needs one
    config = validated(Document(GIVEN, values), TrainingConfig, lambda _: problems)
    name, text = f"{config.pair}.evaluate", jsonlib.dumps(values)
    return ReadConfig(name, graph_of(config), [], GIVEN, text, GIVEN, lambda: config)


def _make(session: Session) -> dict[str, Step]:
    """Make what is missing of the test sets, and of translations by others; return these steps by label."""
    stages = session.graph.stages
    others = [step for step in stages["final_evaluation"] if step.args.get("name") != EXPORTED]
    try:
        for steps in (stages["dataset_test"], stages["fetch_translators"], others):
            this_project().engine.run(session, steps, threading.Event(), common.tell_event)
    finally:
        session.end()
    return {step.label: step for step in others}


def _copied(session: Session, step: Step, what: str, work: Path, output: Path | None) -> Scores:
    """The scores that a step has made; its files in Mozilla's layout are copied into a folder."""
    made = session.results.result_of(step).outputs
    folder = Path(tempfile.mkdtemp(dir=work))
    common.copy_blob(session.store, made[METRICS], folder / METRICS)
    for name in (name for name in made if name.startswith(f"{session.config.pair}__")):
        common.copy_blob(session.store, made[name], folder / name)
    _move(folder, session.config.pair, output)
    return parse_scores((folder / METRICS).read_bytes(), what)


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
    options += ["--trg", session.config.target.bleu, "--dataset", dataset.short_name]
    options += [] if session.config.source.spaced else ["--src-unspaced"]
    options += ["--corpus-src", str(sides[0]), "--corpus-trg", str(sides[1])]
    options += ["--results", _results(pair, dataset, "{translator}", name), "--output", str(made)]
    tell(f"evaluate {name} on {dataset.short_name}")
    run_script("pipeline.eval.final", options)
    scores = parse_scores((made / METRICS).read_bytes(), f"{name} on {dataset.short_name}")
    _move(made, pair, output)
    return scores


def _move(made: Path, pair: str, output: Path | None) -> None:
    """Move the files in Mozilla's layout into a folder, in place of those of the same names."""
    if output:
        output.mkdir(parents=True, exist_ok=True)
        for path in made.glob(f"{pair}__*.json"):
            shutil.move(path, output / path.name)


def _results(pair: str, dataset: Dataset, translator: str, name: str) -> str:
    """Return the beginning of the names of results in Mozilla's layout; the script adds the translator."""
    from translations_assets.stages.handles import MOZILLAS_SETS

    test_set = MOZILLAS_SETS.get(dataset.known_as, dataset.short_name)
    return "__".join((pair, test_set, translator, name, "latest"))


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
