"""Steps that import datasets: fetched from a provider, brought into one variant of Chinese, modified."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from translations_assets.config.datasets import Dataset
from translations_assets.config.languages import Language, language
from translations_assets.config.schema import TrainingConfig
from translations_assets.config.urls import login_variable
from translations_assets.graph.stage import step
from translations_assets.graph.step import Arg, Input
from translations_assets.stages.handles import Corpus, Mono, corpus_files, corpus_of

DOWNLOAD_ATTEMPTS = 6  # with their pauses a minute, on top of what the scripts themselves try
HUB = "https://huggingface.co/"
ALIGNED = ("inline-noise", "mix", "mix-nocase", "mix-cjk")  # as in pipeline.data.modifiers
PRIORS_SAMPLE = 100_000  # pairs; a test set has fewer

# The codes that a provider, or a single dataset of it, knows languages by.
CODES: dict[str, Callable[[Language], str]] = {
    "opus": lambda language: language.opus,
    "mtdata": lambda language: language.mtdata,
    "sacrebleu": lambda language: language.iso639_1,
    "flores": lambda language: language.flores,
    "ntrex": lambda language: language.ntrex,
    "tmx": lambda language: language.code,
    "tmx_pontoon": lambda language: language.pontoon,
    "hfp": lambda language: language.code,
    "news-crawl": lambda language: language.news_crawl,
    "hplt_mono/v3.0": lambda language: language.hplt,
    "hplt_mono/v2.0": lambda language: language.hplt2,
    "hplt_mono/v1.2": lambda language: language.iso639_1,
    "hf": lambda language: language.code,
    "url": lambda language: language.code,
    "demo": lambda language: language.code,
}


def import_parallel(config: TrainingConfig, category: str, dataset: Dataset) -> Corpus:
    """A parallel dataset of a category: its last step has the dataset's label, earlier ones longer labels."""
    src, trg = config.experiment.src, config.experiment.trg
    label = f"dataset-{category}-{dataset.short_name}-{src}-{trg}"
    chinese = _chinese_args(language(src), language(trg))
    fetched = step(
        f"pipeline.data.parallel_{dataset.provider}",
        label=f"{label}-unmodified" if chinese or dataset.augmentation else label,
        args={
            "dataset": dataset.name,
            "src": src,
            "trg": trg,
            "src_code": _code(dataset, src),
            "trg_code": _code(dataset, trg),
        },
        outputs=corpus_files(src, trg),
        attempts=DOWNLOAD_ATTEMPTS,
        secrets=_secrets(dataset),
    )
    corpus = corpus_of(fetched, src, trg, dataset)
    if chinese:
        one_variant = step(
            "pipeline.data.chinese_parallel",
            label=f"{label}-chinese" if dataset.augmentation else label,
            args={"src": src, "trg": trg, **chinese},
            inputs=_sides(corpus),
            outputs=corpus_files(src, trg),
        )
        corpus = corpus_of(one_variant, src, trg, dataset)
    return _augmented(config, corpus, dataset, label) if dataset.augmentation else corpus


def import_mono(
    category: str, lang: str, dataset: Dataset, *, limit: int, source: bool, min_score: float
) -> Mono:
    """A monolingual dataset of a category, in the source language or the target language.

    min_score  the least of a line or document of HPLT; other providers have none
    """
    label = f"dataset-{category}-{dataset.short_name}-{lang}"
    variant = language(lang).chinese
    args: dict[str, Arg] = {
        "dataset": dataset.name,
        "lang": lang,
        "code": _code(dataset, lang),
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
        secrets=_secrets(dataset),
    )
    if variant:
        fetched = step(
            "pipeline.data.chinese_mono",
            label=label,
            args={"lang": lang, "convert" if source else "filter": variant},
            inputs={"text": fetched[outputs[0]]},
            outputs=outputs,
        )
    return Mono(fetched[outputs[0]], dataset)


def _code(dataset: Dataset, lang: str) -> str:
    code = CODES.get(f"{dataset.provider}_{dataset.name}") or CODES[dataset.provider]
    return code(language(lang))


def _secrets(dataset: Dataset) -> tuple[str, ...]:
    """Variables with tokens that a dataset may ask for; the files of mtdata's entries lie anywhere."""
    if dataset.provider in ("hf", "hfp", "mtdata"):
        return ("HF_TOKEN",)
    return url_secrets([dataset.name])


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
    inputs: dict[str, Input | None] = {**_sides(corpus)}
    if dataset.augmentation in ALIGNED:
        inputs |= _alignments(src, trg, corpus, label)
    augmented = step(
        "pipeline.data.augment", label=label, args=args, inputs=inputs, outputs=corpus_files(src, trg)
    )
    return corpus_of(augmented, src, trg, dataset)


def _alignments(src: str, trg: str, corpus: Corpus, label: str) -> dict[str, Input]:
    """The words of a test set aligned, with what can be learned from the set itself."""
    learned = step(
        "pipeline.alignments.priors",
        label=f"{label}-priors",
        args={"src": src, "trg": trg, "sample_size": PRIORS_SAMPLE},
        inputs=_sides(corpus),
        outputs=("corpus.priors", "stats.json"),
        repeatable=False,
    )
    tokens_src, tokens_trg = f"corpus.tok-icu.{src}.zst", f"corpus.tok-icu.{trg}.zst"
    aligned = step(
        "pipeline.alignments.align",
        label=f"{label}-alignments",
        args={"src": src, "trg": trg},
        inputs={**_sides(corpus), "priors": learned["corpus.priors"]},
        outputs=(tokens_src, tokens_trg, "corpus.aln.zst", "stats.json"),
        repeatable=False,
    )
    return {
        "tokens_src": aligned[tokens_src],
        "tokens_trg": aligned[tokens_trg],
        "alignments": aligned["corpus.aln.zst"],
    }


def _sides(corpus: Corpus) -> dict[str, Input | None]:
    return {"corpus_src": corpus.src, "corpus_trg": corpus.trg}
