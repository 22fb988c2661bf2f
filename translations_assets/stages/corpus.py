"""Corpora: fetching, analysing, cleaning and merging parallel and monolingual text."""

from __future__ import annotations

from collections.abc import Sequence

from translations_assets.config.datasets import parse_dataset
from translations_assets.config.schema import TrainingConfig
from translations_assets.stages.cleaning import clean_mono_dataset, clean_parallel_dataset
from translations_assets.stages.handles import CleanMono, Corpus, Mono, corpus_files, corpus_of
from translations_assets.stages.importing import import_mono, import_parallel
from translations_assets.steps.stage import stage, step
from translations_assets.steps.step import Arg, Output

# Seeds of the samplers, one a corpus; part of the keys.
SEEDS = {"corpus": 1111, "devset": 1112, "mono-src": 1113, "mono-trg": 1114}


@stage(group="data")
def dataset_train(config: TrainingConfig) -> list[Corpus]:
    """The parallel training datasets, each fetched from its provider as two files of equally many lines."""
    return _parallel(config, "train", config.datasets.train)


@stage(group="data")
def dataset_devtest(config: TrainingConfig) -> list[Corpus]:
    """The parallel datasets that training is validated on."""
    return _parallel(config, "devtest", config.datasets.devtest)


@stage(group="data")
def dataset_test(config: TrainingConfig) -> list[Corpus]:
    """The test sets that every model is evaluated on, variants (upper case, typos) included."""
    return _parallel(config, "test", config.datasets.test)


@stage(group="data")
def dataset_mono_src(config: TrainingConfig) -> list[Mono]:
    """Monolingual datasets in the source language, for distillation."""
    limit = config.experiment.mono_max_sentences_src.per_dataset
    return _mono(config, "src", config.experiment.src, config.datasets.mono_src, limit)


@stage(group="data")
def dataset_mono_trg(config: TrainingConfig) -> list[Mono]:
    """Monolingual datasets in the target language, for back-translation."""
    limit = config.experiment.mono_max_sentences_trg.per_dataset
    return _mono(config, "trg", config.experiment.trg, config.datasets.mono_trg, limit)


@stage(group="data")
def analyze_corpus(config: TrainingConfig, dataset_train: list[Corpus]) -> None:
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
def clean_corpus(config: TrainingConfig, dataset_train: list[Corpus]) -> list[Corpus]:
    """The parallel training datasets without the pairs that rules or language identification reject."""
    return [clean_parallel_dataset(config, corpus) for corpus in dataset_train]


@stage(group="corpus")
def clean_mono(
    config: TrainingConfig, dataset_mono_src: list[Mono], dataset_mono_trg: list[Mono]
) -> CleanMono:
    """The monolingual datasets without the lines that rules or language identification reject."""
    return CleanMono(
        [clean_mono_dataset(config, "src", config.experiment.src, mono) for mono in dataset_mono_src],
        [clean_mono_dataset(config, "trg", config.experiment.trg, mono) for mono in dataset_mono_trg],
    )


@stage(group="corpus")
def merge_corpus(
    config: TrainingConfig,
    clean_corpus: list[Corpus],
    dataset_devtest: list[Corpus],
    dataset_test: list[Corpus],
) -> Corpus:
    """The parallel training corpus: one pair per distinct target, without any line of a dev or test set."""
    limit = config.experiment.corpus_max_sentences
    return _merge_parallel(config, "corpus", clean_corpus, dataset_devtest + dataset_test, limit)


@stage(group="corpus")
def merge_devset(config: TrainingConfig, dataset_devtest: list[Corpus], dataset_test: list[Corpus]) -> Corpus:
    """The validation set, without any line that stands in a test set."""
    limit = config.experiment.dev_max_sentences
    return _merge_parallel(config, "devset", dataset_devtest, dataset_test, limit)


