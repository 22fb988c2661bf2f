"""Stages that train: the vocabulary, the backwards model, the teachers, the student."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from translations_assets.common.errors import GraphError
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import stage, step
from translations_assets.graph.step import Folder, Input, RepoFile, Step
from translations_assets.stages.continuation import distils, fetch_model, fetch_vocab, needs_backwards
from translations_assets.stages.handles import (
    MODEL_FILES,
    PAIR_FILES,
    STATE_FILES,
    TRAINED_WITH,
    Aligned,
    Corpus,
    Model,
    Vocab,
    languages,
    marian_args,
    modifier_shares,
)
from translations_assets.stages.languages import letters

TRAIN_CONFIGS = "pipeline/train/configs"
SEED = 1111
# Pieces that a side of a pair may have, unless `marian-args` say max-length. Training asks its pairs.
BACKWARDS_LENGTH = 100
TEACHER_LENGTH = 100
STUDENT_LENGTH = 200
TRAINING_ATTEMPTS = 10  # each goes on from the last save, so that machines may be taken away


@stage(group="vocabulary")
def train_vocab(config: TrainingConfig, merge_corpus: Corpus | None) -> Vocab:
    """The SentencePiece vocabulary, joint or one a side, trained on a uniform sample of the corpus.

    As many lines of the sample are in upper and title case as models will read in training.
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
            **languages(config),
            "src_letters": letters(config.source),
            "trg_letters": letters(config.target),
            "vocab_size": config.experiment.spm_vocab_size,
            "sample_size": config.experiment.spm_sample_size,
            "split": config.experiment.spm_vocab_split,
            "bicameral": config.source.bicameral,
            "modifiers": modifier_shares(config, case_alone=True),
            "norm_rule": config.experiment.spm_norm_rule,
            "seed": SEED,
        },
        inputs={
            **merge_corpus.sides,
            "curriculum": RepoFile(f"{TRAIN_CONFIGS}/curriculum/teacher.one-stage.yml"),
        },
        outputs=(f"vocab.{src}.spm", f"vocab.{trg}.spm", "stats.json"),
        worker="large-cpu",
    )
    return Vocab(trained[f"vocab.{src}.spm"], trained[f"vocab.{trg}.spm"])


@stage(group="back_translation")
def train_backwards(
    config: TrainingConfig, merge_corpus: Corpus | None, merge_devset: Corpus, train_vocab: Vocab
) -> Model | None:
    """The model from target to source: translates mono text back, and scores distilled text.

    An earlier run's is fetched where it is given: to be used, trained further, or begun with.
    """
    if merge_corpus is None or not needs_backwards(config):
        return None
    given, fetched = config.continuation.models.backwards, None
    if given:
        src, trg = config.experiment.src, config.experiment.trg
        fetched = fetch_model(config, f"backwards-{src}-{trg}", given.url, given.mode, trg, src)
        if given.mode == "use":
            return fetched
    turned = Vocab(train_vocab.trg, train_vocab.src)
    length = max_length(config.marian_args.training_backward, BACKWARDS_LENGTH)
    corpus = Corpus(merge_corpus.trg, merge_corpus.src)
    pairs = training_pairs(f"original-backwards-{config.pair}", corpus, turned, length)
    return train_model(
        config,
        label=f"train-backwards-{config.pair}",
        vocab=turned,
        data={"original": pairs},
        dev=Corpus(merge_devset.trg, merge_devset.src),
        model="backward",
        training="backward.train",
        curriculum="backward",
        args=config.marian_args.training_backward,
        seed=SEED,
        pretrained=fetched,
        resume=bool(given and given.mode == "continue"),
        backwards=True,
    )


