"""Translation: back-translation; distillation, with the scores of the backwards model and their filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import stage, step
from translations_assets.graph.step import Output, Step
from translations_assets.stages.continuation import fetch_corpus, only_finetunes, uses_backtranslations
from translations_assets.stages.distilled_text import sample_pairs, with_noise
from translations_assets.stages.handles import (
    CONVERTED_FILES,
    RESUMED_ATTEMPTS,
    Corpora,
    Corpus,
    Model,
    Mono,
    corpus_step,
)
from translations_assets.stages.languages import Identifying
from translations_assets.stages.metricx import best_by_qe, fetch_metricx, score_by_qe
from translations_assets.stages.translators import (
    Decoder,
    Decoders,
    Direction,
    Shares,
    shares_of,
    translate_text,
)

Selection: TypeAlias = Literal["reference", "likeliest", "mbr", "qe"]

SEED = 42
DROPPED_SHARE = 0.05


def split_pairs(family: str, parts: int, first: Output, second: Output) -> list[tuple[Output, Output]]:
    """The parts of two texts, line by line in two columns, in order, from a step that splits both."""
    split = _split(family, parts, first, second)
    return [(split[f"part.{i}.zst"], split[f"part.{i}.ref.zst"]) for i in range(1, parts + 1)]


def _split(
    family: str, parts: int, text: Output, references: Output | None, weights: Sequence[str] | None = None
) -> Step:
    kinds = (".zst", ".ref.zst") if references else (".zst",)
    return step(
        "pipeline.translate.split",
        label=f"split-{family}",
        args={"parts": parts, "weights": weights},
        inputs={"text": text, "references": references},
        outputs=(*(f"part.{i}{kind}" for i in range(1, parts + 1) for kind in kinds), "stats.json"),
    )


def collect(family: str, name: str, parts: Sequence[Output], text: Output) -> Output:
    """The parts of what was made of a text, put together in order under a name."""
    collected = step(
        "pipeline.translate.collect",
        label=f"collect-{family}",
        args={"name": name},
        inputs={"parts": parts, "text": text},
        outputs=(name, "stats.json"),
    )
    return collected[name]


def translate_in_chunks(
    config: TrainingConfig,
    name: str,
    text: Output,
    shares: Shares,
    direction: Direction,
    *,
    references: Output | None = None,
    selection: Selection = "likeliest",
) -> Output:
    """Split a text, translate the parts, collect them in order.

    Several decoders get their shares of the text, which is shuffled. With another selection than `likeliest`
    the lists of n best are searched for the translation that is nearest to the reference or to all others, or
    has the least error. The file is called as what `name` begins with, and the language.
    """
    lang = config.experiment.src if direction == "backward" else config.experiment.trg
    family, team = f"{name}-{config.pair}", _team(shares, config.taskcluster.split_chunks)
    weights = [f"{weight:.9g}" for _, weight in team] if len(shares) > 1 else None
    split = _split(family, len(team), text, references, weights)
    metricx = fetch_metricx(config, family) if selection == "qe" else None
    identifying = Identifying(config, f"answers-{family}")
    selects = selection != "likeliest"
    translated = [
        translate_text(
            config,
            decoder,
            f"{family}-{i}/{len(team)}",
            split[f"part.{i}.zst"],
            direction,
            identifying,
            nbest=selects and decoder.lists,
        )
        for i, (decoder, _) in enumerate(team, start=1)
    ]
    for i, (decoder, _) in enumerate(team, start=1) if selects else ():
        which, found, part = f"{i}/{len(team)}", translated[i - 1], split[f"part.{i}.zst"]
        if decoder.lists and metricx:
            found = best_by_qe(f"best-by-qe-{family}-{which}", metricx, found, part)
        elif decoder.lists and selection == "mbr":
            found = _choose("pipeline.translate.mbr", f"mbr-{family}-{which}", nbest=found, text=part)
        elif decoder.lists:
            found = _choose(
                "pipeline.translate.extract_best",
                f"extract-best-{config.pair}-{which}",
                nbest=found,
                references=split[f"part.{i}.ref.zst"],
            )
        translated[i - 1] = found
    return collect(family, f"{name.partition('-')[0]}.{lang}.zst", translated, text)


def _team(shares: Shares, parts: int) -> list[tuple[Decoder, float]]:
    """For each part of a text who translates it, and its share of the text; each decoder has one at least."""
    return [
        (decoder, share / number)
        for decoder, share in shares
        for number in [max(1, round(share * parts))]
        for _ in range(number)
    ]


def _choose(script: str, label: str, **inputs: Output) -> Output:
    """The translation of each line that a script chooses from the lists of n best."""
    chosen = step(
        script,
        label=label,
        inputs=inputs,
        outputs=("best.zst", "stats.json"),
        resumable=True,
        attempts=RESUMED_ATTEMPTS,
    )
    return chosen["best.zst"]


@stage(group="back_translation")
def translate_mono_trg(
    config: TrainingConfig,
    merge_mono_trg: Mono | None,
    train_backwards: Model | None,
    fetch_translators: Decoders,
) -> Corpus | None:
    """Mono target text with its back-translation as the source side; split, translated, collected.

    `experiment.backwards` translates it, else the backwards model. It is fetched where an earlier run's is
    given.
    """
    if uses_backtranslations(config) and (fetched := fetch_corpus(config, "backtranslations")):
        return fetched
    if merge_mono_trg is None:
        return None
    if config.experiment.backwards:
        shares = shares_of(config.experiment.backwards, fetch_translators)
    elif train_backwards:
        shares = _sampled_in_part(config, _backwards_decoder(config, train_backwards))
    else:
        return None
    translated = translate_in_chunks(config, "mono-trg", merge_mono_trg.text, shares, "backward")
    return Corpus(translated, merge_mono_trg.text)


def _sampled_in_part(config: TrainingConfig, decoder: Decoder) -> Shares:
    """The backwards model as two decoders, one of which samples, where the config gives that a share."""
    sampled = config.experiment.sampled_backtranslations
    shares = ((decoder, 1 - sampled), (replace(decoder, sampled=True), sampled))
    return [(one, share) for one, share in shares if share]


def _backwards_decoder(config: TrainingConfig, model: Model) -> Decoder:
    if config.experiment.backwards_decoder == "ctranslate2":
        return Decoder(converted=_convert(f"convert-backwards-{config.pair}", model))
    return Decoder([model])


@stage(group="distillation")
def convert_teacher(config: TrainingConfig, train_teacher: list[Model]) -> Model | None:
    """The teacher in CTranslate2's form, where the config decodes with it."""
    if config.experiment.teacher_decoder != "ctranslate2" or not train_teacher:
        return None
    (teacher,) = train_teacher
    return _convert(f"convert-teacher-{config.pair}", teacher)


