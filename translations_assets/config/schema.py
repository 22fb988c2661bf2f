"""The training config's schema: every key of the 2026 generation, with the production defaults.

Keys are hyphenated in YAML (`spm-vocab-size`) and have underscores in Python (`spm_vocab_size`). Types are
strict ("1000" is no number), unknown keys are refused, and a config cannot be changed once it is read.
What concerns several keys at once is checked in `checks.py`; errors are put into words in `load.py`.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field, PlainSerializer, PlainValidator, model_validator

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
from translations_assets.config.continuation import Continuation
from translations_assets.config.datasets import (
    ALIAS,
    MONO_KEY,
    PARALLEL_KEY,
    Dataset,
    check_mono,
    check_parallel,
    numbered,
    written,
)
from translations_assets.config.distillation import Distillation
from translations_assets.config.documents import Documents
from translations_assets.config.errors import suggestion
from translations_assets.config.evaluation import Evaluation, MetricXModel
from translations_assets.config.final_evaluation import FinalEvaluation
from translations_assets.config.finetuning import Finetuning
from translations_assets.config.gates import Checks
from translations_assets.config.languages import Language, unknown
from translations_assets.config.own_languages import OwnLanguage, spoken
from translations_assets.config.section import (
    FROM_LIST,
    InJsonSchema,
    LanguageCode,
    NotEmpty,
    Section,
    Texts,
    default,
    formed,
)
from translations_assets.config.stage_names import is_known, known_names, resolve_stage, spellings
from translations_assets.config.text import table
from translations_assets.config.translators import Mix, Translators
from translations_assets.config.yaml_reader import Found, KeyPath, at, has

EXPERIMENT_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"

MarianValue: TypeAlias = "str | int | float | bool | list[str | int | float | bool]"


def _stage_name(name: str) -> str:
    resolve_stage(name)
    return name


def _worker_kind(name: str) -> str:
    if name != "default" and not is_known(name):
        raise ValueError(f"{name!r} is neither 'default' nor a stage.{suggestion(name, known_names())}")
    return name


def _marian_option(name: str) -> str:
    if name.startswith("-"):
        raise ValueError(f"write options without dashes in front: {name.lstrip('-')}")
    return name


def _marian_value(value: object) -> MarianValue:
    """Marian's option values are kept as they are written: quoted, a number or a list."""
    scalars = value if isinstance(value, list) else [value]
    for scalar in scalars:
        if not isinstance(scalar, str | int | float) or (isinstance(scalar, float) and math.isinf(scalar)):
            raise ValueError("must be text, a number, true, false, or a list of those")
    return value  # type: ignore[return-value]


def _dataset_schema(pattern: str) -> dict[str, Any]:
    key = {"type": "string", "pattern": pattern}
    alias = {"type": "string", "pattern": ALIAS, "description": "the name in labels, results and thresholds"}
    named = {"dataset": {**key, "description": "the key"}, "alias": alias}
    mapping = {"type": "object", "properties": named, "required": [*named], "additionalProperties": False}
    return {"anyOf": [key, mapping]}


# A text among the annotations is what the reference page calls the type.
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
StageName: TypeAlias = Annotated[
    str, AfterValidator(_stage_name), "stage", InJsonSchema(lambda: {"enum": spellings(known_names())})
]
WorkerKind: TypeAlias = Annotated[str, AfterValidator(_worker_kind)]
Identification: TypeAlias = Literal["auto", "heliport", "glotlid", "openlid-v3", "nllb", "fasttext"]
ParallelDataset: TypeAlias = Annotated[
    Dataset,
    PlainValidator(check_parallel),
    PlainSerializer(written),
    InJsonSchema(lambda: _dataset_schema(PARALLEL_KEY)),
]
MonoDataset: TypeAlias = Annotated[
    Dataset,
    PlainValidator(check_mono),
    PlainSerializer(written),
    InJsonSchema(lambda: _dataset_schema(MONO_KEY)),
]
Parallel: TypeAlias = Annotated[
    tuple[ParallelDataset, ...], FROM_LIST, AfterValidator(numbered), "list of datasets"
]
Mono: TypeAlias = Annotated[tuple[MonoDataset, ...], FROM_LIST, AfterValidator(numbered), "list of datasets"]
MarianOptions: TypeAlias = Mapping[
    Annotated[str, AfterValidator(_marian_option)], Annotated[MarianValue, PlainValidator(_marian_value)]
]


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
    teacher_ensemble: int = default(1, "number of teachers, seeds 1 to N", ge=1, le=9)
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


class Datasets(Section):
    """The datasets, by what they are used for."""

    train: Parallel = default((), "parallel text to train on; needed unless a corpus is continued")
    devtest: NotEmpty[Parallel] = Field(description="parallel text to validate on while training")
    test: Parallel = Field(description="parallel text that every model is evaluated on")
    finetune: Parallel = default((), "better parallel text, for `finetuning.models` at the end")
    mono_src: Mono = default((), "source text for the teacher to translate")
    mono_trg: Mono = default((), "target text to translate back")


PRODUCTION_OPTIONS: Mapping[str, Mapping[str, str]] = table(__file__, "marian_rules.yml")["production"]


def _options(section: str, of: str) -> Any:
    return default(PRODUCTION_OPTIONS[section], f"options of Marian, without `--`, for {of}")


