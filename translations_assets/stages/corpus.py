"""Corpora: fetched from a provider, brought into one variant of Chinese, modified, analysed; merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from translations_assets.config.cleaning import MonoLimits
from translations_assets.config.datasets import Dataset
from translations_assets.config.languages import Language
from translations_assets.config.providers import FILE, MONO, PARALLEL, monolingual
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import stage, step
from translations_assets.graph.step import Arg, Input, LocalFile, Output
from translations_assets.stages.alignments import align, learn_priors
from translations_assets.stages.continuation import (
    DOWNLOAD_ATTEMPTS,
    back_translates,
    distils,
    fetch_corpus,
    url_secrets,
)
from translations_assets.stages.handles import CleanMono, Corpora, Corpus, Mono, Side, aliases, corpus_step

ALIGNED = ("inline-noise", "mix", "mix-nocase", "mix-cjk")  # as in pipeline.data.modifiers
PRIORS_SAMPLE = 100_000  # pairs; a test set has fewer
# Seeds of the samplers, one a corpus; part of the keys.
SEEDS = {
    "corpus": 1111,
    "devset": 1112,
    "mono-src": 1113,
    "mono-trg": 1114,
    "finetune": 1115,
    "sentences": 1111,
}


@stage(group="data")
def dataset_train(config: TrainingConfig) -> Corpora:
    """The parallel training datasets, each fetched from its provider as two files of equally many lines."""
    return [import_parallel(config, "train", dataset) for dataset in config.datasets.train]


@stage(group="data")
def dataset_devtest(config: TrainingConfig) -> Corpora:
    """The parallel datasets that training is validated on."""
    return [import_parallel(config, "devtest", dataset) for dataset in config.datasets.devtest]


@stage(group="data")
def dataset_test(config: TrainingConfig) -> Corpora:
    """The test sets that every model is evaluated on, variants (upper case, typos) included."""
    return [import_parallel(config, "test", dataset) for dataset in config.datasets.test]


@stage(group="data")
def dataset_mono_src(config: TrainingConfig) -> list[Mono]:
    """Monolingual datasets in the source language, for distillation."""
    return [import_mono(config, "src", dataset) for dataset in config.datasets.mono_src]


@stage(group="data")
def dataset_mono_trg(config: TrainingConfig) -> list[Mono]:
    """Monolingual datasets in the target language, for back-translation."""
    datasets = config.datasets.mono_trg if back_translates(config) else []
    return [import_mono(config, "trg", dataset) for dataset in datasets]


@stage(group="data")
def analyze_corpus(config: TrainingConfig, dataset_train: Corpora) -> None:
    """Histograms of words and code points per line of every parallel training dataset."""
    for corpus in dataset_train:
        _analyze(corpus.name, config.experiment.src, corpus.src)
        _analyze(corpus.name, config.experiment.trg, corpus.trg)


@stage(group="data")
def analyze_mono(config: TrainingConfig, dataset_mono_src: list[Mono], dataset_mono_trg: list[Mono]) -> None:
    """Histograms of words and code points per line of every monolingual dataset."""
    for mono in dataset_mono_src:
        _analyze(mono.name, config.experiment.src, mono.text)
    for mono in dataset_mono_trg:
        _analyze(mono.name, config.experiment.trg, mono.text)


@stage(group="corpus")
def merge_corpus(
    config: TrainingConfig,
    bicleaner: Corpora,
    dataset_train: Corpora,
    dataset_devtest: Corpora,
    dataset_test: Corpora,
) -> Corpus | None:
    """The parallel training corpus: one pair per distinct target, without any line of a dev or test set.

    With `documents.datasets` also windows of several of its lines. An earlier run's is fetched, as it is,
    where it is given.
    """
    if not distils(config):
        return None
    fetched = fetch_corpus(config, "parallel")
    if fetched:
        return fetched
    limit, weights = config.experiment.corpus_max_sentences, config.experiment.merging.dataset_weights.train
    choices, held_out = _choices(config, weights, bicleaner), dataset_devtest + dataset_test
    with_documents = [one for one in dataset_train if one.short_name in config.documents.datasets]
    name = "sentences" if with_documents else "corpus"
    merged = merge_parallel(config, name, bicleaner, held_out, limit, choices)
    if not with_documents:
        return merged
    sentences = replace(merged, dataset=Dataset("sentences", "documents", None, "sentences"))
    windows = [join_lines(config, f"documents-{one.short_name}", one, merged) for one in with_documents]
    return merge_parallel(config, "corpus", [sentences, *windows], held_out, None, {})


@stage(group="corpus")
def merge_devset(config: TrainingConfig, dataset_devtest: Corpora, dataset_test: Corpora) -> Corpus:
    """The validation set, without any line of a test set."""
    limit = config.experiment.dev_max_sentences
    return merge_parallel(config, "devset", dataset_devtest, dataset_test, limit, {})


@stage(group="corpus")
def merge_mono_src(
    config: TrainingConfig,
    monocleaner: CleanMono,
    merge_corpus: Corpus | None,
    dataset_devtest: Corpora,
    dataset_test: Corpora,
) -> Mono | None:
    """Monolingual source text, without duplicates and without what the parallel, dev or test text holds."""
    return _merge_mono(config, "src", monocleaner.src, merge_corpus, dataset_devtest + dataset_test)


@stage(group="corpus")
def merge_mono_trg(
    config: TrainingConfig,
    monocleaner: CleanMono,
    merge_corpus: Corpus | None,
    dataset_devtest: Corpora,
    dataset_test: Corpora,
) -> Mono | None:
    """Monolingual target text, without duplicates and without what the parallel, dev or test text holds."""
    return _merge_mono(config, "trg", monocleaner.trg, merge_corpus, dataset_devtest + dataset_test)


def _analyze(name: str, lang: str, text: Output) -> None:
    step(
        "pipeline.data.analyze",
        label=f"analyze-{text.step.label.removeprefix('dataset-')}-{lang}",
        args={"lang": lang, "dataset": name},
        inputs={"text": text},
        outputs=("distribution-words.png", "distribution-codepoints.png", "stats.json"),
    )


def import_parallel(config: TrainingConfig, category: str, dataset: Dataset) -> Corpus:
    """A parallel dataset of a category: its last step has the dataset's label, earlier ones longer labels."""
    src, trg = config.source, config.target
    provider = PARALLEL[dataset.provider]
    label = f"dataset-{category}-{dataset.short_name}-{config.pair}"
    chinese = _chinese_args(src, trg)
    codes = {"src": provider.code(dataset.name, src), "trg": provider.code(dataset.name, trg)}
    args: dict[str, Arg] = {"dataset": dataset.name, **{f"{side}_code": codes[side] for side in codes}}
    inputs: dict[str, Input | None] = {}
    if dataset.provider == FILE.name:
        args, inputs = {}, {f"corpus_{side}": LocalFile(dataset.file(codes[side])) for side in codes}
    corpus = corpus_step(
        config,
        f"pipeline.data.parallel_{dataset.provider.replace('-', '_')}",
        label=f"{label}-unmodified" if chinese or dataset.augmentation else label,
        dataset=dataset,
        args=args,
        inputs=inputs,
        resumable=True,
        attempts=DOWNLOAD_ATTEMPTS,
        secrets=provider.secrets or url_secrets([dataset.name]),
    )
    if chinese:
        corpus = corpus_step(
            config,
            "pipeline.data.chinese_parallel",
            label=f"{label}-chinese" if dataset.augmentation else label,
            dataset=dataset,
            args=chinese,
            inputs=corpus.sides,
        )
    return _augmented(config, corpus, dataset, label) if dataset.augmentation else corpus