def _convert(label: str, model: Model) -> Model:
    """The model in CTranslate2's form."""
    converted = step(
        "pipeline.translate.convert",
        label=label,
        inputs={"model": model},
        outputs=(*CONVERTED_FILES, "stats.json"),
    )
    return converted.folder(*CONVERTED_FILES)


@stage(group="distillation")
def translate_corpus(
    config: TrainingConfig,
    merge_corpus: Corpus | None,
    train_teacher: list[Model],
    convert_teacher: Model | None,
    fetch_translators: Decoders,
) -> Corpus | None:
    """The parallel source text with the teachers' translation that is nearest to the reference by chrF, or
    nearest to their others, or has the least error (`experiment.selection`).

    A translator that gives a single translation of each line leaves nothing to select.
    """
    if merge_corpus is None:
        return None
    limit = config.distillation.corpus_max_sentences
    if limit:
        merge_corpus = sample_pairs(config, "corpus", merge_corpus, limit)
    text, selection = merge_corpus.src, config.experiment.selection.corpus
    translated = translate_in_chunks(
        config,
        "corpus",
        text,
        _teachers(config, train_teacher, convert_teacher, fetch_translators),
        "teacher",
        references=merge_corpus.trg if selection == "reference" else None,
        selection=selection,
    )
    return Corpus(text, translated)


@stage(group="distillation")
def translate_mono_src(
    config: TrainingConfig,
    merge_mono_src: Mono | None,
    train_teacher: list[Model],
    convert_teacher: Model | None,
    fetch_translators: Decoders,
) -> Corpus | None:
    """Mono source text with the teachers' likeliest translation, the one that is nearest to their others, or
    the one with the least error (`experiment.selection`).
    """
    if merge_mono_src is None:
        return None
    text = merge_mono_src.text
    translated = translate_in_chunks(
        config,
        "mono-src",
        text,
        _teachers(config, train_teacher, convert_teacher, fetch_translators),
        "teacher",
        selection=config.experiment.selection.mono,
    )
    return Corpus(text, translated)


