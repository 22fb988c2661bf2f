"""Word alignments: of the corpora that models are trained on, and the student's shortlist."""

from __future__ import annotations

from dataclasses import replace

from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import stage, step
from translations_assets.graph.step import Output, RepoFile
from translations_assets.stages.continuation import fetch_alignments, trains_teachers
from translations_assets.stages.handles import (
    RESUMED_ATTEMPTS,
    Aligned,
    Corpus,
    Vocab,
    aligned_step,
    languages,
    modifier_shares,
)
from translations_assets.stages.translation import split_pairs

PRIORS_SAMPLE = 1_000_000  # pairs, which eflomal holds in memory all at once


def learn_priors(
    config: TrainingConfig, label: str, corpus: Corpus, sample_size: int = PRIORS_SAMPLE
) -> Output:
    """Learn from a sample of a corpus how its words are linked; its parts are aligned with that."""
    learned = step(
        "pipeline.alignments.priors",
        label=label,
        args={**languages(config), "sample_size": sample_size},
        inputs=corpus.sides,
        outputs=("corpus.priors", "stats.json"),
        repeatable=False,
    )
    return learned["corpus.priors"]


def align(config: TrainingConfig, label: str, corpus: Corpus, priors: Output) -> Aligned:
    """Tokenise and align a corpus."""
    inputs = {**corpus.sides, "priors": priors}
    return aligned_step(
        config,
        "pipeline.alignments.align",
        label=label,
        inputs=inputs,
        resumable=True,
        repeatable=False,
        attempts=RESUMED_ATTEMPTS,
    )


def align_in_chunks(config: TrainingConfig, name: str, corpus: Corpus, priors: Output) -> Aligned:
    """Split a corpus, tokenise and align the parts with the same priors, collect them in order."""
    family, parts = f"alignments-{name}-{config.pair}", config.taskcluster.split_chunks
    aligned = [
        align(config, f"{family}-{i}/{parts}", Corpus(*part), priors)
        for i, part in enumerate(split_pairs(family, parts, corpus.src, corpus.trg), start=1)
    ]
    return aligned_step(
        config,
        "pipeline.alignments.collect",
        label=f"collect-{family}",
        inputs={
            "tokens_src": [part.src for part in aligned],
            "tokens_trg": [part.trg for part in aligned],
            "alignments": [part.alignments for part in aligned],
            "corpus_src": corpus.src,
        },
    )


@stage(group="teacher")
def alignments_original(config: TrainingConfig, merge_corpus: Corpus | None) -> Aligned | None:
    """The parallel corpus tokenised by ICU, with word alignments and the priors for all alignments.

    The priors are learned from a sample; then the corpus is split, aligned, collected. Tokens and alignments
    are fetched where an earlier run's are given; there are none when no teacher is trained.
    """
    if merge_corpus is None or not trains_teachers(config):
        return None
    priors = learn_priors(config, f"alignments-priors-{config.pair}", merge_corpus)
    fetched = fetch_alignments(config, "parallel", merge_corpus)
    aligned = fetched or align_in_chunks(config, "original", merge_corpus, priors)
    return replace(aligned, priors=priors)


@stage(group="teacher")
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


@stage(group="student")
def alignments_student(
    config: TrainingConfig, cefilter: Corpus, alignments_original: Aligned | None
) -> Aligned:
    """The distilled corpus tokenised by ICU, with word alignments that guide the student's attention.

    It is split, aligned, collected, with the priors of the parallel corpus, or its own where that was not
    aligned; they come with it. Tokens and alignments are fetched where an earlier run's are given.
    """
    fetched = fetch_alignments(config, "distillation", cefilter)
    if fetched:
        return fetched
    priors = alignments_original.priors if alignments_original else None
    if priors is None:
        priors = learn_priors(config, f"alignments-priors-student-{config.pair}", cefilter)
    return replace(align_in_chunks(config, "student", cefilter, priors), priors=priors)


@stage(group="student")
def shortlist(config: TrainingConfig, cefilter: Corpus, train_vocab: Vocab) -> Output | None:
    """The lexical shortlist: the likeliest target pieces of every source piece, by an alignment of pieces.

    Of the text as the student reads it, in upper case and with typing errors, too.
    """
    if config.experiment.shortlist == "none":
        return None
    spoken = config.source
    listed = step(
        "pipeline.alignments.shortlist",
        label=f"shortlist-{config.pair}",
        args={
            **languages(config),
            "bicameral": spoken.bicameral,
            "phonemic": spoken.phonemic,
            "modifiers": modifier_shares(config),
        },
        inputs={
            "source_vocab": train_vocab.src,
            "target_vocab": train_vocab.trg,
            **cefilter.sides,
            "curriculum": RepoFile("pipeline/train/configs/curriculum/student.yml"),
        },
        outputs=("lex.s2t.zst", "stats.json"),
        worker="large-cpu",
        repeatable=False,
    )
    return listed["lex.s2t.zst"]