def import_mono(config: TrainingConfig, side: Side, dataset: Dataset) -> Mono:
    """A monolingual dataset of a side."""
    lang: str = getattr(config.experiment, side)
    limits: MonoLimits = getattr(config.experiment, f"mono_max_sentences_{side}")
    label = f"dataset-mono-{side}-{dataset.short_name}-{lang}"
    provider, variant = MONO[dataset.provider], config.spoken(lang).chinese
    code = provider.code(dataset.name, config.spoken(lang))
    args: dict[str, Arg] = {"lang": lang, "max_sentences": limits.per_dataset}
    inputs: dict[str, Input | None] = {}
    if dataset.provider == FILE.name:
        inputs["text"] = LocalFile(dataset.file(code))
    else:
        args |= {"dataset": dataset.name, "code": code}
    if dataset.provider == "hplt":
        # Of lines of release 1.2 their fluency, 0 to 1; of documents of later releases 0 to 10.
        first = dataset.name == monolingual.FIRST
        scores = config.experiment.hplt_min_fluency if first else config.experiment.hplt_min_doc_score
        args["min_score"] = getattr(scores, f"mono_{side}")
    outputs = (f"mono.{lang}.zst", "stats.json")
    fetched = step(
        f"pipeline.data.mono_{dataset.provider.replace('-', '_')}",
        label=f"{label}-unmodified" if variant else label,
        args=args,
        inputs=inputs,
        outputs=outputs,
        resumable=True,
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


def _chinese_args(src: Language, trg: Language) -> dict[str, Arg]:
    """Source text is converted, target text is filtered."""
    wanted = {"convert_src": src.chinese, "filter_trg": trg.chinese}
    return {name: variant for name, variant in wanted.items() if variant}


def join_lines(config: TrainingConfig, name: str, corpus: Corpus, kept: Corpus | None = None) -> Corpus:
    """Windows of a corpus's neighbouring lines; with `kept`, a share of those that stand there."""
    asked = config.documents
    args: dict[str, Arg] = {
        "max_words": asked.max_words,
        "separator": asked.separator,
        "share": asked.share if kept else None,
        "src_unspaced": not config.source.spaced,
        "trg_unspaced": not config.target.spaced,
    }
    among: dict[str, Input | None] = {"kept_src": kept.src, "kept_trg": kept.trg} if kept else {}
    dataset = corpus.dataset
    if kept and dataset:
        dataset = replace(dataset, key=f"documents_{dataset.known_as}", provider="documents")
    label = f"{name}-{config.pair}" if kept else name
    return corpus_step(
        config,
        "pipeline.data.windows",
        label=label,
        dataset=dataset,
        args=args,
        inputs={**corpus.sides, **among},
    )


def _augmented(config: TrainingConfig, corpus: Corpus, dataset: Dataset, label: str) -> Corpus:
    if dataset.augmentation == "documents":
        return replace(join_lines(config, label, corpus), dataset=dataset)
    args: dict[str, Arg] = {"modifier": dataset.augmentation}
    if dataset.augmentation in ("mix", "mix-nocase"):
        src = config.source
        args |= {"bicameral": src.bicameral, "phonemic": src.phonemic}
    inputs: dict[str, Input | None] = {**corpus.sides}
    if dataset.augmentation in ALIGNED:
        priors = learn_priors(config, f"{label}-priors", corpus, PRIORS_SAMPLE)
        aligned = align(config, f"{label}-alignments", corpus, priors)
        inputs |= {"tokens_src": aligned.src, "tokens_trg": aligned.trg, "alignments": aligned.alignments}
    return corpus_step(
        config, "pipeline.data.augment", label=label, dataset=dataset, args=args, inputs=inputs
    )


def _choices(
    config: TrainingConfig, weights: Mapping[str, float], datasets: Sequence[Corpus | Mono]
) -> dict[str, Arg]:
    """The arguments of a merge by which `experiment.merging` has a say in what is chosen."""
    args: dict[str, Arg] = {}
    if config.experiment.merging.near_duplicates:
        args["near_duplicates"] = True
    if weights:
        args["weights"] = [str(weights.get(dataset.short_name, 1.0)) for dataset in datasets]
    return args


def merge_parallel(
    config: TrainingConfig,
    name: str,
    corpora: Corpora,
    held_out: Corpora,
    limit: int | None,
    choices: Mapping[str, Arg],
) -> Corpus:
    """The step that merges parallel datasets into one text, without any line of `held_out`."""
    args: dict[str, Arg] = {
        "datasets": [corpus.name for corpus in corpora],
        "max_sentences": limit,
        "seed": SEEDS[name],
        **choices,
    }
    scores = {corpus.name: corpus.scores for corpus in corpora if corpus.scores}
    if 0 < len(scores) < len(corpora):
        args["scored"] = list(scores)
    return corpus_step(
        config,
        "pipeline.clean.merge_parallel",
        label=f"merge-{name}-{config.pair}",
        args=args,
        inputs={
            "corpus_src": [corpus.src for corpus in corpora],
            "corpus_trg": [corpus.trg for corpus in corpora],
            "scores": list(scores.values()),
            "held_out_src": [corpus.src for corpus in held_out],
            "held_out_trg": [corpus.trg for corpus in held_out],
        },
        more=["sample.txt"],
        worker="large-cpu",
        aliases=aliases(corpora),
    )


def _merge_mono(
    config: TrainingConfig, side: Side, monos: list[Mono], corpus: Corpus | None, held_out: Corpora
) -> Mono | None:
    if not monos or corpus is None:
        return None
    lang: str = getattr(config.experiment, side)
    limits: MonoLimits = getattr(config.experiment, f"mono_max_sentences_{side}")
    weights: Mapping[str, float] = getattr(config.experiment.merging.dataset_weights, f"mono_{side}")
    choices = _choices(config, weights, monos)
    if config.experiment.merging.mono_sampling == "diverse":
        choices["diverse"] = True
    merged = step(
        "pipeline.clean.merge_mono",
        label=f"merge-mono-{side}-{lang}",
        args={
            "lang": lang,
            "datasets": [mono.name for mono in monos],
            "max_sentences": limits.total,
            "seed": SEEDS[f"mono-{side}"],
            **choices,
        },
        inputs={
            "text": [mono.text for mono in monos],
            "parallel": getattr(corpus, side),
            "held_out": [getattr(held, side) for held in held_out],
        },
        outputs=(f"mono.{lang}.zst", "sample.txt", "stats.json"),
        worker="large-cpu",
        aliases=aliases(monos),
    )
    return Mono(merged[f"mono.{lang}.zst"])
