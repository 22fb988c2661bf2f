"""The SentencePiece vocabulary."""

from __future__ import annotations

from translations_assets.config.languages import language
from translations_assets.config.schema import TrainingConfig
from translations_assets.errors import GraphError
from translations_assets.graph.stage import stage, step
from translations_assets.stages.alphabets import letters
from translations_assets.stages.continuation import fetch_vocab
from translations_assets.stages.handles import Corpus, Vocab

SEED = 1111


@stage(group="vocabulary", formerly=("build-vocab", "continuation-vocab"))
def train_vocab(config: TrainingConfig, merge_corpus: Corpus | None) -> Vocab:
    """The SentencePiece vocabulary, joint or one a side, trained on a uniform sample of the corpus.

    An earlier run's is fetched where it is given, or where a model is trained further.
    """
    fetched = fetch_vocab(config)
    if fetched:
        return fetched
    if merge_corpus is None:
        raise GraphError("continuation.corpora.distillation needs continuation.vocab.")
    src, trg = config.experiment.src, config.experiment.trg
    trained = step(
        "pipeline.train.vocab",
        label=f"train-vocab-{src}-{trg}",
        args={
            "src": src,
            "trg": trg,
            "src_letters": letters(language(src)),
            "trg_letters": letters(language(trg)),
            "vocab_size": config.experiment.spm_vocab_size,
            "sample_size": config.experiment.spm_sample_size,
            "split": config.experiment.spm_vocab_split,
            "norm_rule": config.experiment.spm_norm_rule,
            "seed": SEED,
        },
        inputs=merge_corpus.sides,
        outputs=(f"vocab.{src}.spm", f"vocab.{trg}.spm", "stats.json"),
        worker="large-cpu",
    )
    return Vocab(trained[f"vocab.{src}.spm"], trained[f"vocab.{trg}.spm"])
