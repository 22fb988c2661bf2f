"""The config section `translators`: what can translate without being trained here, and its checks.

A translator is a teacher (`experiment.teacher`), translates back (`experiment.backwards`), is compared with
the student (`final-evaluation.translators`), or judges (`evaluation.judge`), by its name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field

from translations_assets.config.errors import suggestion
from translations_assets.config.evaluation import JUDGE
from translations_assets.config.model_names import OTHERS, TEACHERS
from translations_assets.config.section import (
    Commit,
    HubName,
    InJsonSchema,
    LanguageCode,
    NotEmpty,
    Section,
    Texts,
    Url,
    Urls,
    default,
    formed,
)
from translations_assets.config.yaml_reader import Found, KeyPath, at, mapping_at

SECTION = "translators"
FORMS = ("endpoint", "marian", "hugging-face", "opus-mt", "firefox", "google", "microsoft", "pivot")
BOTH_WAYS = ("endpoint", "google", "microsoft")  # forms without a direction of their own
NAME = r"[A-Za-z0-9][A-Za-z0-9.-]*"
CONVERTED = ("hugging-face", "opus-mt")  # forms that CTranslate2 runs
LEGS = ("first", "second")  # of a pivot
BACKWARDS = ("experiment", "backwards")
# Keys of a request that the pipeline sets itself
OWN_OPTIONS = ("model", "messages", "n", "stream")


def _own_name(name: str) -> str:
    if name in OTHERS or name.startswith(TEACHERS):
        raise ValueError(f"{name!r} is the name of another model; give this one another")
    return name


ModelName: TypeAlias = Annotated[
    str,
    formed(NAME, "must consist of letters, digits, '.' and '-', and {!r} does not"),
    AfterValidator(_own_name),
    InJsonSchema(lambda: {"pattern": f"^{NAME}$"}),
]
ServiceName: TypeAlias = Annotated[
    str, formed("[A-Z][A-Z0-9_]*", "must consist of capital letters, digits and '_', and {!r} does not")
]
Share: TypeAlias = Annotated[float, Field(gt=0)]
# The name of one translator, or the shares of several
Mix: TypeAlias = Annotated[
    Mapping[str, Share],
    BeforeValidator(lambda given: {given: 1.0} if isinstance(given, str) else given),
    "translator, or shares by translator",
    InJsonSchema(
        lambda: {
            "anyOf": [
                {"type": "string"},
                {"type": "object", "additionalProperties": {"type": "number", "exclusiveMinimum": 0}},
            ]
        }
    ),
]


class Endpoint(Section):
    """A model behind an interface as OpenAI's: vLLM, llama.cpp, a vendor."""

    model: str = Field(description="model as the service knows it: `Qwen/Qwen3-32B`")
    service: ServiceName = default(
        "OPENAI", "name of the service, whose address is in `NAME_BASE_URL` and whose key in `NAME_API_KEY`"
    )
    prompt: str | None = default(None, "file with the prompt; none: the pipeline's")
    examples: str | None = default(None, "file with examples: a sentence, a tab, its translation")
    lines: int = default(10, "sentences a request", ge=1, le=100)
    candidates: int = default(
        1,
        "translations of each sentence to ask for, from which `experiment.selection` takes one",
        ge=1,
        le=32,
    )
    options: Mapping[str, Any] = default({}, "more keys of each request, such as `temperature`")


class MarianModels(Section):
    """Models of Marian, several as an ensemble; they share their vocabularies."""

    urls: NotEmpty[Urls] = Field(description="a folder's URL for each model")


class HuggingFaceModel(Section):
    """A sequence-to-sequence model of the Hugging Face hub, which CTranslate2 runs."""

    model: HubName = Field(description="its name on the hub: `Helsinki-NLP/opus-mt-en-ru`")
    revision: Commit = Field(description="the whole commit of the hub's repository, 40 digits")
    source_prefix: Texts = default((), "tokens before a sentence, such as its language")
    target_prefix: Texts = default((), "tokens that a translation begins with, such as its language")


