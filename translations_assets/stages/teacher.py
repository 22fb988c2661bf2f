"""Word alignments and the teacher models."""

from __future__ import annotations

from dataclasses import replace

from translations_assets.config.schema import TrainingConfig
from translations_assets.errors import GraphError
from translations_assets.graph.stage import stage
from translations_assets.stages.building import align_in_chunks, learn_priors, train_model
from translations_assets.stages.continuation import (
    distils,
    fetch_alignments,
    fetch_model,
    goes_on,
    trains_teachers,
)
from translations_assets.stages.handles import Aligned, Corpus, Model, Vocab


@stage(group="teacher", formerly=("corpus-align-parallel", "alignments-teacher"))
def alignments_original(config: TrainingConfig, merge_corpus: Corpus | None) -> Aligned | None:
    """The parallel corpus tokenised by ICU, with word alignments and the priors for all alignments.

    The priors are learned from a sample; then the corpus is split, aligned, collected. Tokens and alignments
    are fetched where an earlier run's are given; there are none when no teacher is trained.
    """
    if merge_corpus is None or not trains_teachers(config):
        return None
    src, trg = config.experiment.src, config.experiment.trg
    priors = learn_priors(config, f"alignments-priors-{src}-{trg}", merge_corpus)
    fetched = fetch_alignments(config, "parallel", merge_corpus)
    return (
        replace(fetched, priors=priors)
        if fetched
        else align_in_chunks(config, "original", merge_corpus, priors)
    )


@stage(group="teacher", formerly=("corpus-align-backtranslations",))
def alignments_backtranslated(
    config: TrainingConfig, translate_mono_trg: Corpus | None, alignments_original: Aligned | None
) -> Aligned | None:
    """The back-translated corpus tokenised by ICU, with word alignments; split, aligned, collected.

    Tokens and alignments are fetched where an earlier run's are given.
    """
    priors = alignments_original.priors if alignments_original else None
    if translate_mono_trg is None or priors is None:
        return None
    fetched = fetch_alignments(config, "backtranslations", translate_mono_trg)
    return fetched or align_in_chunks(config, "backtranslated", translate_mono_trg, priors)


@stage(group="teacher", formerly=("train-teacher-model", "continuation-model"))
def train_teacher(
    config: TrainingConfig,
    train_vocab: Vocab,
    alignments_original: Aligned | None,
    alignments_backtranslated: Aligned | None,
    merge_devset: Corpus,
) -> list[Model]:
    """The teachers, one per ensemble member, trained on parallel and back-translated text, seeds 1..N.

    An earlier run's are fetched where they are given: to be used, trained further, or begun with.
    """
    fetched = _fetch(config)
    if alignments_original is None:
        return fetched
    data = alignments_original.data("original")
    curriculum = "teacher.original"
    if alignments_backtranslated is not None:
        curriculum = f"teacher.{config.experiment.teacher_mode}"
        data |= alignments_backtranslated.data("backtranslated")
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
            pretrained=fetched[seed - 1] if fetched else None,
            goes_on=goes_on(config.continuation.models.teacher),
        )
        for seed in range(1, config.experiment.teacher_ensemble + 1)
    ]


def _fetch(config: TrainingConfig) -> list[Model]:
    """The teachers of the earlier run; none when they are trained from scratch, or not needed."""
    src, trg, given = config.experiment.src, config.experiment.trg, config.continuation.models.teacher
    if given is None or not distils(config):
        return []
    if len(given.urls) != config.experiment.teacher_ensemble:
        raise GraphError("continuation.models.teacher.urls needs a URL for each teacher.")
    return [
        fetch_model(config, f"teacher-{src}-{trg}-{number}", url, given.mode, src, trg)
        for number, url in enumerate(given.urls, start=1)
    ]
