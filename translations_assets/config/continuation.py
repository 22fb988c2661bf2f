"""The config section `continuation`: models, data and vocabularies from an earlier run, and their checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from translations_assets.config.section import NotEmpty, Section, Url, Urls, default
from translations_assets.config.yaml_reader import Found, KeyPath, at, dotted, mapping_at

ContinuationMode = Literal["continue", "init", "use"]


class ContinuedVocab(Section):
    """Vocabularies of an earlier run."""

    src: Url = Field(description="URL of the source language's; the same as `trg` when it is joint")
    trg: Url = Field(description="URL of the target language's")


class ContinuedCorpus(Section):
    """A corpus of an earlier run."""

    src: Url = Field(description="URL of the source side, a sentence a line")
    trg: Url = Field(description="URL of the target side")
    tok_src: Url | None = default(None, "URL of the source side as tokens")
    tok_trg: Url | None = default(None, "URL of the target side as tokens")
    alignments: Url | None = default(None, "URL of the links between the tokens")


class ContinuedCorpora(Section):
    """Corpora of an earlier run."""

    parallel: ContinuedCorpus | None = default(None, "the merged corpus")
    backtranslations: ContinuedCorpus | None = default(None, "target text and its back-translation")
    distillation: ContinuedCorpus | None = default(None, "the distilled corpus")


class ContinuedTeacher(Section):
    """Teachers of an earlier run."""

    urls: NotEmpty[Urls] = Field(description="a folder's URL for each teacher")
    mode: ContinuationMode = Field(
        description="use the models, continue their training, or start from their weights"
    )
    type: Literal["default", "opusmt"] = default("default", "who made the models")


class ContinuedBackwards(Section):
    """The backwards model of an earlier run."""

    url: Url = Field(description="a folder's URL")
    mode: ContinuationMode = Field(
        description="use the model, continue its training, or start from its weights"
    )
    type: Literal["default", "opusmt"] = default("default", "who made the model")


class ContinuedStudent(Section):
    """A student of an earlier run, trained or exported, to begin from."""

    url: Url = Field(description="a folder's URL; an exported student's weights of 8 bits become floats")
    mode: Literal["init", "use"] = Field(
        description="train from its weights, in its shape, or take it as it is and train it on "
        "`datasets.finetune` alone; the run has its vocabulary"
    )


class ContinuedModels(Section):
    """Models of an earlier run."""

    teacher: ContinuedTeacher | None = default(None, "teachers")
    backwards: ContinuedBackwards | None = default(None, "the backwards model")
    student: ContinuedStudent | None = default(None, "a student to begin from")


class Continuation(Section):
    """Models, data and vocabularies that are taken from an earlier run."""

    vocab: ContinuedVocab | None = default(None, "vocabularies")
    corpora: ContinuedCorpora = default({}, "corpora")
    models: ContinuedModels = default({}, "models")


VOCAB: KeyPath = ("continuation", "vocab")
CORPORA = ("parallel", "backtranslations", "distillation")
WITH_ALIGNMENTS = ("tok-src", "tok-trg", "alignments")
TEACHER, BACKWARDS, STUDENT = (
    ("continuation", "models", name) for name in ("teacher", "backwards", "student")
)
MODELS = (TEACHER, BACKWARDS)
SHAPING = ("enc-", "dec-", "transformer-", "type", "dim-emb", "dim-rnn", "skip", "layer-normalization")
# as in pipeline.common.marian_options
TRAINED_FURTHER = ("continue", "init")


def check_continuation(config: Mapping[str, Any]) -> Found:
    """The key path and message of every problem in `continuation`, and with what it makes needless."""
    yield from _no_training_data(config)
    yield from _needless_datasets(config)
    yield from _teachers(config)
    yield from _alignments(config)
    yield from _vocabulary(config)
    yield from _vocabulary_of_student(config)
    yield from _shape_of_student(config)
    yield from _opusmt(config)


def remarks(config: Mapping[str, Any]) -> Found:
    """Warn about a continuation that is valid but may not be meant."""
    split = at(config, ("experiment", "spm-vocab-split")) is True
    src, trg = (at(config, (*VOCAB, side)) for side in ("src", "trg"))
    if split and src is not None and src == trg:
        yield (
            VOCAB,
            "both sides have the same file, so the vocabulary is joint, whatever spm-vocab-split says",
        )
    if not split and src != trg:
        yield VOCAB, "the sides have files of their own; these must be the same, or spm-vocab-split true"
    for path in (STUDENT, *MODELS):
        if at(config, (*path, "mode")) in TRAINED_FURTHER and not src:
            yield path, "no vocabulary is trained: it is this model's, as continuation.vocab is not given"
            break
    if at(config, STUDENT):
        yield (
            STUDENT,
            "the student has this model's shape; experiment.student-model is only what metadata.json calls "
            "it, so name the model's architecture there",
        )
    yield from _not_needed(config)


def _not_needed(config: Mapping[str, Any]) -> Found:
    """Name the keys that have no effect beside something else that is continued."""
    mono_trg: KeyPath = ("datasets", "mono-trg")
    backtranslations: KeyPath = ("continuation", "corpora", "backtranslations")
    if _corpus(config, "distillation"):
        needless = [backtranslations, ("continuation", "corpora", "parallel"), *MODELS]
        reason = "the student learns from continuation.corpora.distillation"
    elif at(config, (*TEACHER, "mode")) == "use":
        needless, reason = [backtranslations, mono_trg], "the teachers are taken as they are"
    elif at(config, backtranslations):
        needless, reason = [mono_trg], f"{dotted(backtranslations)} takes its place"
    elif at(config, ("experiment", "filter")) in ("none", "qe") and not at(config, mono_trg):
        needless, reason = [BACKWARDS], "nothing is translated back, and experiment.filter is not ce"
    else:
        return
    yield from ((path, f"is not used: {reason}") for path in needless if at(config, path))


def _corpus(config: Mapping[str, Any], name: str) -> Any:
    return at(config, ("continuation", "corpora", name))


def _no_training_data(config: Mapping[str, Any]) -> Found:
    datasets = at(config, ("datasets",))
    if isinstance(datasets, Mapping) and "train" not in datasets:
        finetuned = at(config, (*STUDENT, "mode")) == "use" and at(datasets, ("finetune",))
        if not (_corpus(config, "parallel") or _corpus(config, "distillation") or finetuned):
            yield ("datasets", "train"), "is missing"
    elif at(datasets, ("train",)) == []:
        yield ("datasets", "train"), "is empty; at least one is needed"


def _needless_datasets(config: Mapping[str, Any]) -> Found:
    needless = {"parallel": ("train",), "distillation": ("train", "mono-src", "mono-trg")}
    told = set()
    for corpus, categories in needless.items():
        for category in categories if _corpus(config, corpus) else ():
            if at(config, ("datasets", category)) and category not in told:
                told.add(category)
                message = f"would not be used, as continuation.corpora.{corpus} takes its place; remove one"
                yield ("datasets", category), message


def _teachers(config: Mapping[str, Any]) -> Found:
    path = ("continuation", "models", "teacher", "urls")
    urls, ensemble = at(config, path), at(config, ("experiment", "teacher-ensemble"))
    number = 1 if ensemble is None else ensemble
    if isinstance(urls, list) and urls and isinstance(number, int) and len(urls) != number:
        yield path, f"{len(urls)} URLs for {number} teachers (experiment.teacher-ensemble); give one for each"


def _alignments(config: Mapping[str, Any]) -> Found:
    for name in CORPORA:
        corpus = mapping_at(config, ("continuation", "corpora", name))
        given = [key for key in WITH_ALIGNMENTS if corpus.get(key)]
        for key in WITH_ALIGNMENTS if given and len(given) < len(WITH_ALIGNMENTS) else ():
            if key not in given:
                yield ("continuation", "corpora", name, given[0]), f"needs {key} as well, or must go"


def _vocabulary(config: Mapping[str, Any]) -> Found:
    if _corpus(config, "distillation") and not (at(config, VOCAB) or at(config, STUDENT)):
        message = "needs continuation.vocab: the vocabulary of the run that made it"
        yield ("continuation", "corpora", "distillation"), message


def _vocabulary_of_student(config: Mapping[str, Any]) -> Found:
    """Models with vocabularies of their own; one that is trained further would be refused after hours."""
    if not at(config, STUDENT) or at(config, VOCAB):
        return
    for path in MODELS:
        if at(config, (*path, "mode")) in TRAINED_FURTHER:
            message = (
                f"has a vocabulary of its own, and the run would have that of {dotted(STUDENT)}. If they are "
                "the same, give it as continuation.vocab; if not, write mode: use, or remove one of the two"
            )
            yield path, message


def _shape_of_student(config: Mapping[str, Any]) -> Found:
    """Options that Marian would build another model from, into which the weights do not fit."""
    options: KeyPath = ("marian-args", "training-student")
    for name in mapping_at(config, options) if at(config, STUDENT) else ():
        if str(name).startswith(SHAPING):
            yield (*options, name), f"shapes the student, which has the shape of {dotted(STUDENT)}; remove it"


def _opusmt(config: Mapping[str, Any]) -> Found:
    for path in MODELS:
        if at(config, (*path, "type")) == "opusmt":
            message = (
                "is for one model that is used as it is (mode: use), with a single URL; for several, name "
                "each in translators, and give experiment.teacher their shares"
            )
            yield (*path, "type"), message