@stage(group="teacher")
def train_teacher(
    config: TrainingConfig,
    train_vocab: Vocab,
    alignments_original: Aligned | None,
    alignments_backtranslated: Aligned | None,
    merge_devset: Corpus,
) -> list[Model]:
    """The teachers, one per ensemble member, trained on parallel and back-translated text, seeds 1..N.

    An earlier run's are fetched where they are given: to be used, trained further, or begun with.
    """
    fetched, given = _fetch(config), config.continuation.models.teacher
    if alignments_original is None:
        return fetched
    texts, curriculum = {"original": alignments_original}, "teacher.original"
    if alignments_backtranslated is not None:
        texts["backtranslated"] = alignments_backtranslated
        curriculum = f"teacher.{config.experiment.teacher_mode}"
    length = max_length(config.marian_args.training_teacher, TEACHER_LENGTH)
    data = {
        name: training_pairs(f"{name}-teacher-{config.pair}", text, train_vocab, length)
        for name, text in texts.items()
    }
    return [
        train_model(
            config,
            label=f"train-teacher-{config.pair}-{seed}",
            vocab=train_vocab,
            data=data,
            dev=merge_devset,
            model="teacher",
            training="teacher.train",
            curriculum=curriculum,
            args=config.marian_args.training_teacher,
            seed=seed,
            pretrained=fetched[seed - 1] if fetched else None,
            resume=bool(given and given.mode == "continue"),
        )
        for seed in range(1, config.experiment.teacher_ensemble + 1)
    ]


def _fetch(config: TrainingConfig) -> list[Model]:
    """The teachers of the earlier run; none when they are trained from scratch, or not needed."""
    src, trg, given = config.experiment.src, config.experiment.trg, config.continuation.models.teacher
    if given is None or not distils(config):
        return []
    if len(given.urls) != config.experiment.teacher_ensemble:
        raise GraphError("continuation.models.teacher.urls needs a URL for each teacher.")
    return [
        fetch_model(config, f"teacher-{src}-{trg}-{number}", url, given.mode, src, trg)
        for number, url in enumerate(given.urls, start=1)
    ]


@stage(group="student")
def train_student(
    config: TrainingConfig, train_vocab: Vocab, alignments_student: Aligned, merge_devset: Corpus
) -> Model:
    """The student: a small model trained on the distilled corpus.

    An earlier run's is fetched where it is given: training begins with its weights, in its shape.
    """
    src, trg, given = config.experiment.src, config.experiment.trg, config.continuation.models.student
    fetched = fetch_model(config, f"student-{src}-{trg}", given.url, given.mode, src, trg) if given else None
    return _train(config, "train", train_vocab, alignments_student, merge_devset, fetched)


@stage(group="student")
def finetune_student(
    config: TrainingConfig,
    train_student: Model,
    train_vocab: Vocab,
    alignments_student: Aligned,
    merge_devset: Corpus,
) -> Model:
    """The student, in its shape, trained on with weights that are quantised to 8 bits in the forward pass."""
    return _train(config, "finetune", train_vocab, alignments_student, merge_devset, train_student)


def _train(
    config: TrainingConfig,
    verb: Literal["train", "finetune"],
    vocab: Vocab,
    aligned: Aligned,
    dev: Corpus,
    pretrained: Model | None = None,
) -> Model:
    options = config.marian_args
    args = options.training_student if verb == "train" else options.training_student_finetuned
    length = max_length(args, STUDENT_LENGTH)
    if verb == "finetune" and pretrained and length == max_length(options.training_student, STUDENT_LENGTH):
        pairs = maker(pretrained).inputs["original"]
    else:
        label = f"original-{'student' if verb == 'train' else 'finetuned-student'}-{config.pair}"
        pairs = training_pairs(label, aligned, vocab, length, link_pieces=True)
    return train_model(
        config,
        label=f"{verb}-student-{config.pair}",
        vocab=vocab,
        data={"original": pairs},
        dev=dev,
        model=f"student.{config.experiment.student_model}",
        training=f"student.{verb}",
        curriculum="student",
        args=args,
        seed=SEED,
        pretrained=pretrained,
        inherits="shape",
    )


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
    with `resume` also with what that saved last, so that it continues.
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
