"""Release: quantisation and export for Firefox's engine; BLEU and chrF of every model on every test set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from translations_assets.config.model_names import (
    BACKWARDS,
    ENSEMBLE,
    EXPORTED,
    FINETUNED,
    QUANTIZED,
    STUDENT,
    teacher,
)
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import stage, step
from translations_assets.graph.step import Folder, Output, RepoFile
from translations_assets.stages.continuation import distils, has_split_vocabulary
from translations_assets.stages.handles import (
    DECODING_CONFIGS,
    QUANTIZED_FILES,
    SHORTLIST,
    Aligned,
    Corpora,
    Corpus,
    Evaluations,
    Model,
    ModelEvaluation,
    aliases,
    languages,
    marian_args,
    mozillas_name,
    unspaced,
)
from translations_assets.stages.languages import Identifying
from translations_assets.stages.metrics import EvaluationInputs, score
from translations_assets.stages.translators import Decoder, Decoders, named, translate_text

TRANSLATE_LOCALLY = ("model_info.json", "config.intgemm8bitalpha.yml")


@stage(group="release")
def quantize(
    config: TrainingConfig, finetune_student: Model, shortlist: Output | None, merge_devset: Corpus
) -> Model:
    """The finetuned student with 8-bit weights and its binary shortlist.

    Twice: as Marian decodes it, and with the multipliers of activations that browsers' engines need, found by
    translating some of the dev set.
    """
    sizes = {"best": config.experiment.shortlist_best, "frequent": config.experiment.shortlist_frequent}
    names = [name for name in QUANTIZED_FILES if shortlist or name != SHORTLIST]
    quantized = step(
        "pipeline.quantize.quantize",
        label=f"quantize-{config.pair}",
        args=sizes if shortlist else {},
        inputs={"model": finetune_student, "shortlist": shortlist, "text": merge_devset.src},
        outputs=(*names, "stats.json"),
        repeatable=False,  # the last digit of a multiplier may differ
    )
    return quantized.folder(*names)


@stage(group="release")
def export(config: TrainingConfig, quantize: Model) -> Folder:
    """The model as Firefox's engines and translateLocally load it; compressed, too, for Remote Settings."""
    src, trg = config.experiment.src, config.experiment.trg
    pair, split = f"{src}{trg}", has_split_vocabulary(config)
    vocabularies = ["srcvocab", "trgvocab"] if split else ["vocab"]
    files = [
        f"model.{pair}.intgemm.alphas.bin",
        *([f"lex.50.50.{pair}.s2t.bin"] if config.experiment.shortlist == "lexical" else []),
        *(f"{name}.{pair}.spm" for name in vocabularies),
    ]
    also = [f"model.{pair}.intgemm8.bin"] if config.experiment.export_intgemm8 else []
    exported = step(
        "pipeline.quantize.export",
        label=f"export-{src}-{trg}",
        args={
            "src": src,
            "trg": trg,
            "src_name": config.source.name,
            "trg_name": config.target.name,
            "architecture": config.experiment.student_model,
            "split": split,
            "intgemm8": config.experiment.export_intgemm8,
        },
        inputs={"model": quantize},
        outputs=[
            *files,
            *also,
            *(f"{name}.zst" for name in files),
            "records.json",
            "metadata.json",
            *TRANSLATE_LOCALLY,
        ],
    )
    return exported.folder(*files, "records.json", "metadata.json")


@stage(group="evaluation")
def evaluate_backwards(
    config: TrainingConfig,
    train_backwards: Model | None,
    dataset_test: Corpora,
    evaluation_inputs: EvaluationInputs,
) -> None:
    """Scores of the backwards model, from target to source."""
    if train_backwards is not None:
        turned = [Corpus(test.trg, test.src, test.dataset) for test in dataset_test]
        _evaluate(config, evaluation_inputs, BACKWARDS, [train_backwards], turned, "backward")


@stage(group="evaluation")
def evaluate_teacher(
    config: TrainingConfig,
    train_teacher: list[Model],
    fetch_translators: Decoders,
    dataset_test: Corpora,
    evaluation_inputs: EvaluationInputs,
    alignments_original: Aligned | None,
) -> Evaluations:
    """Scores of each teacher by itself, or of each translator that takes their place, in its order."""
    given = [
        _evaluate_given(config, teacher(number), named(fetch_translators, name), test)
        for number, name in enumerate(config.experiment.teacher or () if distils(config) else (), start=1)
        for test in dataset_test
    ]
    inputs, aligned = evaluation_inputs, alignments_original
    if given:
        return score(config, inputs, given, aligned=aligned)
    return [
        evaluation
        for number, model in enumerate(train_teacher, start=1)
        for evaluation in _evaluate(
            config, inputs, teacher(number), [model], dataset_test, "teacher", aligned
        )
    ]


@stage(group="evaluation")
def evaluate_teacher_ensemble(
    config: TrainingConfig,
    train_teacher: list[Model],
    dataset_test: Corpora,
    evaluation_inputs: EvaluationInputs,
    alignments_original: Aligned | None,
) -> Evaluations:
    """Scores of all teachers together; nothing to do when there is only one."""
    if len(train_teacher) <= 1:
        return []
    inputs, aligned = evaluation_inputs, alignments_original
    return _evaluate(config, inputs, ENSEMBLE, train_teacher, dataset_test, "teacher", aligned)


