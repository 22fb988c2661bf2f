"""The exported student against the model that Firefox ships and others, where the config names them."""

from __future__ import annotations

from collections.abc import Mapping

from translations_assets.config.final_evaluation import ComparedModel
from translations_assets.config.model_names import EXPORTED, RELEASED
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import stage, step
from translations_assets.graph.step import Input, WorkerClass
from translations_assets.stages.continuation import DOWNLOAD_ATTEMPTS, fetch_model, url_secrets
from translations_assets.stages.firefox import PACKED_MODEL, fetch_released
from translations_assets.stages.handles import (
    Aligned,
    Corpora,
    Corpus,
    Evaluations,
    ModelEvaluation,
    aliases,
    mozillas_name,
    unspaced,
)
from translations_assets.stages.languages import Identifying
from translations_assets.stages.metrics import EvaluationInputs, score
from translations_assets.stages.translators import Decoder, Decoders, named, translate_text

# As in pipeline.eval.results.
METRICS = ("bleu", "chrf", "chrfpp")
TRANSLATORS = {"firefox": "bergamot", "marian": "marian", "ctranslate2": "ctranslate2"}


@stage(group="evaluation")
def final_evaluation(
    config: TrainingConfig,
    evaluate_exported: Evaluations,
    dataset_test: Corpora,
    fetch_translators: Decoders,
    evaluation_inputs: EvaluationInputs,
    alignments_original: Aligned | None,
) -> Evaluations:
    """The exported student against Firefox's released model and others, on every test set.

    Nothing to do where the config has no `final-evaluation`: it needs the network. Results are in Mozilla's
    layout, too.
    """
    compared = config.final_evaluation
    if compared is None:
        return []
    for done in evaluate_exported:
        given: Mapping[str, Input] = {"translations": done.translations}
        _evaluate(config, EXPORTED, done.test, given, "firefox", done.mozillas)
    others: list[tuple[str, str, Input]] = []
    if compared.released:
        label = f"fetch-final-evaluation-{RELEASED}-{config.pair}"
        released = fetch_released(label, config.source, config.target)
        others.append((RELEASED, "firefox", released))
    others += [(model.name, model.form, _fetch(config, model)) for model in compared.models]
    evaluations = [
        _evaluate(
            config, name, test, {"model": model}, form, mozillas_name(config, test, TRANSLATORS[form], name)
        )
        for name, form, model in others
        for test in dataset_test
    ]
    evaluations += [
        _evaluate_translator(config, name, named(fetch_translators, name), test)
        for name in compared.translators
        for test in dataset_test
    ]
    return score(config, evaluation_inputs, evaluations, aligned=alignments_original)


def _evaluate_translator(
    config: TrainingConfig, name: str, decoder: Decoder, test: Corpus
) -> ModelEvaluation:
    """Evaluate a translator of the config by its translations."""
    engine, label = config.translators[name].form, f"final-evaluation-{name}-{test.short_name}-{config.pair}"
    identifying = Identifying(config, f"answers-{label}")
    translations = translate_text(config, decoder, label, test.src, "teacher", identifying)
    mozillas = mozillas_name(config, test, TRANSLATORS.get(engine, engine), name)
    return _evaluate(config, name, test, {"translations": translations}, "firefox", mozillas, engine)


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
    test: Corpus,
    system: Mapping[str, Input],
    form: str,
    mozillas: str,
    engine: str | None = None,
) -> ModelEvaluation:
    """Evaluate a model, or the translations that it made, with `engine`, or as the exported student does."""
    worker: WorkerClass = "gpu" if form == "marian" else "cpu"
    is_timed = "model" in system and form == "firefox"
    files = [f"{mozillas}__{metric}.{kind}.json" for metric in METRICS for kind in ("metrics", "scores")]
    evaluated = step(
        "pipeline.eval.final",
        label=f"final-evaluation-{name}-{test.short_name}-{config.pair}",
        args={
            "name": name,
            "trg": config.target.bleu,
            "dataset": test.name,
            "results": mozillas,
            "engine": engine,
            **(unspaced(config) if is_timed else {}),
        },
        inputs={**system, **test.sides},
        outputs=("translations.zst", "metrics.json", f"{mozillas}__translations.json", *files),
        worker=worker,
        aliases=aliases([test]),
        repeatable="model" not in system,  # scores of given translations are always the same
    )
    return ModelEvaluation(name, test, evaluated["translations.zst"], mozillas)
