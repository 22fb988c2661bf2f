"""Word alignments and the teacher models."""

from __future__ import annotations

from translations_assets.config.schema import TrainingConfig
from translations_assets.stages.building import align_in_chunks, train_model
from translations_assets.stages.handles import Aligned, Corpus, Model, Vocab
from translations_assets.steps.stage import stage, step
from translations_assets.steps.step import Input

PRIORS_SAMPLE = 1_000_000  # pairs, which eflomal holds in memory all at once


@stage(group="teacher")
def alignments_original(config: TrainingConfig, merge_corpus: Corpus) -> Aligned:
    """The parallel corpus tokenised by ICU, with word alignments and the priors for all alignments.

    The priors are learned from a sample; then the corpus is split, aligned, collected.
    """
    src, trg = config.experiment.src, config.experiment.trg
    learned = step(
        "pipeline.alignments.priors",
        label=f"alignments-priors-{src}-{trg}",
        args={"src": src, "trg": trg, "sample_size": PRIORS_SAMPLE},
        inputs={"corpus_src": merge_corpus.src, "corpus_trg": merge_corpus.trg},
        outputs=("corpus.priors", "stats.json"),
    )
    return align_in_chunks(config, "original", merge_corpus, learned["corpus.priors"])


@stage(group="teacher")
def alignments_backtranslated(
    config: TrainingConfig, translate_mono_trg: Corpus | None, alignments_original: Aligned
) -> Aligned | None:
    """The back-translated corpus tokenised by ICU, with word alignments; split, aligned, collected."""
    if translate_mono_trg is None:
        return None
    return align_in_chunks(config, "backtranslated", translate_mono_trg, alignments_original.priors)


@stage(group="teacher")
def train_teacher(
    config: TrainingConfig,
    train_vocab: Vocab,
    alignments_original: Aligned,
    alignments_backtranslated: Aligned | None,
    merge_devset: Corpus,
) -> list[Model]:
    """The teachers, one per ensemble member, trained on parallel and back-translated text, seeds 1..N."""
    data: dict[str, Input | None] = {
        "original_src": alignments_original.src,
        "original_trg": alignments_original.trg,
        "original_alignments": alignments_original.alignments,
    }
    curriculum = "teacher.original"
    if alignments_backtranslated is not None:
        curriculum = f"teacher.{config.experiment.teacher_mode}"
        data["backtranslated_src"] = alignments_backtranslated.src
        data["backtranslated_trg"] = alignments_backtranslated.trg
        data["backtranslated_alignments"] = alignments_backtranslated.alignments
    src, trg = config.experiment.src, config.experiment.trg
    return [
        train_model(
            config,
            label=f"train-teacher-{src}-{trg}-{seed}",
            src=src,
            trg=trg,
            vocab=train_vocab,
            data=data,
            dev=merge_devset,
            model="teacher",
            training="teacher.train",
            curriculum=curriculum,
            args=config.marian_args.training_teacher,
            seed=seed,
        )
        for seed in range(1, config.experiment.teacher_ensemble + 1)
    ]
