"""What a config changes in the text that a student learns from: how much of it, and noise in its source."""

from __future__ import annotations

import json

from translations_assets.config.schema import TrainingConfig
from translations_assets.stages.handles import Corpus, corpus_step

SEED = 42


def sample_pairs(config: TrainingConfig, name: str, corpus: Corpus, limit: int) -> Corpus:
    """So many pairs of a corpus, drawn at random."""
    return corpus_step(
        config,
        "pipeline.data.sample_pairs",
        label=f"sample-{name}-{config.pair}",
        args={"max_sentences": limit, "seed": SEED},
        inputs=corpus.sides,
    )


def with_noise(config: TrainingConfig, corpus: Corpus) -> Corpus:
    """The corpus with the noise in its source that the config asks for, of kinds that its script can have."""
    noise, source = config.distillation.noise, config.source
    shares = {
        "typos": noise.typos if source.phonemic else 0,
        "upper-case": noise.upper_case if source.bicameral else 0,
        "lower-case": noise.lower_case if source.bicameral else 0,
        "punctuation": noise.punctuation,
        "spacing": noise.spacing if source.spaced else 0,
    }
    wanted = {kind: share for kind, share in shares.items() if share}
    if not wanted:
        return corpus
    return corpus_step(
        config,
        "pipeline.data.noise_source",
        label=f"noise-{config.pair}",
        args={"shares": json.dumps(wanted)},
        inputs=corpus.sides,
    )
