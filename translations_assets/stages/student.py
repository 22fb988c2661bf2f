"""The student: alignments and shortlist of the distilled text, training, finetuning in 8 bits."""

from __future__ import annotations

from typing import Literal

from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import stage, step
from translations_assets.graph.step import Output
from translations_assets.stages.building import align_in_chunks, learn_priors, train_model
from translations_assets.stages.continuation import fetch_alignments
from translations_assets.stages.handles import Aligned, Corpus, Model, Vocab

SEED = 1111


@stage(group="student", formerly=("corpus-align-distillation",))
def alignments_student(
    config: TrainingConfig, cefilter: Corpus, alignments_original: Aligned | None
) -> Aligned:
    """The distilled corpus tokenised by ICU, with word alignments that guide the student's attention.

    It is split, aligned, collected, with the priors of the parallel corpus, or its own where that was not
    aligned. Tokens and alignments are fetched where an earlier run's are given.
    """
    fetched = fetch_alignments(config, "distillation", cefilter)
    if fetched:
        return fetched
    priors = alignments_original.priors if alignments_original else None
    if priors is None:
        pair = f"{config.experiment.src}-{config.experiment.trg}"
        priors = learn_priors(config, f"alignments-priors-student-{pair}", cefilter)
    return align_in_chunks(config, "student", cefilter, priors)


@stage(group="student", formerly=("distillation-corpus-build-shortlist",))
def shortlist(config: TrainingConfig, cefilter: Corpus, train_vocab: Vocab) -> Output:
    """The lexical shortlist: the likeliest target pieces of every source piece, by an alignment of pieces."""
    listed = step(
        "pipeline.alignments.shortlist",
        label=f"shortlist-{config.experiment.src}-{config.experiment.trg}",
        inputs={
            "source_vocab": train_vocab.src,
            "target_vocab": train_vocab.trg,
            **cefilter.sides,
        },
        outputs=("lex.s2t.zst", "stats.json"),
        worker="large-cpu",
        repeatable=False,
    )
    return listed["lex.s2t.zst"]


@stage(group="student", formerly=("distillation-student-model-train",))
def train_student(
    config: TrainingConfig, train_vocab: Vocab, alignments_student: Aligned, merge_devset: Corpus
) -> Model:
    """The student: a small model trained on the distilled corpus."""
    return _train(config, "train", train_vocab, alignments_student, merge_devset)


@stage(group="student", formerly=("distillation-student-model-finetune",))
def finetune_student(
    config: TrainingConfig,
    train_student: Model,
    train_vocab: Vocab,
    alignments_student: Aligned,
    merge_devset: Corpus,
) -> Model:
    """The student, trained on, with its own options, its weights quantised to 8 bits in the forward pass."""
    return _train(config, "finetune", train_vocab, alignments_student, merge_devset, train_student)


def _train(
    config: TrainingConfig,
    verb: Literal["train", "finetune"],
    vocab: Vocab,
    aligned: Aligned,
    dev: Corpus,
    pretrained: Model | None = None,
) -> Model:
    src, trg, options = config.experiment.src, config.experiment.trg, config.marian_args
    return train_model(
        config,
        label=f"{verb}-student-{src}-{trg}",
        src=src,
        trg=trg,
        vocab=vocab,
        data=aligned.data("original"),
        dev=dev,
        model=f"student.{config.experiment.student_model}",
        training=f"student.{verb}",
        curriculum="student",
        args=options.training_student if verb == "train" else options.training_student_finetuned,
        seed=SEED,
        pretrained=pretrained,
    )