class OpusMtModel(Section):
    """A model of OPUS-MT in Marian's form, as OPUS-MT releases it; CTranslate2 runs it."""

    url: Url = Field(description="URL of its archive, or of a folder")
    source_prefix: Texts = default((), "tokens before a sentence, such as `>>rus<<`")


class FirefoxModels(Section):
    """The models that Firefox ships: one for a pair with English, else two, by way of English."""


class Commercial(Section):
    """A translation service that is paid by characters."""

    lines: int = default(20, "sentences a request", ge=1, le=100)


class Pivot(Section):
    """Two translators, one after the other, by way of another language."""

    via: LanguageCode = Field(description="the language between the two: `en`")
    first: str = Field(description="name of the translator from the source language")
    second: str = Field(description="name of the translator into the target language")


class Translator(Section):
    """A translator in one of its forms."""

    endpoint: Endpoint | None = default(None, "a model behind an interface as OpenAI's")
    marian: MarianModels | None = default(None, "models of Marian")
    hugging_face: HuggingFaceModel | None = default(None, "a model of the Hugging Face hub")
    opus_mt: OpusMtModel | None = default(None, "a model of OPUS-MT in Marian's form")
    firefox: FirefoxModels | None = default(None, "the models that Firefox ships; write `firefox: {}`")
    google: Commercial | None = default(None, "Google's Cloud Translation; write `google: {}`")
    microsoft: Commercial | None = default(None, "Microsoft's Translator; write `microsoft: {}`")
    pivot: Pivot | None = default(None, "two others by way of a third language")
    licence: str | None = default(None, "of what it writes, for the model's card; it may bind the student")

    @property
    def form(self) -> str:
        """The key of its form."""
        return next(form for form in FORMS if getattr(self, form.replace("-", "_")) is not None)

    @property
    def legs(self) -> Sequence[str]:
        """The names of the translators of a pivot; empty for other forms."""
        return (self.pivot.first, self.pivot.second) if self.pivot else ()

    @property
    def identity(self) -> str:
        """The model, for people: `Helsinki-NLP/opus-mt-en-ru at 5d7e4f3`."""
        if self.hugging_face:
            return f"{self.hugging_face.model} at {self.hugging_face.revision}"
        if self.endpoint:
            return self.endpoint.model
        if self.opus_mt:
            return self.opus_mt.url
        if self.pivot:
            return f"{self.pivot.first} and {self.pivot.second} by way of {self.pivot.via}"
        if self.firefox:
            return "the models that Firefox ships"
        if self.google or self.microsoft:
            return f"the service of {self.form.title()}"
        return ", ".join(self.marian.urls) if self.marian else ""


Translators: TypeAlias = Mapping[ModelName, Translator]


def check_translators(config: Mapping[str, Any]) -> Found:
    """The key path and message of every problem in `translators`, and with their names elsewhere."""
    names = [str(name) for name in mapping_at(config, (SECTION,))]
    for name in names:
        yield from _check_one(mapping_at(config, (SECTION, name)), (SECTION, name))
        yield from _check_pivot(config, (SECTION, name, "pivot"))
    for path, name in named(config):
        if name not in names:
            there = f"Allowed: {', '.join(names)}" if names else f"The section {SECTION} has none"
            yield path, f"{name!r} is no translator.{suggestion(name, names)} {there}"
    yield from _both_ways(config)
    yield from _too_many_teachers(config)


def _check_one(translator: Mapping[str, Any], path: KeyPath) -> Found:
    forms = [form for form in FORMS if translator.get(form) is not None]
    if len(forms) != 1:
        yield path, f"needs one form of {', '.join(FORMS)}, and has {' and '.join(forms) or 'none'}"
    options = mapping_at(translator, ("endpoint", "options"))
    for name in options:
        if name in OWN_OPTIONS:
            yield (*path, "endpoint", "options", name), "is set by the pipeline; remove it"
    try:
        json.dumps(dict(options))
    except (TypeError, ValueError):
        yield (*path, "endpoint", "options"), "must be as JSON has it: texts, numbers, lists and mappings"


