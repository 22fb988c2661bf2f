"""Finetuning: text that is better than the rest, cleaned by itself, and the models that are trained on it."""

from __future__ import annotations

from translations_assets.config.finetuning import Finetuned
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import stage
from translations_assets.graph.step import Folder
from translations_assets.stages.alignments import align_in_chunks, learn_priors
from translations_assets.stages.cleaning import clean_parallel_dataset, filter_by_bicleaner
from translations_assets.stages.continuation import only_finetunes
from translations_assets.stages.corpus import import_parallel, merge_parallel
from translations_assets.stages.handles import Aligned, Corpora, Corpus
from translations_assets.stages.languages import Identifying


@stage(group="finetuning")
def dataset_finetune(config: TrainingConfig) -> Corpora:
    """The parallel datasets that models are finetuned on, each fetched from its provider."""
    return [import_parallel(config, "finetune", dataset) for dataset in config.datasets.finetune]


@stage(group="finetuning")
def merge_finetune(
    config: TrainingConfig,
    dataset_finetune: Corpora,
    bicleaner_model: Folder | None,
    dataset_devtest: Corpora,
    dataset_test: Corpora,
) -> Corpus | None:
    """The text that models are finetuned on: cleaned, merged, without any line of a dev or test set."""
    if not dataset_finetune:
        return None
    identifying = Identifying(config, "finetune")
    names = [_name_in_labels(config, corpus) for corpus in dataset_finetune]
    named = zip(dataset_finetune, names, strict=True)
    cleaned = [clean_parallel_dataset(config, corpus, identifying, name) for corpus, name in named]
    threshold = config.finetuning.bicleaner_threshold
    if bicleaner_model and threshold:
        cleaned = [
            filter_by_bicleaner(config, corpus, bicleaner_model, threshold, name)
            for corpus, name in zip(cleaned, names, strict=True)
        ]
    return merge_parallel(config, "finetune", cleaned, dataset_devtest + dataset_test, None, {})


def _name_in_labels(config: TrainingConfig, corpus: Corpus) -> str:
    """The dataset's name, told from that of one to train on which is called the same."""
    same = corpus.short_name in (dataset.short_name for dataset in config.datasets.train)
    return f"finetune-{corpus.short_name}" if same else corpus.short_name


@stage(group="finetuning")
def alignments_finetune(
    config: TrainingConfig, merge_finetune: Corpus | None, alignments_original: Aligned | None
) -> Aligned | None:
    """The text that models are finetuned on, tokenised by ICU, with word alignments.

    It is split, aligned, collected, with the priors of the parallel corpus, or its own where that is not
    aligned. Nothing to do where a student is trained on nothing else: then it is that student's text.
    """
    if merge_finetune is None or only_finetunes(config):
        return None
    priors = alignments_original.priors if alignments_original else None
    if priors is None:
        priors = learn_priors(config, f"alignments-priors-finetune-{config.pair}", merge_finetune)
    return align_in_chunks(config, "finetune", merge_finetune, priors)


def finetunes(config: TrainingConfig, model: Finetuned) -> bool:
    """True if a model is trained on the text to finetune on."""
    return bool(config.datasets.finetune) and model in config.finetuning.models