class MarianArgs(Section):
    """Options of Marian that override the training and decoding configs; values are kept as they are written.

    A section that a config gives is laid over the production options, option by option; but the student's
    takes their place, as upstream's does.
    """

    training_backward: MarianOptions = _options("training-backward", "training the backwards model")
    training_teacher: MarianOptions = _options("training-teacher", "training teachers")
    training_student: MarianOptions = _options("training-student", "training the student")
    training_student_finetuned: MarianOptions = _options(
        "training-student-finetuned", "finetuning the student, whose shape it keeps"
    )
    training_on_finetune: MarianOptions = _options(
        "training-on-finetune", "training on `datasets.finetune`, over those of the model's own training"
    )
    decoding_backward: MarianOptions = _options("decoding-backward", "translating back")
    decoding_teacher: MarianOptions = _options("decoding-teacher", "translating with the teachers")

    @model_validator(mode="before")
    @classmethod
    def _over_production(cls, given: object) -> object:
        if not isinstance(given, dict):
            return given
        return {
            name: {**_laid_under(name), **options} if isinstance(options, dict) else options
            for name, options in given.items()
        }


def _laid_under(section: str) -> Mapping[str, str]:
    """The production options that a section keeps when a config gives it.

    For the student's none: they are a patience of 15, where a config that gives the section without
    `early-stopping` means, here and upstream, the 20 of the training config.
    """
    return {} if section == "training-student" else PRODUCTION_OPTIONS.get(section, {})


class Taskcluster(Section):
    """Division of the work into parts, and the machines that run it."""

    split_chunks: int = default(
        20,
        "parts in which a text is translated, scored and aligned; one for two million lines is enough",
        ge=1,
        le=1000,
    )
    upload_bucket: Literal["development", "production"] = default("production", "bucket for artifacts")
    worker_classes: Mapping[WorkerKind, Literal["gcp-spot", "gcp-standard"]] = default(
        {}, "worker classes, by stage or `default`; otherwise the deployment's"
    )

    def machine(self, stage: str) -> str:
        """The kind of machine that is asked for a stage, `spot` or `standard`; empty when none is."""
        asked = {
            name: machine.removeprefix("gcp-")
            for kind, machine in self.worker_classes.items()
            for name in ([kind] if kind == "default" else resolve_stage(kind))
        }
        return asked.get(stage) or asked.get("default", "")


class TrainingConfig(Section):
    """A training config: everything that a training run is, but the code."""

    experiment: Experiment = Field(description="what is trained, and how")
    datasets: Datasets = Field(description="the datasets, by what they are used for")
    documents: Documents = default({}, "neighbouring lines as one, for models that translate more at a time")
    distillation: Distillation = default({}, "the text that the student learns from")
    finetuning: Finetuning = default({}, "training on `datasets.finetune` at the end")
    marian_args: MarianArgs = default({}, "options of Marian, by model and task")
    checks: Checks = default({}, "levels and thresholds of the quality gates")
    evaluation: Evaluation = default({}, "metrics that need a model, and paragraphs")
    metricx: MetricXModel = default({}, "the model of MetricX-24, where it evaluates, selects or filters")
    final_evaluation: FinalEvaluation | None = default(
        None, "compare the exported student with the model that Firefox ships, and with others"
    )
    target_stage: StageName = default("evaluate-teacher", "the stage to run up to; `all` for all")
    wandb_publication: bool = default(
        False,
        "send curves to Weights & Biases while trainings run, scores and machine use at the end, with a key",
    )
    languages: Mapping[str, OwnLanguage] = default(
        {}, "what is to be known of a language of the pair, by its code, in place of what is known"
    )
    translators: Translators = default({}, "what can translate without being trained here, by name")
    continuation: Continuation = default({}, "what is taken from an earlier run")
    taskcluster: Taskcluster = default({}, "how work is divided")
    start_stage: StageName | None = default(None, "one launch: the stage to run again from")
    start_task_prefix: str | None = default(None, "one launch: labels of steps to run again from")
    previous_group_ids: Texts = default((), "one launch: runs to take finished steps from")

    @property
    def pair(self) -> str:
        """The language pair, with which partition keys begin and labels end: `en-ru`."""
        return f"{self.experiment.src}-{self.experiment.trg}"

    @property
    def source(self) -> Language:
        """The source language."""
        return self.spoken(self.experiment.src)

    @property
    def target(self) -> Language:
        """The target language."""
        return self.spoken(self.experiment.trg)

    def spoken(self, code: str) -> Language:
        """The language of a code; raises ConfigError when it is unknown."""
        found = spoken(code, self.languages)
        if found is None:
            raise unknown(code)
        return found

    @property
    def digest(self) -> str:
        """SHA-256 of the config with its defaults; order of keys, comments and formatting change nothing."""
        return config_digest(self.model_dump(mode="json", by_alias=True))


def config_digest(values: Mapping[str, Any]) -> str:
    """The digest of a config by its values with all defaults."""
    return hashlib.sha256(json.dumps(values, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


# Each key with the values that ask for nothing, and so have the effect they should have.
UNUSED: Mapping[KeyPath, tuple[Any, ...]] = {
    ("experiment", "archive-corpora"): (False,),
    ("taskcluster", "upload-bucket"): (),
    ("start-stage",): (None,),
    ("start-task-prefix",): (None, ""),
    ("previous-group-ids",): ([], {}),
}
# What describes one launch of a run; the command line and the UI ask for it.
_LAUNCH: Mapping[KeyPath, str] = {
    ("start-stage",): "--start",
    ("start-task-prefix",): "--start",
    ("previous-group-ids",): "--previous-run",
}


def without_effect(config: Mapping[str, Any]) -> Found:
    """The keys that a config, as it was read, sets and that change nothing here, and what to do instead.

    Values that ask for nothing (`archive-corpora: false`) are honoured.
    """
    for path, idle in UNUSED.items():
        if not has(config, path) or at(config, path) in idle:
            continue
        if option := _LAUNCH.get(path):
            how = f"it describes one launch; give {option} to `translations train`, or in the UI"
            yield path, f"has no effect: {how}"
        else:
            yield path, "has no effect in this version"
