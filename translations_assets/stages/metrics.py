"""Metrics of evaluations that only some configs name: those that need a model, and of paragraphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from translations_assets.common.errors import GraphError
from translations_assets.config.datasets import Dataset
from translations_assets.config.evaluation import HUB_DOCUMENTS, SPBLEU_SHA256, SPBLEU_URL, documents_file
from translations_assets.config.providers import FILE, PARALLEL
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import stage, step
from translations_assets.graph.step import Folder, Input, LocalFile, Output, RepoFile
from translations_assets.results.scores import PARAGRAPHS
from translations_assets.stages.continuation import DOWNLOAD_ATTEMPTS, url_secrets
from translations_assets.stages.handles import (
    CUDA,
    DECODING_CONFIGS,
    RESUMED_ATTEMPTS,
    Aligned,
    Evaluations,
    Model,
    ModelEvaluation,
    aliases,
    languages,
)
from translations_assets.stages.metricx import fetch_metricx, metricx_name
from translations_assets.stages.translators import service_args, service_secrets

SCORES, SEGMENTS = "scores.json", "segments.zst"
JUDGE_PROMPT = RepoFile(f"{DECODING_CONFIGS}/prompts/judge.yml")
MOZILLAS_METRICX = {"reference": "metricx24", "qe": "metricx24-qe"}  # as in pipeline.eval.metricx
METRICX_SEGMENTS = {"reference": "metricx24_segments", "qe": "metricx24_qe_segments"}
MOZILLAS_JUDGE = "llm-ref"  # as in pipeline.eval.llm_ref
MOZILLAS_NAMES = {"wmt22-comet-da": "comet22"}  # of COMET's models, as in pipeline.eval.comet


@dataclass(frozen=True)
class EvaluationInputs:
    """The models of the metrics that the config names; the documents of test sets, by the sets' names."""

    spbleu: Output | None = None
    comet: Output | None = None
    comet_vocab: Output | None = None
    metricx: Model | None = None
    documents: Mapping[str, Input] = field(default_factory=dict)


@stage(group="evaluation")
def evaluation_inputs(config: TrainingConfig) -> EvaluationInputs:
    """All that evaluations download, where the config names it: models of spBLEU, COMET and MetricX, and
    documents.

    Documents tell which sentences of a test set make a paragraph.
    """
    spbleu = comet = vocab = None
    if config.evaluation.spbleu:
        spbleu = _fetch("spbleu", SPBLEU_URL, SPBLEU_SHA256, "flores200.spm")
    if given := config.evaluation.comet:
        comet = _fetch("comet", given.url, given.sha256, f"model{PurePosixPath(given.url).suffix}")
        vocab = _fetch("comet-vocab", given.vocab_url, given.vocab_sha256, "vocab.spm")
    documents = {
        dataset.known_as: _documents(config, dataset)
        for dataset in config.datasets.test
        if _is_named(dataset, config.evaluation.paragraphs)
    }
    metricx = fetch_metricx(config, f"evaluation-{config.pair}") if config.evaluation.metricx else None
    return EvaluationInputs(spbleu, comet, vocab, metricx, documents)


def _is_named(dataset: Dataset | None, names: Sequence[str]) -> bool:
    return dataset is not None and not {dataset.key, dataset.short_name}.isdisjoint(names)


def _fetch(name: str, url: str, sha256: str, file: str) -> Output:
    fetched = step(
        "pipeline.eval.fetch_model",
        label=f"fetch-{name}",
        args={"url": url, "sha256": sha256, "name": file},
        outputs=(file,),
        attempts=DOWNLOAD_ATTEMPTS,
        secrets=url_secrets([url]),
    )
    return fetched[file]


def _documents(config: TrainingConfig, dataset: Dataset) -> Input:
    if dataset.provider == FILE.name:
        path = documents_file(dataset)
        # The suffix says how to read it
        return LocalFile(path, "documents" + PurePosixPath(path).suffix.removeprefix(".documents"))
    src, trg = config.source, config.target
    provider = PARALLEL[dataset.provider]
    fetched = step(
        "pipeline.data.hub_documents" if dataset.provider in HUB_DOCUMENTS else "pipeline.data.documents",
        label=f"documents-{dataset.short_name}-{config.pair}",
        args={
            "provider": dataset.provider,
            "dataset": dataset.name,
            "src_code": provider.code(dataset.name, src),
            "trg_code": provider.code(dataset.name, trg),
        },
        outputs=("documents.zst",),
        attempts=DOWNLOAD_ATTEMPTS,
        secrets=provider.secrets,
    )
    return fetched["documents.zst"]


def score(
    config: TrainingConfig,
    inputs: EvaluationInputs,
    evaluations: Sequence[ModelEvaluation],
    *,
    backwards: bool = False,
    exported: Folder | None = None,
    aligned: Aligned | None = None,
) -> Evaluations:
    """The evaluations; with steps that score their translations by what the config names besides.

    Of paragraphs the sentences' translations are joined; an `exported` model translates whole ones itself.
    `aligned` has the priors by which words are aligned.
    """
    scored = []
    for evaluation in evaluations:
        segments: dict[str, Output] = {}
        if inputs.spbleu:
            _spbleu(config, inputs.spbleu, evaluation)
        if inputs.comet and config.evaluation.comet:
            segments["comet_segments"] = _comet(config, config.evaluation.comet.name, inputs, evaluation)
        for form in config.evaluation.metricx if inputs.metricx else ():
            segments[METRICX_SEGMENTS[form]] = _metricx(config, form, inputs.metricx, evaluation)
        if config.evaluation.judge:
            _judge(config, config.evaluation.judge, evaluation, backwards)
        if documents := inputs.documents.get(evaluation.test.name):
            _paragraphs(config, documents, evaluation, backwards, exported)
        if aligned and aligned.priors and _is_named(evaluation.test.dataset, config.evaluation.unaligned):
            _unaligned(config, aligned.priors, evaluation)
        scored.append(replace(evaluation, spbleu_model=inputs.spbleu, segments=segments))
    return scored


