"""The exported student against the model that Firefox ships and others, where the config names them."""

from __future__ import annotations

from collections.abc import Mapping

from translations_assets.config.final_evaluation import EXPORTED, RELEASED, ComparedModel
from translations_assets.config.languages import Language, language
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import stage, step
from translations_assets.graph.step import Input, Output, WorkerClass
from translations_assets.stages.continuation import DOWNLOAD_ATTEMPTS, fetch_model, url_secrets
from translations_assets.stages.handles import Corpus, Evaluation, aliases
from translations_assets.stages.metrics import EvaluationInputs, score

PACKED_MODEL = "model.tar"
# As in pipeline.eval.results.
METRICS = ("bleu", "chrf", "chrfpp")
TRANSLATORS = {"firefox": "bergamot", "marian": "marian", "ctranslate2": "ctranslate2"}


@stage(group="evaluation", formerly=("final-eval-lang", "final-eval"))
def final_evaluation(
    config: TrainingConfig,
    evaluate_exported: list[Evaluation],
    dataset_test: list[Corpus],
    evaluation_inputs: EvaluationInputs,
) -> list[Evaluation]:
    """The exported student against Firefox's released model and others, on every test set.

    Nothing to do where the config has no `final-evaluation`: it needs the network. Results are in Mozilla's
    layout, too.
    """
    compared = config.final_evaluation
    if compared is None:
        return []
    for done in evaluate_exported:
        given: Mapping[str, Input] = {"translations": done.translations}
        _evaluate(config, EXPORTED, "firefox", done.test, given, experiment=config.experiment.name)
    others: list[tuple[str, str, Input]] = []
    if compared.released:
        others.append((RELEASED, "firefox", _fetch_released(config)))
    others += [(model.name, model.form, _fetch(config, model)) for model in compared.models]
    evaluations = [
        _evaluate(config, name, form, test, {"model": model})
        for name, form, model in others
        for test in dataset_test
    ]
    return score(config, evaluation_inputs, evaluations)


def _fetch_released(config: TrainingConfig) -> Output:
    src, trg = language(config.experiment.src), language(config.experiment.trg)
    released = step(
        "pipeline.eval.released",
        label=f"fetch-final-evaluation-{RELEASED}-{config.pair}",
        args={"src": firefox_code(src), "trg": firefox_code(trg)},
        outputs=(PACKED_MODEL, "records.json", "stats.json"),
        repeatable=False,  # there are new releases
        attempts=DOWNLOAD_ATTEMPTS,
    )
    return released[PACKED_MODEL]


def _fetch(config: TrainingConfig, model: ComparedModel) -> Input:
    src, trg = config.experiment.src, config.experiment.trg
    label = f"final-evaluation-{model.name}-{config.pair}"
    if model.form == "marian":
        return fetch_model(config, label, model.url, "use", src, trg)
    fetched = step(
        "pipeline.eval.fetch_compared",
        label=f"fetch-{label}",
        args={"form": model.form, "src": src, "trg": trg, "url": model.url},
        outputs=(PACKED_MODEL, "stats.json"),
        attempts=DOWNLOAD_ATTEMPTS,
        secrets=url_secrets([model.url]),
    )
    return fetched[PACKED_MODEL]


def _evaluate(
    config: TrainingConfig,
    name: str,
    form: str,
    test: Corpus,
    system: Mapping[str, Input],
    experiment: str = "",
) -> Evaluation:
    """`experiment` is the student's, by whose name Mozilla's files call it."""
    parts = (config.pair, test.short_name, TRANSLATORS[form], experiment or name, "latest")
    results = "__".join(parts)
    files = [f"{results}__{metric}.{kind}.json" for metric in METRICS for kind in ("metrics", "scores")]
    worker: WorkerClass = "gpu" if form == "marian" else "cpu"
    evaluated = step(
        "pipeline.eval.final",
        label=f"final-evaluation-{name}-{test.short_name}-{config.pair}",
        args={
            "name": name,
            "trg": config.experiment.trg,
            "dataset": test.name,
            "results": results,
        },
        inputs={**system, **test.sides},
        outputs=("translations.zst", "metrics.json", f"{results}__translations.json", *files),
        worker=worker,
        aliases=aliases([test]),
        repeatable=bool(experiment),  # scores of given translations are always the same
    )
    return Evaluation(name, test, evaluated["translations.zst"])


def firefox_code(spoken: Language) -> str:
    """The code by which Firefox knows a language: zh-Hans, zh-Hant, and the language's own for all others."""
    return f"{spoken.iso639_1}-{spoken.script_code}" if spoken.chinese else spoken.code