@stage(group="evaluation")
def evaluate_student(
    config: TrainingConfig,
    train_student: Model,
    dataset_test: Corpora,
    evaluation_inputs: EvaluationInputs,
    alignments_original: Aligned | None,
) -> Evaluations:
    """Scores of the student before finetuning."""
    inputs, aligned = evaluation_inputs, alignments_original
    return _evaluate(config, inputs, STUDENT, [train_student], dataset_test, "student", aligned)


@stage(group="evaluation")
def evaluate_finetuned_student(
    config: TrainingConfig,
    finetune_student: Model,
    dataset_test: Corpora,
    evaluation_inputs: EvaluationInputs,
    alignments_original: Aligned | None,
) -> Evaluations:
    """Scores of the student after finetuning in 8 bits."""
    inputs, aligned = evaluation_inputs, alignments_original
    return _evaluate(config, inputs, FINETUNED, [finetune_student], dataset_test, "student", aligned)


@stage(group="evaluation")
def evaluate_quantized(
    config: TrainingConfig,
    quantize: Model,
    dataset_test: Corpora,
    evaluation_inputs: EvaluationInputs,
    alignments_original: Aligned | None,
) -> Evaluations:
    """Scores of the quantised student as Marian decodes it, to tell the engine's faults from the model's."""
    inputs, aligned = evaluation_inputs, alignments_original
    return _evaluate(config, inputs, QUANTIZED, [quantize], dataset_test, "student", aligned)


@stage(group="evaluation")
def evaluate_exported(
    config: TrainingConfig,
    export: Folder,
    dataset_test: Corpora,
    evaluation_inputs: EvaluationInputs,
    alignments_original: Aligned | None,
) -> Evaluations:
    """Scores and speed of the exported student in Firefox's engine, a sentence at a time, as users run it."""
    evaluations, asked = [], config.final_evaluation is not None
    for test in dataset_test:
        evaluated = step(
            "pipeline.eval.exported",
            label=f"evaluate-{EXPORTED}-{test.short_name}-{config.pair}",
            args={"trg": config.target.bleu, "dataset": test.name, **unspaced(config)},
            inputs={"exported": list(export.files.values()), **test.sides},
            outputs=("translations.zst", "metrics.json"),
            aliases=aliases([test]),
            repeatable=False,  # its speed differs from run to run
        )
        mozillas = mozillas_name(config, test, "bergamot", config.experiment.name) if asked else ""
        evaluations.append(ModelEvaluation(EXPORTED, test, evaluated["translations.zst"], mozillas))
    return score(config, evaluation_inputs, evaluations, exported=export, aligned=alignments_original)


def _evaluate_given(config: TrainingConfig, model: str, decoder: Decoder, test: Corpus) -> ModelEvaluation:
    """Score a translator's translations of a test set."""
    name = f"{model}-{test.short_name}-{config.pair}"
    identifying = Identifying(config, f"answers-{name}")
    evaluated = step(
        "pipeline.eval.evaluate",
        label=f"evaluate-{name}",
        args={**languages(config), "trg": config.target.bleu, "dataset": test.name},
        inputs={
            "translations": translate_text(config, decoder, name, test.src, "teacher", identifying),
            **test.sides,
        },
        outputs=("translations.zst", "metrics.json"),
        aliases=aliases([test]),
    )
    return ModelEvaluation(model, test, evaluated["translations.zst"])


def _evaluate(
    config: TrainingConfig,
    evaluation_inputs: EvaluationInputs,
    model: str,
    models: Sequence[Model],
    tests: Corpora,
    decoding: Literal["backward", "teacher", "student"],
    aligned: Aligned | None = None,
) -> Evaluations:
    options, (src, trg) = config.marian_args, (config.source, config.target)
    if decoding == "backward":
        src, trg = trg, src
    langs = {"src": src.code, "trg": trg.bleu}
    args = {"backward": options.decoding_backward, "teacher": options.decoding_teacher, "student": {}}
    evaluations = []
    for test in tests:
        evaluated = step(
            "pipeline.eval.evaluate",
            label=f"evaluate-{model}-{test.short_name}-{config.pair}",
            args={**langs, "dataset": test.name, "marian_args": marian_args(args[decoding])},
            inputs={
                "models": models,
                **test.sides,
                "decoding_config": RepoFile(f"{DECODING_CONFIGS}/{decoding}.yml"),
            },
            outputs=("translations.zst", "metrics.json"),
            worker="cpu" if model == QUANTIZED else "gpu",  # integers are decoded on one thread of a CPU
            aliases=aliases([test]),
            repeatable=False,
        )
        evaluations.append(ModelEvaluation(model, test, evaluated["translations.zst"]))
    backwards = decoding == "backward"
    return score(config, evaluation_inputs, evaluations, backwards=backwards, aligned=aligned)