def _check_pivot(config: Mapping[str, Any], path: KeyPath) -> Found:
    """A pivot goes by way of a third language, through two translators that are no pivots."""
    via = at(config, (*path, "via"))
    if via is not None and via in (at(config, ("experiment", side)) for side in ("src", "trg")):
        yield (*path, "via"), f"{via!r} is a language of the pair; name a third one"
    for key in LEGS:
        leg = at(config, (*path, key))
        if isinstance(leg, str) and at(config, (SECTION, leg, "pivot")) is not None:
            yield (*path, key), f"{leg!r} is a pivot itself; name a translator of another form"


def _both_ways(config: Mapping[str, Any]) -> Found:
    """A model of one direction that is to translate in both."""
    forwards = {name for path, name in named(config) if path[:2] != BACKWARDS and path[0] != SECTION}
    for path, name in named(config):
        translator = mapping_at(config, (SECTION, name))
        if path[:2] == BACKWARDS and name in forwards and translator.keys().isdisjoint(BOTH_WAYS):
            yield path, f"{name!r} also translates into the target language; give this direction its own name"


def _too_many_teachers(config: Mapping[str, Any]) -> Found:
    """Two answers to who translates."""
    for key, continued in (("teacher", "teacher"), ("backwards", "backwards")):
        path = ("experiment", key)
        if at(config, path) and at(config, ("continuation", "models", continued)):
            yield path, f"takes the place of continuation.models.{continued}, which is given too; remove one"


def remarks(config: Mapping[str, Any]) -> Found:
    """Warn about translators that are valid but may not be meant."""
    used = {name for _, name in named(config)}
    for name in mapping_at(config, (SECTION,)):
        path = (SECTION, name)
        if name not in used:
            yield path, "is not used: no teacher, no backwards model, no judge, and in no final-evaluation"
        endpoint = mapping_at(config, (*path, "endpoint"))
        several = isinstance(endpoint.get("candidates"), int) and endpoint["candidates"] > 1
        if several and at(endpoint, ("options", "temperature")) == 0:
            yield (*path, "endpoint", "options", "temperature"), "0 makes all candidates the same"
    if at(config, ("experiment", "backwards")) and not at(config, ("datasets", "mono-trg")):
        yield ("experiment", "backwards"), "is not used: datasets.mono-trg has nothing to translate back"


def named(config: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    """The names of translators that a config uses, with their paths; those of pivots last."""
    for key in ("teacher", "backwards"):
        path: KeyPath = ("experiment", key)
        given = at(config, path)
        if isinstance(given, Mapping):
            yield from (((*path, str(name)), str(name)) for name in given)
        elif isinstance(given, str):
            yield path, given
    if isinstance(judge := at(config, JUDGE), str):
        yield JUDGE, judge
    compared = at(config, ("final-evaluation", SECTION))
    for number, name in enumerate(compared if isinstance(compared, list | tuple) else ()):
        yield ("final-evaluation", SECTION, number), str(name)
    for pivot in mapping_at(config, (SECTION,)):
        legs = mapping_at(config, (SECTION, pivot, "pivot"))
        yield from (((SECTION, pivot, "pivot", key), str(legs[key])) for key in LEGS if legs.get(key))


def converted(config: Mapping[str, Any], model: str) -> Iterator[str]:
    """The translators that CTranslate2 runs in the place of a model (`teacher`, `backwards`), also as legs.

    Those that are compared translate as teachers do.
    """
    roles = {"teacher": (("experiment", "teacher"), ("final-evaluation", SECTION)), "backwards": (BACKWARDS,)}
    for path, name in named(config):
        if path[:2] in roles[model]:
            legs = mapping_at(config, (SECTION, name, "pivot"))
            for one in (name, *(str(legs.get(key)) for key in LEGS)):
                if any(at(config, (SECTION, one, form)) is not None for form in CONVERTED):
                    yield one
