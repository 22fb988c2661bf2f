"""Translators that the config names: fetched, converted, and asked for the translation of a text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from translations_assets.common.errors import GraphError
from translations_assets.config.languages import Language
from translations_assets.config.schema import TrainingConfig
from translations_assets.config.translators import Commercial, Endpoint, HuggingFaceModel, OpusMtModel, Pivot
from translations_assets.graph.stage import stage, step
from translations_assets.graph.step import Arg, Input, LocalFile, Output, RepoFile
from translations_assets.stages.continuation import (
    DOWNLOAD_ATTEMPTS,
    back_translates,
    distils,
    fetch_model,
    url_secrets,
)
from translations_assets.stages.firefox import fetch_released, translate_in_engine
from translations_assets.stages.handles import (
    CONVERTED_FILES,
    CUDA,
    DECODING_CONFIGS,
    RESUMED_ATTEMPTS,
    Model,
    marian_args,
)
from translations_assets.stages.hub import fetch_from_hub
from translations_assets.stages.languages import Identifying

Direction = Literal["backward", "teacher"]
Company = Literal["google", "microsoft"]

# The variables with a service's key and address, and what else it wants
COMMERCIAL_SECRETS: Mapping[Company, tuple[str, ...]] = {
    "google": ("GOOGLE_API_KEY", "GOOGLE_BASE_URL"),
    "microsoft": ("MICROSOFT_API_KEY", "MICROSOFT_BASE_URL", "MICROSOFT_REGION"),
}
PROMPT = RepoFile(f"{DECODING_CONFIGS}/prompts/endpoint.yml")
SAMPLING = {"beam-size": 1, "output-sampling": ["full", 1.0]}
ENGLISH = "en"  # by way of which Firefox translates pairs without it
TOKENS = "tokens.json"  # of a model of the hub: what stands around its sentences


@dataclass(frozen=True)
class Decoder:
    """What translates: models of Marian, one in CTranslate2's form or Firefox's, a service, or two of these.

    lists    whether it can give several translations of a line
    sampled  whether models draw each piece at random, by its likelihood
    legs   those that translate one after the other
    """

    models: Sequence[Model] = ()
    converted: Model | None = None
    packed: Output | None = None
    endpoint: Endpoint | None = None
    commercial: tuple[Company, Commercial] | None = None
    lists: bool = True
    sampled: bool = False
    legs: Sequence[Leg] = ()


@dataclass(frozen=True)
class Leg:
    """A decoder, and the languages between which it translates."""

    decoder: Decoder
    src: Language
    trg: Language


Decoders: TypeAlias = "dict[str, Decoder]"
Fetched: TypeAlias = "dict[tuple[str, str, str], Decoder]"  # by name, source and target language
# Decoders with their shares of a text
Shares: TypeAlias = "Sequence[tuple[Decoder, float]]"


@stage(group="teacher")
def fetch_translators(config: TrainingConfig) -> Decoders:
    """The translators that the config names as teachers, to translate back, or to compare with.

    Models are fetched, those of the Hugging Face hub converted for CTranslate2; of a service there is
    nothing to fetch. Nothing to do where the config names none.
    """
    src, trg = config.experiment.src, config.experiment.trg
    turned = set(config.experiment.backwards or ()) if back_translates(config) else set()
    used = {*(config.experiment.teacher or ())} if distils(config) else set()
    used |= turned | {*(config.final_evaluation.translators if config.final_evaluation else ())}
    fetched: Fetched = {}
    return {
        name: _fetch(config, fetched, name, *((trg, src) if name in turned else (src, trg)))
        for name in config.translators
        if name in used
    }


def _fetch(config: TrainingConfig, fetched: Fetched, name: str, src: str, trg: str) -> Decoder:
    """The translator of a name from one language to the other; fetched once, though pivots may share it."""
    key = name, src, trg
    if key not in fetched:
        fetched[key] = _decoder(config, fetched, name, src, trg)
    return fetched[key]


def _decoder(config: TrainingConfig, fetched: Fetched, name: str, src: str, trg: str) -> Decoder:
    translator = config.translators[name]
    if translator.endpoint:
        return Decoder(endpoint=translator.endpoint, lists=translator.endpoint.candidates > 1)
    if translator.google:
        return Decoder(commercial=("google", translator.google), lists=False)
    if translator.microsoft:
        return Decoder(commercial=("microsoft", translator.microsoft), lists=False)
    if translator.hugging_face:
        return Decoder(converted=_from_hub(f"{name}-{src}-{trg}", translator.hugging_face))
    if translator.opus_mt:
        return Decoder(converted=_from_opus_mt(f"{name}-{src}-{trg}", translator.opus_mt))
    if translator.firefox and ENGLISH not in (src, trg):
        return _pivot(config, fetched, Pivot(via=ENGLISH, first=name, second=name), src, trg)
    if translator.firefox:
        return Decoder(
            packed=fetch_released(f"fetch-{name}-{src}-{trg}", config.spoken(src), config.spoken(trg)),
            lists=False,
        )
    if translator.pivot:
        return _pivot(config, fetched, translator.pivot, src, trg)
    if translator.marian is None:
        raise GraphError(f"translators.{name} needs a form.")
    return Decoder(
        [
            fetch_model(config, f"{name}-{src}-{trg}-{number}", url, "use", src, trg)
            for number, url in enumerate(translator.marian.urls, start=1)
        ]
    )


def _pivot(config: TrainingConfig, fetched: Fetched, pivot: Pivot, src: str, trg: str) -> Decoder:
    for name in (pivot.first, pivot.second):
        if name not in config.translators or config.translators[name].pivot:
            raise GraphError(f"{name} is no translator of one step.")
    via = config.spoken(pivot.via)
    first = _fetch(config, fetched, pivot.first, src, pivot.via)
    second = _fetch(config, fetched, pivot.second, pivot.via, trg)
    before = first.legs or [Leg(first, config.spoken(src), via)]
    after = second.legs or [Leg(second, via, config.spoken(trg))]
    return Decoder(legs=[*before, *after], lists=second.lists)


def _from_hub(name: str, model: HuggingFaceModel) -> Model:
    fetched = fetch_from_hub(f"fetch-{name}", model.model, model.revision)
    converted = step(
        "pipeline.translate.convert_hugging_face",
        label=f"convert-{name}",
        args={
            "source_prefix": model.source_prefix or None,
            "target_prefix": model.target_prefix or None,
        },
        inputs={"model": fetched},
        outputs=(*CONVERTED_FILES, TOKENS, "stats.json"),
        worker="large-cpu",
    )
    return converted.folder(*CONVERTED_FILES, TOKENS)


def _from_opus_mt(name: str, model: OpusMtModel) -> Model:
    fetched = step(
        "pipeline.translate.fetch_opusmt",
        label=f"fetch-{name}",
        args={"url": model.url},
        outputs=("model.tar", "stats.json"),
        attempts=DOWNLOAD_ATTEMPTS,
        secrets=url_secrets([model.url]),
    )
    converted = step(
        "pipeline.translate.convert_opusmt",
        label=f"convert-{name}",
        args={"source_prefix": model.source_prefix or None},
        inputs={"model": fetched["model.tar"]},
        outputs=(*CONVERTED_FILES, TOKENS, "stats.json"),
    )
    return converted.folder(*CONVERTED_FILES, TOKENS)


def shares_of(mix: Mapping[str, float], decoders: Decoders) -> Shares:
    """The decoders of a mix, in the order in which it names them, with their shares, which sum up to 1."""
    total = sum(mix.values())
    return [(named(decoders, name), share / total) for name, share in mix.items()]


def named(decoders: Decoders, name: str) -> Decoder:
    """The decoder of a name. Raises GraphError when the config has no such translator."""
    if name not in decoders:
        raise GraphError(f"{name} is no name in translators.")
    return decoders[name]


def translate_text(
    config: TrainingConfig,
    decoder: Decoder,
    name: str,
    text: Output,
    direction: Direction,
    identifying: Identifying,
    nbest: bool = False,
) -> Output:
    """The translations of a text, or of each line several, as a list of n best.

    name         how labels end
    identifying  of the languages of answers; where a service gives no translation, the line is empty
    """
    between = config.source, config.target
    whole = Leg(decoder, *(between[::-1] if direction == "backward" else between))
    *before, last = decoder.legs or (whole,)
    for leg in before:
        called = f"{leg.src.code}-{leg.trg.code}-{name}"
        text = _translate(config, leg, called, text, direction, identifying, nbest=False)
    return _translate(config, last, name, text, direction, identifying, nbest)


def _translate(
    config: TrainingConfig,
    leg: Leg,
    name: str,
    text: Output,
    direction: Direction,
    identifying: Identifying,
    nbest: bool,
) -> Output:
    decoder = leg.decoder
    if decoder.endpoint:
        return _ask(decoder.endpoint, leg, name, text, identifying, nbest)
    if decoder.commercial:
        return _buy(*decoder.commercial, leg, name, text, identifying)
    if decoder.packed:
        return translate_in_engine(name, decoder.packed, text)
    options = config.marian_args
    args = options.decoding_backward if direction == "backward" else options.decoding_teacher
    output = "nbest.zst" if nbest else "translations.zst"
    converted = decoder.converted
    translated = step(
        "pipeline.translate.with_ctranslate2" if converted else "pipeline.translate.translate",
        label=f"translate-{name}",
        args={"marian_args": marian_args({**args, **SAMPLING} if decoder.sampled else args), "nbest": nbest},
        inputs={
            **({"model": converted, "cuda_lock": CUDA} if converted else {"models": decoder.models}),
            "text": text,
            "decoding_config": RepoFile(f"{DECODING_CONFIGS}/{direction}.yml"),
        },
        outputs=(output, "stats.json"),
        worker="gpu",
        resumable=True,
        repeatable=False,
        attempts=RESUMED_ATTEMPTS,
    )
    return translated[output]


def service_args(endpoint: Endpoint) -> dict[str, Arg]:
    """The arguments of a script that asks a service."""
    return {
        "service": endpoint.service,
        "model": endpoint.model,
        "lines": endpoint.lines,
        "options": json.dumps(dict(endpoint.options), sort_keys=True, ensure_ascii=False),
    }


def service_secrets(endpoint: Endpoint) -> tuple[str, ...]:
    """The variables with a service's address and key."""
    return (f"{endpoint.service}_BASE_URL", f"{endpoint.service}_API_KEY")


