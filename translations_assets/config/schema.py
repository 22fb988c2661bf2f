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
from translations_assets.config.experiment import Experiment
from translations_assets.config.final_evaluation import FinalEvaluation
from translations_assets.config.finetuning import Finetuning
from translations_assets.config.gates import Checks
from translations_assets.config.languages import Language, unknown
from translations_assets.config.own_languages import OwnLanguage, spoken
from translations_assets.config.section import (
    FROM_LIST,
    InJsonSchema,
    NotEmpty,
    Section,
    Texts,
    default,
)
from translations_assets.config.stage_names import is_known, known_names, resolve_stage, spellings
from translations_assets.config.text import table
from translations_assets.config.translators import Translators
from translations_assets.config.yaml_reader import Found, KeyPath, at, has

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
StageName: TypeAlias = Annotated[
    str, AfterValidator(_stage_name), "stage", InJsonSchema(lambda: {"enum": spellings(known_names())})
]
WorkerKind: TypeAlias = Annotated[str, AfterValidator(_worker_kind)]
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
