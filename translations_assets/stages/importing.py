"""Steps that import datasets: fetched from a provider, brought into one variant of Chinese, modified."""

from __future__ import annotations

from collections.abc import Iterable

from translations_assets.config.datasets import Dataset
from translations_assets.config.languages import Language, language
from translations_assets.config.providers import MONO, PARALLEL
from translations_assets.config.schema import TrainingConfig
from translations_assets.config.urls import login_variable
from translations_assets.graph.stage import step
from translations_assets.graph.step import Arg, Input
from translations_assets.stages.building import align, learn_priors
from translations_assets.stages.handles import Corpus, Mono, Side, corpus_files, corpus_of

DOWNLOAD_ATTEMPTS = 6  # with their pauses a minute, on top of what the scripts themselves try
HUB = "https://huggingface.co/"
ALIGNED = ("inline-noise", "mix", "mix-nocase", "mix-cjk")  # as in pipeline.data.modifiers
PRIORS_SAMPLE = 100_000  # pairs; a test set has fewer


def import_parallel(config: TrainingConfig, category: str, dataset: Dataset) -> Corpus:
    """A parallel dataset of a category: its last step has the dataset's label, earlier ones longer labels."""
    src, trg = config.experiment.src, config.experiment.trg
    provider = PARALLEL[dataset.provider]
    label = f"dataset-{category}-{dataset.short_name}-{src}-{trg}"
    chinese = _chinese_args(language(src), language(trg))
    fetched = step(
        f"pipeline.data.parallel_{dataset.provider}",
        label=f"{label}-unmodified" if chinese or dataset.augmentation else label,
        args={
            "dataset": dataset.name,
            "src": src,
            "trg": trg,
            "src_code": provider.code(dataset.name, language(src)),
            "trg_code": provider.code(dataset.name, language(trg)),
        },
        outputs=corpus_files(src, trg),
        attempts=DOWNLOAD_ATTEMPTS,
        secrets=provider.secrets or url_secrets([dataset.name]),
    )
    corpus = corpus_of(fetched, src, trg, dataset)
    if chinese:
        one_variant = step(
            "pipeline.data.chinese_parallel",
            label=f"{label}-chinese" if dataset.augmentation else label,
            args={"src": src, "trg": trg, **chinese},
            inputs=corpus.sides,
            outputs=corpus_files(src, trg),
        )
        corpus = corpus_of(one_variant, src, trg, dataset)
    return _augmented(config, corpus, dataset, label) if dataset.augmentation else corpus


def import_mono(
    config: TrainingConfig, side: Side, dataset: Dataset, *, limit: int, min_score: float
) -> Mono:
    """A monolingual dataset of a side.

    min_score  the least of a line or document of HPLT; other providers have none
    """
    lang: str = getattr(config.experiment, side)
    label = f"dataset-mono-{side}-{dataset.short_name}-{lang}"
    provider, variant = MONO[dataset.provider], language(lang).chinese
    args: dict[str, Arg] = {
        "dataset": dataset.name,
        "lang": lang,
        "code": provider.code(dataset.name, language(lang)),
        "max_sentences": limit,
    }
    if dataset.provider == "hplt":
        args["min_score"] = min_score
    outputs = (f"mono.{lang}.zst", "stats.json")
    fetched = step(
        f"pipeline.data.mono_{dataset.provider.replace('-', '_')}",
        label=f"{label}-unmodified" if variant else label,
        args=args,
        outputs=outputs,
        attempts=DOWNLOAD_ATTEMPTS,
        secrets=provider.secrets or url_secrets([dataset.name]),
    )
    if variant:
        fetched = step(
            "pipeline.data.chinese_mono",
            label=label,
            args={"lang": lang, "convert" if side == "src" else "filter": variant},
            inputs={"text": fetched[outputs[0]]},
            outputs=outputs,
        )
    return Mono(fetched[outputs[0]], dataset)


def url_secrets(urls: Iterable[str]) -> tuple[str, ...]:
    """Variables with tokens and logins that files behind URLs may ask for, with `[LANG]` in them or not."""
    named = ("HF_TOKEN" if url.startswith(HUB) else login_variable(url) for url in urls)
    return tuple(filter(None, dict.fromkeys(named)))


def _chinese_args(src: Language, trg: Language) -> dict[str, Arg]:
    """Source text is converted, target text is filtered."""
    wanted = {"convert_src": src.chinese, "filter_trg": trg.chinese}
    return {name: variant for name, variant in wanted.items() if variant}


def _augmented(config: TrainingConfig, corpus: Corpus, dataset: Dataset, label: str) -> Corpus:
    src, trg = config.experiment.src, config.experiment.trg
    args: dict[str, Arg] = {"modifier": dataset.augmentation, "src": src, "trg": trg}
    if dataset.augmentation in ("mix", "mix-nocase"):
        args |= {"bicameral": language(src).bicameral, "phonemic": language(src).phonemic}
    inputs: dict[str, Input | None] = {**corpus.sides}
    if dataset.augmentation in ALIGNED:
        priors = learn_priors(config, f"{label}-priors", corpus, PRIORS_SAMPLE)
        aligned = align(config, f"{label}-alignments", corpus, priors)
        inputs |= {"tokens_src": aligned.src, "tokens_trg": aligned.trg, "alignments": aligned.alignments}
    augmented = step(
        "pipeline.data.augment", label=label, args=args, inputs=inputs, outputs=corpus_files(src, trg)
    )
    return corpus_of(augmented, src, trg, dataset)
