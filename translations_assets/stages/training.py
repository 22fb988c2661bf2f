"""Stages that train: the vocabulary, the backwards model, the teachers, the student."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from translations_assets.common.errors import GraphError
from translations_assets.config.finetuning import Finetuned
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import stage, step
from translations_assets.graph.step import Input, RepoFile
from translations_assets.stages.continuation import distils, fetch_model, fetch_vocab, needs_backwards
from translations_assets.stages.finetuning import finetunes
from translations_assets.stages.handles import (
    Aligned,
    Corpus,
    Model,
    Vocab,
    languages,
    modifier_shares,
)
from translations_assets.stages.languages import letters
from translations_assets.stages.train_steps import (
    TRAIN_CONFIGS,
    maker,
    max_length,
    train_model,
    training_pairs,
)

SEED = 1111
# Pieces that a side of a pair may have, unless `marian-args` say max-length. Training asks its pairs.
BACKWARDS_LENGTH = 100
TEACHER_LENGTH = 100
STUDENT_LENGTH = 200


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
    separator = config.documents.separator if config.documents.datasets else ""
    trained = step(
        "pipeline.train.vocab",
        label=f"train-vocab-{src}-{trg}",
        args={
            **languages(config),
            "src_letters": letters(config.source) + separator,
            "trg_letters": letters(config.target) + separator,
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
        seed=config.experiment.seeds.backwards,
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
    alignments_finetune: Aligned | None,
    merge_devset: Corpus,
) -> list[Model]:
    """The teachers, one per ensemble member, trained on parallel and back-translated text.

    At the end they are trained on `datasets.finetune`, where `finetuning.models` says so. An earlier run's
    are fetched where they are given: to be used, trained further, or begun with.
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
    first = config.experiment.seeds.teacher - 1
    teachers = [
        train_model(
            config,
            label=f"train-teacher-{config.pair}-{number}",
            vocab=train_vocab,
            data=data,
            dev=merge_devset,
            model="teacher",
            training="teacher.train",
            curriculum=curriculum,
            args=config.marian_args.training_teacher,
            seed=first + number,
            pretrained=fetched[number - 1] if fetched else None,
            resume=bool(given and given.mode == "continue"),
        )
        for number in range(1, config.experiment.teacher_ensemble + 1)
    ]
    if alignments_finetune is None or not finetunes(config, "teacher"):
        return teachers
    longest = max_length(_options_on_finetune(config, "teacher"), TEACHER_LENGTH)
    name, made = ("teacher", data) if longest == length else ("teacher-on-finetune", {})
    pairs = {
        kind: made.get(kind) or training_pairs(f"{kind}-{name}-{config.pair}", text, train_vocab, longest)
        for kind, text in {"original": alignments_original, "finetune": alignments_finetune}.items()
    }
    return [
        _on_finetune(config, "teacher", f"-{number}", model, pairs, train_vocab, merge_devset, first + number)
        for number, model in enumerate(teachers, start=1)
    ]


def _options_on_finetune(config: TrainingConfig, model: Finetuned) -> Mapping[str, Any]:
    """Options of Marian for training a model on the text to finetune on."""
    options = config.marian_args
    first = options.training_student if model == "student" else options.training_teacher
    return {**first, **options.training_on_finetune}


