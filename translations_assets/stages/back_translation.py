"""Back-translation: a model from target to source, and synthetic source text for the target's mono text."""

from __future__ import annotations

from translations_assets.config.schema import TrainingConfig
from translations_assets.stages.building import train_model, translate_in_chunks
from translations_assets.stages.handles import Corpus, Model, Mono, Vocab
from translations_assets.steps.stage import stage

SEED = 1111


@stage(group="back_translation")
def train_backwards(
    config: TrainingConfig, merge_corpus: Corpus, merge_devset: Corpus, train_vocab: Vocab
) -> Model:
    """The model from target to source: translates mono text back, and scores distilled text."""
    src, trg = config.experiment.src, config.experiment.trg
    return train_model(
        config,
        label=f"train-backwards-{src}-{trg}",
        src=trg,
        trg=src,
        vocab=Vocab(train_vocab.trg, train_vocab.src),
        data={"original_src": merge_corpus.trg, "original_trg": merge_corpus.src},
        dev=Corpus(merge_devset.trg, merge_devset.src),
        model="backward",
        training="backward.train",
        curriculum="backward",
        args=config.marian_args.training_backward,
        seed=SEED,
        tokenized=False,
    )


@stage(group="back_translation")
def translate_mono_trg(
    config: TrainingConfig, merge_mono_trg: Mono | None, train_backwards: Model
) -> Corpus | None:
    """Mono target text with its back-translation as the source side; split, translated, collected."""
    if merge_mono_trg is None:
        return None
    synthetic = translate_in_chunks(
        config,
        family="mono-trg",
        name=f"mono.{config.experiment.src}.zst",
        text=merge_mono_trg.text,
        models=[train_backwards],
        decoding="backward",
        args=config.marian_args.decoding_backward,
    )
    return Corpus(synthetic, merge_mono_trg.text)