def _ask(
    endpoint: Endpoint, leg: Leg, name: str, text: Output, identifying: Identifying, nbest: bool
) -> Output:
    """Ask a service, which is paid for; judge its answers in a step of its own, which may run again."""
    src, trg = leg.src, leg.trg
    prompt: Input = LocalFile(endpoint.prompt, "prompt.yml") if endpoint.prompt else PROMPT
    examples = LocalFile(endpoint.examples, "examples.tsv") if endpoint.examples else None
    asked = step(
        "pipeline.translate.ask",
        label=f"ask-{name}",
        args={
            **service_args(endpoint),
            "src": src.name,
            "trg": trg.name,
            "candidates": endpoint.candidates,
        },
        inputs={"text": text, "prompt": prompt, "examples": examples},
        outputs=("answers.zst", "stats.json"),
        resumable=True,
        repeatable=False,
        attempts=RESUMED_ATTEMPTS,
        secrets=service_secrets(endpoint),
    )
    return _checked(leg, name, text, asked["answers.zst"], identifying, nbest)


def _buy(
    company: Company, commercial: Commercial, leg: Leg, name: str, text: Output, identifying: Identifying
) -> Output:
    """Ask a company's service, which is paid for; judge its answers in a step of its own."""
    src, trg = leg.src, leg.trg
    asked = step(
        "pipeline.translate.ask_commercial",
        label=f"ask-{name}",
        args={
            "service": company,
            "src": src.google if company == "google" else src.microsoft,
            "trg": trg.google if company == "google" else trg.microsoft,
            "lines": commercial.lines,
        },
        inputs={"text": text},
        outputs=("answers.zst", "stats.json"),
        resumable=True,
        repeatable=False,
        attempts=RESUMED_ATTEMPTS,
        secrets=COMMERCIAL_SECRETS[company],
    )
    return _checked(leg, name, text, asked["answers.zst"], identifying, nbest=False)


def _checked(
    leg: Leg, name: str, text: Output, answers: Output, identifying: Identifying, nbest: bool
) -> Output:
    """The translations in a service's answers."""
    src, trg = leg.src, leg.trg
    found = identifying.of_text(trg)
    output = "nbest.zst" if nbest else "translations.zst"
    checked = step(
        "pipeline.clean.check_answers",
        label=f"check-answers-{name}",
        args={
            "src_script": src.script,
            "trg_script": trg.script,
            "trg_labels": found.labels,
            "always": identifying.always,
            "nbest": nbest,
        },
        inputs={"answers": answers, "text": text, "language_model": found.model},
        outputs=(output, "stats.json"),
    )
    return checked[output]
