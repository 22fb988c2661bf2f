"""Steps of trainings: the pairs that a training reads, and the training itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import step
from translations_assets.graph.step import Folder, Input, RepoFile, Step
from translations_assets.stages.handles import (
    MODEL_FILES,
    PAIR_FILES,
    STATE_FILES,
    TRAINED_WITH,
    Aligned,
    Corpus,
    Model,
    Vocab,
    marian_args,
    modifier_shares,
)

TRAIN_CONFIGS = "pipeline/train/configs"
TRAINING_ATTEMPTS = 10  # each goes on from the last save, so that machines may be taken away


def max_length(marian_args: Mapping[str, Any], default: int) -> int:
    """The pieces that a side of a pair may have, as a section of `marian-args` says."""
    return int(str(marian_args.get("max-length", default)))


def training_pairs(
    name: str, text: Corpus | Aligned, vocab: Vocab, length: int, link_pieces: bool = False
) -> Folder:
    """The pairs of a text that a training reads: short enough, in compressed blocks.

    With `link_pieces` also the links of SentencePiece pieces, from which a guided student learns.
    """
    made = step(
        "pipeline.train.training_pairs",
        label=f"training-pairs-{name}",
        args={"max_length": length, "link_pieces": link_pieces},
        inputs={
            "corpus_src": text.src,
            "corpus_trg": text.trg,
            "alignments": text.alignments if isinstance(text, Aligned) else None,
            "source_vocab": vocab.src,
            "target_vocab": vocab.trg,
        },
        outputs=(*PAIR_FILES, "stats.json"),
        worker="large-cpu",
    )
    return made.folder()


def train_model(
    config: TrainingConfig,
    *,
    label: str,
    vocab: Vocab,
    data: Mapping[str, Input],
    dev: Corpus,
    model: str,
    training: str,
    curriculum: str,
    args: Mapping[str, Any],
    seed: int,
    pretrained: Model | None = None,
    inherits: Literal["args", "shape"] = "args",
    resume: bool = False,
    backwards: bool = False,
) -> Model:
    """A step that trains a model on pairs; from target to source when it is `backwards`.

    `vocab` and `dev` are in the model's direction. It begins with the weights of `pretrained`, if any, and
    with the options of its training, or those of its shape alone (`inherits`), over which `args` are laid;
    with `resume` also with what that saved last, so that it continues. With pairs to `finetune` on the others
    have the share of `finetuning.old-text`.
    """
    src, trg = config.experiment.src, config.experiment.trg
    if backwards:
        src, trg = trg, src
    spoken = config.spoken(src)
    trained = step(
        "pipeline.train.train",
        label=label,
        args={
            "src": src,
            "trg": trg,
            "marian_args": marian_args(args),
            "seed": seed,
            "best_model": config.experiment.best_model,
            "bicameral": spoken.bicameral,
            "phonemic": spoken.phonemic,
            "modifiers": None if backwards else modifier_shares(config),
            "old_text": config.finetuning.old_text if "finetune" in data else None,
        },
        inputs={
            **data,
            "source_vocab": vocab.src,
            "target_vocab": vocab.trg,
            "dev_src": dev.src,
            "dev_trg": dev.trg,
            "model_config": RepoFile(f"{TRAIN_CONFIGS}/model/{model}.yml"),
            "training_config": RepoFile(f"{TRAIN_CONFIGS}/training/{training}.yml"),
            "curriculum": RepoFile(f"{TRAIN_CONFIGS}/curriculum/{curriculum}.yml"),
            "pretrained": pretrained,
            f"pretrained_{inherits}": maker(pretrained)[TRAINED_WITH] if pretrained else None,
            "state": maker(pretrained).folder(*STATE_FILES) if pretrained and resume else None,
        },
        outputs=(*MODEL_FILES, TRAINED_WITH, "metrics.json", *STATE_FILES),
        worker="large-gpu",
        resumable=True,
        repeatable=False,
        attempts=TRAINING_ATTEMPTS,
    )
    return trained.folder(*MODEL_FILES)


def maker(model: Model) -> Step:
    """The step that trained a model, or fetched it."""
    return model.files[MODEL_FILES[0]].step
