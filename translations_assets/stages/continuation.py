"""Steps that fetch what an earlier run made, in place of steps that make it, and what then is not needed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from translations_assets.config.continuation import ContinuationMode, ContinuedCorpus
from translations_assets.config.schema import TrainingConfig
from translations_assets.config.urls import login_variable
from translations_assets.graph.stage import step
from translations_assets.stages.handles import (
    MODEL_FILES,
    STATE_FILES,
    TRAINED_WITH,
    Aligned,
    Corpus,
    Model,
    Vocab,
    aligned_step,
    corpus_step,
)

CorpusName = Literal["parallel", "backtranslations", "distillation"]
DOWNLOAD_ATTEMPTS = 6  # with their pauses a minute, on top of what the scripts themselves try
HUB = "https://huggingface.co/"


def distils(config: TrainingConfig) -> bool:
    """True if the student's text is made here; where it is fetched, all that leads to it is left out."""
    return config.continuation.corpora.distillation is None and not only_finetunes(config)


def only_finetunes(config: TrainingConfig) -> bool:
    """True if a student of an earlier run is trained on the text to finetune on, and on no other."""
    given, datasets = config.continuation, config.datasets
    others = datasets.train or given.corpora.parallel or given.corpora.distillation
    return bool(datasets.finetune) and not others


def trains_teachers(config: TrainingConfig) -> bool:
    """True if teachers are trained; back-translations and most alignments are made for that alone."""
    teacher = config.continuation.models.teacher
    return distils(config) and not config.experiment.teacher and not (teacher and teacher.mode == "use")


def back_translates(config: TrainingConfig) -> bool:
    """True if monolingual target text is translated back here."""
    return uses_backtranslations(config) and config.continuation.corpora.backtranslations is None


def uses_backtranslations(config: TrainingConfig) -> bool:
    """True if teachers are trained on back-translated text, or students read some of it."""
    read = config.distillation.backtranslated_max_sentences is not None
    return trains_teachers(config) or (distils(config) and read)


def needs_backwards(config: TrainingConfig) -> bool:
    """True if the backwards model is used: it translates monolingual text back, or its scores filter."""
    own = config.experiment
    return (own.filter == "ce" and not only_finetunes(config)) or (
        back_translates(config) and bool(config.datasets.mono_trg) and not own.backwards
    )


def has_split_vocabulary(config: TrainingConfig) -> bool:
    """True if each side has a vocabulary of its own; one file that is given for both is joint."""
    vocab = config.continuation.vocab
    return config.experiment.spm_vocab_split and not (vocab and vocab.src == vocab.trg)


def fetch_vocab(config: TrainingConfig) -> Vocab | None:
    """The vocabulary of the earlier run, or that of a model which is trained on; None when it is learned."""
    src, trg = config.experiment.src, config.experiment.trg
    vocab, models = config.continuation.vocab, config.continuation.models
    if vocab:
        return _fetch_vocab(config, src, trg, {"src_url": vocab.src, "trg_url": vocab.trg})
    if models.student:
        return _fetch_vocab(config, src, trg, {"model_url": models.student.url})
    if models.teacher and models.teacher.mode != "use":
        return _fetch_vocab(config, src, trg, {"model_url": models.teacher.urls[0]})
    if models.backwards and models.backwards.mode != "use":
        return _fetch_vocab(config, trg, src, {"model_url": models.backwards.url})
    return None


def _fetch_vocab(config: TrainingConfig, src: str, trg: str, urls: dict[str, str]) -> Vocab:
    """Those of a model stand in its own order: `src` is what it translates from."""
    own = config.experiment
    fetched = step(
        "pipeline.continuation.vocabulary",
        label=f"fetch-vocab-{config.pair}",
        args={
            **urls,
            "src": src,
            "trg": trg,
            "vocab_size": own.spm_vocab_size,
            "split": has_split_vocabulary(config),
        },
        outputs=(f"vocab.{src}.spm", f"vocab.{trg}.spm", "stats.json"),
        attempts=DOWNLOAD_ATTEMPTS,
        secrets=url_secrets(urls.values()),
    )
    return Vocab(fetched[f"vocab.{own.src}.spm"], fetched[f"vocab.{own.trg}.spm"])


def fetch_corpus(config: TrainingConfig, name: CorpusName) -> Corpus | None:
    """A corpus of the earlier run; None when it is made here."""
    given: ContinuedCorpus | None = getattr(config.continuation.corpora, name)
    if given is None:
        return None
    return corpus_step(
        config,
        "pipeline.continuation.corpus",
        label=f"fetch-{name}-{config.pair}",
        args={"src_url": given.src, "trg_url": given.trg},
        attempts=DOWNLOAD_ATTEMPTS,
        secrets=url_secrets([given.src, given.trg]),
    )


def fetch_alignments(config: TrainingConfig, name: CorpusName, corpus: Corpus) -> Aligned | None:
    """The tokens and alignments that came with a corpus of the earlier run; None when they are made here."""
    given: ContinuedCorpus | None = getattr(config.continuation.corpora, name)
    if not (given and given.tok_src and given.tok_trg and given.alignments):
        return None
    urls = {"tok_src_url": given.tok_src, "tok_trg_url": given.tok_trg, "alignments_url": given.alignments}
    return aligned_step(
        config,
        "pipeline.continuation.alignments",
        label=f"fetch-alignments-{name}-{config.pair}",
        args=urls,
        inputs=corpus.sides,
        attempts=DOWNLOAD_ATTEMPTS,
        secrets=url_secrets(urls.values()),
    )


def fetch_model(
    config: TrainingConfig, label: str, url: str, mode: ContinuationMode, src: str, trg: str
) -> Model:
    """A model of the earlier run, from `src` to `trg`; with its training's last save, to go on with that.

    The run's vocabulary is that of models between the languages of the pair. A leg of a pivot has its own.
    """
    vocab = config.continuation.vocab
    own = {config.experiment.src: vocab.src, config.experiment.trg: vocab.trg} if vocab else {}
    vocabs = [own[src], own[trg]] if {src, trg} <= own.keys() else []
    fetched = step(
        "pipeline.continuation.model",
        label=f"fetch-{label}",
        args={
            "url": url,
            "src": src,
            "trg": trg,
            "best_model": config.experiment.best_model,
            "vocab_urls": vocabs or None,
            "state": mode == "continue",
        },
        outputs=(*MODEL_FILES, TRAINED_WITH, *(STATE_FILES if mode == "continue" else ()), "stats.json"),
        attempts=DOWNLOAD_ATTEMPTS,
        secrets=url_secrets([url, *vocabs]),
    )
    return fetched.folder(*MODEL_FILES)


def url_secrets(urls: Iterable[str]) -> tuple[str, ...]:
    """Variables with tokens and logins that files behind URLs may ask for, with `[LANG]` in them or not."""
    named = ("HF_TOKEN" if url.startswith(HUB) else login_variable(url) for url in urls)
    return tuple(filter(None, dict.fromkeys(named)))