@stage(group="corpus")
def merge_mono_src(
    config: TrainingConfig,
    clean_mono: CleanMono,
    merge_corpus: Corpus,
    dataset_devtest: list[Corpus],
    dataset_test: list[Corpus],
) -> Mono | None:
    """Monolingual source text, without duplicates and without what the parallel, dev or test text holds."""
    spoken, limit = config.experiment.src, config.experiment.mono_max_sentences_src.total
    held_out = [corpus.src for corpus in dataset_devtest + dataset_test]
    return _merge_mono("src", spoken, clean_mono.src, merge_corpus.src, held_out, limit)


@stage(group="corpus")
def merge_mono_trg(
    config: TrainingConfig,
    clean_mono: CleanMono,
    merge_corpus: Corpus,
    dataset_devtest: list[Corpus],
    dataset_test: list[Corpus],
) -> Mono | None:
    """Monolingual target text, without duplicates and without what the parallel, dev or test text holds."""
    spoken, limit = config.experiment.trg, config.experiment.mono_max_sentences_trg.total
    held_out = [corpus.trg for corpus in dataset_devtest + dataset_test]
    return _merge_mono("trg", spoken, clean_mono.trg, merge_corpus.trg, held_out, limit)


def _parallel(config: TrainingConfig, category: str, keys: Sequence[str]) -> list[Corpus]:
    return [import_parallel(config, category, dataset) for dataset in map(parse_dataset, keys)]


def _mono(config: TrainingConfig, side: str, lang: str, keys: Sequence[str], limit: int) -> list[Mono]:
    source = side == "src"
    scores = config.experiment.hplt_min_doc_score
    return [
        import_mono(
            f"mono-{side}",
            lang,
            dataset,
            limit=limit,
            source=source,
            doc_score=scores.mono_src if source else scores.mono_trg,
        )
        for dataset in map(parse_dataset, keys)
    ]


def _analyze(name: str, lang: str, text: Output) -> None:
    step(
        "pipeline.data.analyze",
        label=f"analyze-{text.step.label.removeprefix('dataset-')}-{lang}",
        args={"lang": lang, "dataset": name},
        inputs={"text": text},
        outputs=("distribution-words.png", "distribution-codepoints.png", "stats.json"),
    )


def _merge_parallel(
    config: TrainingConfig, name: str, corpora: list[Corpus], held_out: list[Corpus], limit: int | None
) -> Corpus:
    src, trg = config.experiment.src, config.experiment.trg
    args: dict[str, Arg] = {
        "src": src,
        "trg": trg,
        "datasets": [corpus.name for corpus in corpora],
        "max_sentences": limit,
        "seed": SEEDS[name],
    }
    merged = step(
        "pipeline.clean.merge_parallel",
        label=f"merge-{name}-{src}-{trg}",
        args=args,
        inputs={
            "corpus_src": [corpus.src for corpus in corpora],
            "corpus_trg": [corpus.trg for corpus in corpora],
            "held_out_src": [corpus.src for corpus in held_out],
            "held_out_trg": [corpus.trg for corpus in held_out],
        },
        outputs=corpus_files(src, trg, "sample.txt"),
        worker="large-cpu",
    )
    return corpus_of(merged, src, trg)


def _merge_mono(
    side: str, lang: str, monos: list[Mono], parallel: Output, held_out: list[Output], limit: int
) -> Mono | None:
    if not monos:
        return None
    merged = step(
        "pipeline.clean.merge_mono",
        label=f"merge-mono-{side}-{lang}",
        args={
            "lang": lang,
            "datasets": [mono.name for mono in monos],
            "max_sentences": limit,
            "seed": SEEDS[f"mono-{side}"],
        },
        inputs={"text": [mono.text for mono in monos], "parallel": parallel, "held_out": held_out},
        outputs=(f"mono.{lang}.zst", "sample.txt", "stats.json"),
        worker="large-cpu",
    )
    return Mono(merged[f"mono.{lang}.zst"])
