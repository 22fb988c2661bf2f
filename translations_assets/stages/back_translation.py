"""Back-translation: a model from target to source, and synthetic source text for the target's mono text."""

from __future__ import annotations

from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import stage
from translations_assets.stages.building import train_model, translate_in_chunks
from translations_assets.stages.continuation import fetch_corpus, fetch_model, goes_on, trains_teachers
from translations_assets.stages.handles import Corpus, Model, Mono, Vocab

SEED = 1111


@stage(group="back_translation", formerly=("backtranslations-train-backwards-model", "continuation-model"))
def train_backwards(
    config: TrainingConfig, merge_corpus: Corpus | None, merge_devset: Corpus, train_vocab: Vocab
) -> Model | None:
    """The model from target to source: translates mono text back, and scores distilled text.

    An earlier run's is fetched where it is given: to be used, trained further, or begun with.
    """
    if merge_corpus is None:
        return None
    src, trg = config.experiment.src, config.experiment.trg
    given, fetched = config.continuation.models.backwards, None
    if given:
        fetched = fetch_model(config, f"backwards-{src}-{trg}", given.url, given.mode, trg, src)
        if given.mode == "use":
            return fetched
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
        pretrained=fetched,
        goes_on=goes_on(given),
        tokenized=False,
    )


@stage(
    group="back_translation",
    formerly=(
        "backtranslations-mono-trg-chunk",
        "backtranslations-mono-trg-translate",
        "backtranslations-mono-trg-dechunk-translations",
        "split-mono-trg",
        "collect-mono-trg",
        "split-mono",
        "continuation-corpus",
    ),
)
def translate_mono_trg(
    config: TrainingConfig, merge_mono_trg: Mono | None, train_backwards: Model | None
) -> Corpus | None:
    """Mono target text with its back-translation as the source side; split, translated, collected.

    It is fetched where an earlier run's is given.
    """
    if trains_teachers(config) and (fetched := fetch_corpus(config, "backtranslations")):
        return fetched
    if merge_mono_trg is None or train_backwards is None:
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