def _teachers(
    config: TrainingConfig, models: list[Model], converted: Model | None, given: Decoders
) -> Shares:
    """What the config names as teachers, else those that are trained."""
    if config.experiment.teacher:
        return shares_of(config.experiment.teacher, given)
    return [(Decoder(converted=converted) if converted else Decoder(models), 1.0)]


@stage(group="distillation")
def merge_translated(
    config: TrainingConfig,
    translate_corpus: Corpus | None,
    translate_mono_src: Corpus | None,
    translate_mono_trg: Corpus | None,
    dataset_devtest: Corpora,
    dataset_test: Corpora,
) -> Corpus | None:
    """The distilled corpus, shuffled, without duplicates and without any line of a dev or test set.

    With `distillation.backtranslated-max-sentences` also target text and its back-translation.
    """
    if translate_corpus is None:
        return None
    limit = config.distillation.backtranslated_max_sentences
    back = (
        sample_pairs(config, "backtranslated", translate_mono_trg, limit)
        if translate_mono_trg and limit
        else None
    )
    held_out = dataset_devtest + dataset_test
    return corpus_step(
        config,
        "pipeline.clean.merge_translated",
        label=f"merge-translated-{config.pair}",
        args={"seed": SEED},
        inputs={
            **translate_corpus.sides,
            "mono_src": translate_mono_src.src if translate_mono_src else None,
            "mono_trg": translate_mono_src.trg if translate_mono_src else None,
            "backtranslated_src": back.src if back else None,
            "backtranslated_trg": back.trg if back else None,
            "held_out_src": [corpus.src for corpus in held_out],
            "held_out_trg": [corpus.trg for corpus in held_out],
        },
        more=["sample.txt"],
        worker="large-cpu",
    )


@stage(group="distillation")
def score(
    config: TrainingConfig, merge_translated: Corpus | None, train_backwards: Model | None
) -> Output | None:
    """The backwards model's log-probability per token of every distilled pair, or MetricX's estimate of its
    error; split, scored, collected.

    Nothing to do with `experiment.filter: none`.
    """
    if merge_translated is None or config.experiment.filter == "none":
        return None
    family, parts = f"score-{config.pair}", config.taskcluster.split_chunks
    if config.experiment.filter == "qe":
        model = fetch_metricx(config, family)
        pairs = split_pairs(family, parts, merge_translated.src, merge_translated.trg)
        estimated = [
            score_by_qe(f"{family}-{i}/{parts}", model, *pair) for i, pair in enumerate(pairs, start=1)
        ]
        return collect(family, "scores.zst", estimated, merge_translated.trg)
    if train_backwards is None:
        return None
    pairs = split_pairs(family, parts, merge_translated.trg, merge_translated.src)
    scored = [
        step(
            "pipeline.cefilter.score",
            label=f"{family}-{i}/{parts}",
            inputs={"model": train_backwards, "model_source": source, "model_target": target},
            outputs=("scores.zst", "stats.json"),
            worker="gpu",
            resumable=True,
            repeatable=False,
            attempts=RESUMED_ATTEMPTS,
        )["scores.zst"]
        for i, (source, target) in enumerate(pairs, start=1)
    ]
    return collect(family, "scores.zst", scored, merge_translated.trg)


@stage(group="distillation")
def cefilter(
    config: TrainingConfig,
    merge_translated: Corpus | None,
    score: Output | None,
    merge_finetune: Corpus | None,
) -> Corpus:
    """The distilled corpus without the five per cent of pairs that the backwards model finds least likely, or
    that MetricX finds the worst.

    With `experiment.filter: none` all of it. An earlier run's is fetched, as it is, where it is given. Where
    an earlier student is finetuned on `datasets.finetune` alone, it is that text. At last comes the noise of
    `distillation.noise`.
    """
    if only_finetunes(config):
        assert merge_finetune is not None  # there are datasets
        return merge_finetune
    fetched = fetch_corpus(config, "distillation")
    if fetched:
        return with_noise(config, fetched)
    assert merge_translated is not None  # it is made where it is not fetched
    if config.experiment.filter == "none":
        return with_noise(config, merge_translated)
    filtered = corpus_step(
        config,
        "pipeline.cefilter.filter",
        label=f"cefilter-{config.pair}",
        args={"drop": DROPPED_SHARE},
        inputs={**merge_translated.sides, "scores": score},
    )
    return with_noise(config, filtered)