def _name(config: TrainingConfig, evaluation: ModelEvaluation) -> str:
    return f"{evaluation.model}-{evaluation.test.short_name}-{config.pair}"


def _spbleu(config: TrainingConfig, model: Output, evaluation: ModelEvaluation) -> None:
    test = evaluation.test
    step(
        "pipeline.eval.spbleu",
        label=f"spbleu-{_name(config, evaluation)}",
        args={"dataset": test.name, "results": evaluation.mozillas or None},
        inputs={"model": model, "translations": evaluation.translations, "corpus_trg": test.trg},
        outputs=(SCORES, *evaluation.mozillas_files("spbleu")),
        aliases=aliases([test]),
    )


def _comet(
    config: TrainingConfig, name: str, inputs: EvaluationInputs, evaluation: ModelEvaluation
) -> Output:
    """Add the step that gives each line the model's score."""
    test = evaluation.test
    scored = step(
        "pipeline.eval.comet",
        label=f"comet-{_name(config, evaluation)}",
        args={"dataset": test.name, "name": name, "results": evaluation.mozillas or None},
        inputs={
            "model": inputs.comet,
            "vocab": inputs.comet_vocab,
            "translations": evaluation.translations,
            **test.sides,
        },
        outputs=(SCORES, SEGMENTS, *evaluation.mozillas_files(MOZILLAS_NAMES.get(name, "comet"))),
        worker="gpu",
        aliases=aliases([test]),
        repeatable=False,  # the last digit of a score may differ
    )
    return scored[SEGMENTS]


def _metricx(config: TrainingConfig, form: str, model: Model | None, evaluation: ModelEvaluation) -> Output:
    """Add the step that estimates the error of each line, with the reference or without."""
    test = evaluation.test
    scored = step(
        "pipeline.eval.metricx",
        label=f"metricx-{form}-{_name(config, evaluation)}",
        args={
            "form": form,
            "dataset": test.name,
            "name": metricx_name(config),
            "results": evaluation.mozillas or None,
        },
        inputs={
            "model": model,
            "translations": evaluation.translations,
            **test.sides,
            "cuda_lock": CUDA,
        },
        outputs=(SCORES, SEGMENTS, *evaluation.mozillas_files(MOZILLAS_METRICX[form])),
        worker="gpu",
        aliases=aliases([test]),
        repeatable=False,  # the last digit of a score may differ
    )
    return scored[SEGMENTS]


def _unaligned(config: TrainingConfig, priors: Output, evaluation: ModelEvaluation) -> None:
    test = evaluation.test
    step(
        "pipeline.eval.unaligned",
        label=f"unaligned-{_name(config, evaluation)}",
        args={**languages(config), "dataset": test.name},
        inputs={"priors": priors, "translations": evaluation.translations, **test.sides},
        outputs=(SCORES,),
        aliases=aliases([test]),
        repeatable=False,  # eflomal samples
    )


def _judge(config: TrainingConfig, name: str, evaluation: ModelEvaluation, backwards: bool) -> None:
    """Add the step that asks a service what each line is worth.

    It is paid for: files in Mozilla's layout, whose names may change, are another one's.
    """
    translator, test = config.translators.get(name), evaluation.test
    if translator is None or translator.endpoint is None:
        raise GraphError(f"evaluation.judge: {name} is no endpoint in translators.")
    endpoint, prompt = translator.endpoint, config.evaluation.judge_prompt
    src, trg = config.source, config.target
    if backwards:
        src, trg = trg, src
    judged = step(
        "pipeline.eval.judge",
        label=f"judge-{_name(config, evaluation)}",
        args={
            **service_args(endpoint),
            "src": src.name,
            "trg": trg.name,
            "dataset": test.name,
        },
        inputs={
            "prompt": LocalFile(prompt, "prompt.yml") if prompt else JUDGE_PROMPT,
            "translations": evaluation.translations,
            **test.sides,
        },
        outputs=(SCORES, SEGMENTS, "stats.json"),
        aliases=aliases([test]),
        resumable=True,
        repeatable=False,
        attempts=RESUMED_ATTEMPTS,
        secrets=service_secrets(endpoint),
    )
    if evaluation.mozillas:
        step(
            "pipeline.eval.llm_ref",
            label=f"llm-ref-{_name(config, evaluation)}",
            args={"results": evaluation.mozillas},
            inputs={"scores": judged[SCORES], "segments": judged[SEGMENTS]},
            outputs=evaluation.mozillas_files(MOZILLAS_JUDGE),
        )


def _paragraphs(
    config: TrainingConfig,
    documents: Input,
    evaluation: ModelEvaluation,
    backwards: bool,
    exported: Folder | None,
) -> None:
    test = evaluation.test
    named = {f"{key}{PARAGRAPHS}": f"{alias}{PARAGRAPHS}" for key, alias in aliases([test]).items()}
    made: dict[str, Input] = {"translations": evaluation.translations}
    if exported:
        made = {"exported": list(exported.files.values())}
    step(
        "pipeline.eval.paragraphs",
        label=f"paragraphs-{_name(config, evaluation)}",
        args={
            "trg": (config.source if backwards else config.target).bleu,
            "dataset": f"{test.name}{PARAGRAPHS}",
        },
        inputs={**made, "documents": documents, **test.sides},
        outputs=("translations.zst", "metrics.json"),
        aliases=named,
    )
