"""The config section `experiment`: the models to train, and how to train them."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, model_validator

from translations_assets.config.cleaning import (
    Bicleaner,
    DocumentScores,
    Fluency,
    Merging,
    Monocleaner,
    MonoLimits,
    Sentences,
    Threshold,
)
from translations_assets.config.section import (
    InJsonSchema,
    LanguageCode,
    Section,
    default,
    formed,
)
from translations_assets.config.translators import Mix

EXPERIMENT_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"

LICENCE = "[a-z0-9][a-z0-9.-]*"
Licence: TypeAlias = Annotated[
    str,
    formed(LICENCE, "must be written as the Hugging Face hub writes it, such as cc-by-4.0, and {!r} is not"),
    InJsonSchema(lambda: {"pattern": f"^{LICENCE}$"}),
]
ExperimentName: TypeAlias = Annotated[
    str,
    formed(EXPERIMENT_NAME, "must consist of letters, digits, '.', '_' and '-', and {!r} does not"),
    InJsonSchema(lambda: {"pattern": f"^{EXPERIMENT_NAME}$"}),
]
Identification: TypeAlias = Literal["auto", "heliport", "glotlid", "openlid-v3", "nllb", "fasttext"]


class Selection(Section):
    """Which of the teachers' n best translations of a line the student learns from."""

    corpus: Literal["reference", "mbr", "qe"] = default(
        "reference", "of parallel text: the nearest to the reference by chrF, or as `mbr` and `qe` below"
    )
    mono: Literal["likeliest", "mbr", "qe"] = default(
        "likeliest",
        "of monolingual text: the likeliest, the nearest to all others by chrF (minimum Bayes risk), or the "
        "one with the least error by `metricx`",
    )


class Modifiers(Section):
    """Shares of the lines that OpusTrainer changes in the training of teachers and students.

    What is left out is as in the curricula (pipeline/train/configs/curriculum).
    """

    upper_case: Threshold | None = default(None, "share of lines in upper case; none: as in the curriculum")
    title_case: Threshold | None = default(None, "share of lines in title case; none: as in the curriculum")
    typos: Threshold | None = default(None, "share of lines with typing errors; none: as in the curriculum")


class Seeds(Section):
    """What trainings draw by: first weights, the order of the text, errors put into it."""

    backwards: int = default(1111, "of the backwards model", ge=1)
    teacher: int = default(1, "of the first teacher; each further one has the next number", ge=1)
    student: int = default(1111, "of the student, also where it is finetuned", ge=1)


class Experiment(Section):
    """The models to train, and how to train them."""

    name: ExperimentName = Field(description="a name for people")
    src: LanguageCode = Field(description="source language, such as `en`, `zh_hant`")
    trg: LanguageCode = Field(description="target language")
    licence: Licence | None = default(
        None, "licence under which the models are published, as the Hugging Face hub writes it: `cc-by-4.0`"
    )
    best_model: Literal["chrf", "ce-mean-words", "bleu-detok"] = default(
        "chrf", "the metric by which the best checkpoint is chosen"
    )
    opuscleaner_mode: Literal["custom", "defaults", "upstream", "legacy"] = default(
        "custom", "filters by dataset and pair, the same for all, Mozilla's filters, or those of 2024"
    )
    language_identification: Identification = default(
        "auto",
        "language identifier: HeLI-OTS, offline, with GlotLID (1.7 GB) for languages that it cannot separate "
        "or lacks; one for all; or upstream's models (`fasttext`)",
    )
    archive_corpora: bool = default(True, "archive the aligned corpora")
    bicleaner: Bicleaner = default({}, "filter of parallel text by a classifier")
    monocleaner: Monocleaner = default({}, "filter of monolingual text by fluency")
    merging: Merging = default({}, "how datasets become one text")
    mono_max_sentences_src: MonoLimits = default({}, "limits of source text")
    mono_max_sentences_trg: MonoLimits = default({}, "limits of target text")
    corpus_max_sentences: Sentences | None = default(None, "limit of the parallel corpus; none when left out")
    dev_max_sentences: Sentences | None = default(None, "limit of the validation set; none when left out")
    hplt_min_doc_score: DocumentScores = default({}, "least score of documents of HPLT 2.0 and 3.0")
    hplt_min_fluency: Fluency = default({}, "least fluency of lines of HPLT 1.2")
    spm_sample_size: Sentences = default(10_000_000, "sentences the vocabulary is trained on")
    spm_vocab_size: int = default(32000, "pieces in a vocabulary", gt=0, multiple_of=8)
    spm_vocab_split: bool = default(False, "a vocabulary for each language, in place of a joint one")
    spm_norm_rule: Literal["nmt_nfkc", "nfkc", "nfc", "nfd", "nfkc_translit_hbs"] = default(
        "nmt_nfkc", "normalisation by SentencePiece; the last: NFKC, with Serbian Cyrillic as Latin letters"
    )
    modifiers: Modifiers = default({}, "how much of the training text OpusTrainer changes")
    teacher: Mix | None = default(
        None, "translate with this in place of teachers that are trained: a translator, or several by shares"
    )
    backwards: Mix | None = default(None, "translate back with this in place of a model that is trained")
    seeds: Seeds = default({}, "seeds of the trainings")
    teacher_ensemble: int = default(1, "number of teachers", ge=1, le=9)
    teacher_mode: Literal["one-stage", "two-stage"] = default(
        "two-stage", "mix back-translations in throughout, or finetune on the corpus alone"
    )
    teacher_decoder: Literal["marian", "ctranslate2"] = default("marian", "decoder of the teachers")
    backwards_decoder: Literal["marian", "ctranslate2"] = default(
        "marian", "decoder of the backwards model where it translates back; scores are Marian's"
    )
    sampled_backtranslations: Threshold = default(
        0.0, "share of back-translations that are sampled, where the others are the likeliest by beam search"
    )
    selection: Selection = default({}, "choice among the teachers' translations")
    filter: Literal["ce", "qe", "none"] = default(
        "ce",
        "filter of the distilled corpus: without what the backwards model finds least likely, without what "
        "`metricx` estimates the most errors in, or none; none where `teacher` or `backwards` is given and "
        "this is not",
    )
    student_model: Literal["tiny", "base", "base-memory"] = default(
        "base-memory", "architecture of the student"
    )
    shortlist: Literal["lexical", "none"] = default(
        "lexical", "shortlist of the student: lexical, or none, which newer engines support"
    )
    shortlist_best: int = default(50, "target pieces that a source piece allows", ge=1, le=200)
    shortlist_frequent: int = default(
        50, "frequent target pieces that are always allowed, besides all symbols and bytes", ge=0
    )
    export_intgemm8: bool = default(
        False, "export `model.*.intgemm8.bin` as well, for engines that compute multipliers themselves"
    )

    @model_validator(mode="before")
    @classmethod
    def _unfiltered(cls, given: object) -> object:
        """Where translators are given, no backwards model is asked for, which the filter would need."""
        if isinstance(given, dict) and (given.get("teacher") or given.get("backwards")):
            return {"filter": "none", **given}
        return given