def _on_finetune(
    config: TrainingConfig,
    model: Finetuned,
    number: str,
    pretrained: Model,
    data: Mapping[str, Input],
    vocab: Vocab,
    dev: Corpus,
    seed: int,
) -> Model:
    """Train a model on the text to finetune on, mixed with the old text where there is some."""
    return train_model(
        config,
        label=f"train-{model}-on-finetune-{config.pair}{number}",
        vocab=vocab,
        data=data,
        dev=dev,
        model=f"student.{config.experiment.student_model}" if model == "student" else model,
        training=f"{model}.train",
        curriculum=f"{model}.on-finetune" if "finetune" in data else model,
        args=_options_on_finetune(config, model),
        seed=seed,
        pretrained=pretrained,
        inherits="shape",
    )


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
    config: TrainingConfig,
    train_vocab: Vocab,
    alignments_student: Aligned,
    alignments_finetune: Aligned | None,
    merge_devset: Corpus,
) -> Model:
    """The student: a small model trained on the distilled corpus.

    An earlier run's is fetched where it is given: training begins with its weights, in its shape; or it is
    taken as it is. At the end it is trained on `datasets.finetune`, where `finetuning.models` says so.
    """
    src, trg, given = config.experiment.src, config.experiment.trg, config.continuation.models.student
    fetched = fetch_model(config, f"student-{src}-{trg}", given.url, given.mode, src, trg) if given else None
    is_trained = not (given and given.mode == "use")
    student = fetched
    first, args = config.marian_args.training_student, _options_on_finetune(config, "student")
    if student is None or is_trained:
        data = _student_pairs(config, "student", first, train_vocab, alignments_student, None)
        student = _train(config, "train", train_vocab, data, merge_devset, fetched)
    if not finetunes(config, "student") or (is_trained and alignments_finetune is None):
        return student
    alike = max_length(args, STUDENT_LENGTH) == max_length(first, STUDENT_LENGTH)
    data = _student_pairs(
        config,
        "student" if alike else "student-on-finetune",
        args,
        train_vocab,
        alignments_student,
        alignments_finetune,
        before=student if alike else None,
    )
    seed = config.experiment.seeds.student
    return _on_finetune(config, "student", "", student, data, train_vocab, merge_devset, seed)


@stage(group="student")
def finetune_student(
    config: TrainingConfig,
    train_student: Model,
    train_vocab: Vocab,
    alignments_student: Aligned,
    alignments_finetune: Aligned | None,
    merge_devset: Corpus,
) -> Model:
    """The student, in its shape, trained on with weights that are quantised to 8 bits in the forward pass.

    On the text that it was trained on last.
    """
    options, on_finetune = config.marian_args, finetunes(config, "student")
    args, before = options.training_student_finetuned, train_student
    last = _options_on_finetune(config, "student") if on_finetune else options.training_student
    alike = max_length(args, STUDENT_LENGTH) == max_length(last, STUDENT_LENGTH)
    data = _student_pairs(
        config,
        "finetuned-student",
        args,
        train_vocab,
        alignments_student,
        alignments_finetune if on_finetune else None,
        before=before if alike else None,
    )
    return _train(config, "finetune", train_vocab, data, merge_devset, train_student)


def _student_pairs(
    config: TrainingConfig,
    name: str,
    args: Mapping[str, Any],
    vocab: Vocab,
    aligned: Aligned,
    finetune: Aligned | None,
    before: Model | None = None,
) -> dict[str, Input]:
    """The pairs that a student reads; those that it has read `before` are not made again."""
    length = max_length(args, STUDENT_LENGTH)
    texts = {"original": aligned, **({"finetune": finetune} if finetune else {})}
    made = maker(before).inputs if before else {}
    return {
        kind: made.get(kind)
        or training_pairs(f"{kind}-{name}-{config.pair}", text, vocab, length, link_pieces=True)
        for kind, text in texts.items()
    }


def _train(
    config: TrainingConfig,
    verb: Literal["train", "finetune"],
    vocab: Vocab,
    data: Mapping[str, Input],
    dev: Corpus,
    pretrained: Model | None = None,
) -> Model:
    options = config.marian_args
    return train_model(
        config,
        label=f"{verb}-student-{config.pair}",
        vocab=vocab,
        data=data,
        dev=dev,
        model=f"student.{config.experiment.student_model}",
        training=f"student.{verb}",
        curriculum="student.on-finetune" if "finetune" in data else "student",
        args=options.training_student if verb == "train" else options.training_student_finetuned,
        seed=config.experiment.seeds.student,
        pretrained=pretrained,
        inherits="shape",
    )
