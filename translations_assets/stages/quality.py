"""Steps that compute the numbers of quality gates; `translations_assets.checks` judges them.

Each stage here belongs to the stage that it checks. It is planned, run and cached as all are, but becomes
asset checks and no asset. Its inputs are among what the checked stage and all before it make; those that
compare models read the evaluations of both, and a target that has but one of them comes without.
"""

from __future__ import annotations

from collections.abc import Sequence

from translations_assets.config.datasets import parse_dataset
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import stage, step
from translations_assets.graph.step import Arg, Folder, Input, Output, RepoFile
from translations_assets.stages.continuation import DOWNLOAD_ATTEMPTS, url_secrets
from translations_assets.stages.handles import (
    DECODING_CONFIGS,
    GPU_ATTEMPTS,
    Aligned,
    Corpora,
    Corpus,
    Evaluations,
    Model,
    Mono,
    Side,
    Vocab,
    aliases,
    languages,
    marian_args,
)
from translations_assets.stages.languages import Identifying, letters
from translations_assets.stages.metricx import metricx_name

NUMBERS = "numbers.json"
SEED = 1111
MOST_WORDS = 1_000_000  # of a list; larger ones are sampled


@stage(group="checks", checks="merge_corpus")
def check_merge_corpus(
    config: TrainingConfig, merge_corpus: Corpus | None, dataset_devtest: Corpora, dataset_test: Corpora
) -> None:
    """Held-out lines, languages, duplicates, lengths and empty lines of the parallel corpus."""
    _check_text(config, "corpus", merge_corpus, dataset_devtest + dataset_test, whole_pairs=True)


@stage(group="checks", checks="merge_mono_src")
def check_merge_mono_src(
    config: TrainingConfig, merge_mono_src: Mono | None, dataset_devtest: Corpora, dataset_test: Corpora
) -> None:
    """Held-out lines, languages, duplicates and empty lines of the monolingual source text."""
    _check_text(config, "mono-src", merge_mono_src, dataset_devtest + dataset_test, sides=["src"])


@stage(group="checks", checks="merge_mono_trg")
def check_merge_mono_trg(
    config: TrainingConfig, merge_mono_trg: Mono | None, dataset_devtest: Corpora, dataset_test: Corpora
) -> None:
    """Held-out lines, languages, duplicates and empty lines of the monolingual target text."""
    _check_text(config, "mono-trg", merge_mono_trg, dataset_devtest + dataset_test, sides=["trg"])


@stage(group="checks", checks="train_vocab")
def check_train_vocab(
    config: TrainingConfig,
    train_vocab: Vocab,
    merge_corpus: Corpus | None,
    dataset_devtest: Corpora,
    dataset_test: Corpora,
) -> None:
    """Measure the vocabularies' coverage of corpus, dev and test sets, and their pieces for upper case."""
    src, trg = config.experiment.src, config.experiment.trg
    # Without the variants that ask for the unusual, such as upper case.
    held_out = [one for one in dataset_devtest + dataset_test if not parse_dataset(one.name).augmentation]
    step(
        "pipeline.checks.vocabulary",
        label=f"check-vocab-{src}-{trg}",
        args={
            "langs": [src, trg],
            "letters_first": letters(config.source),
            "letters_second": letters(config.target),
            **_cases(config),
            "seed": SEED,
        },
        inputs={
            "vocabs": [train_vocab.src, train_vocab.trg],
            "corpus": [merge_corpus.src, merge_corpus.trg] if merge_corpus else None,
            "held_out_first": [corpus.src for corpus in held_out],
            "held_out_second": [corpus.trg for corpus in held_out],
        },
        outputs=(NUMBERS,),
    )


def _cases(config: TrainingConfig) -> dict[str, Arg]:
    """The cases in which models read lines, and the locales of languages with case; nothing without any."""
    spoken, shares = config.source, config.experiment.modifiers
    of_cases = {"upper": shares.upper_case, "title": shares.title_case}
    cases = [case for case, share in of_cases.items() if share != 0]
    if not (spoken.bicameral and cases):
        return {}
    other = config.target
    second = {"locale_second": other.icu} if other.bicameral else {}
    return {"cases": cases, "locale_first": spoken.icu, **second}


@stage(group="checks", checks="train_teacher")
def check_train_teacher(config: TrainingConfig, train_teacher: list[Model], merge_devset: Corpus) -> None:
    """Translate the dev set with all teachers together, before they translate everything."""
    if not train_teacher:
        return
    step(
        "pipeline.checks.models",
        label=f"check-teacher-{config.pair}",
        args={
            **languages(config),
            "trg": config.target.bleu,
            "marian_args": marian_args(config.marian_args.decoding_teacher),
            "seed": SEED,
        },
        inputs={
            "models": train_teacher,
            "text": merge_devset.src,
            "references": merge_devset.trg,
            "decoding_config": RepoFile(f"{DECODING_CONFIGS}/teacher.yml"),
        },
        outputs=(NUMBERS,),
        worker="gpu",
        repeatable=False,
        attempts=GPU_ATTEMPTS,
    )


@stage(group="checks", checks="translate_mono_trg")
def check_translate_mono_trg(config: TrainingConfig, translate_mono_trg: Corpus | None) -> None:
    """Empty, copied, repeated and looping back-translations, and their lengths."""
    _check_text(config, "backtranslations", translate_mono_trg)


@stage(group="checks", checks="alignments_original")
def check_alignments_original(config: TrainingConfig, alignments_original: Aligned | None) -> None:
    """Links of the parallel corpus' alignments."""
    _check_alignments(config, "original", alignments_original)


@stage(group="checks", checks="alignments_backtranslated")
def check_alignments_backtranslated(
    config: TrainingConfig, alignments_backtranslated: Aligned | None
) -> None:
    """Links of the back-translated corpus' alignments."""
    _check_alignments(config, "backtranslated", alignments_backtranslated)


@stage(group="checks", checks="translate_corpus")
def check_translate_corpus(config: TrainingConfig, translate_corpus: Corpus | None) -> None:
    """Empty, copied, repeated and looping translations of the parallel corpus, and their lengths."""
    _check_text(config, "translated-corpus", translate_corpus)


@stage(group="checks", checks="translate_mono_src")
def check_translate_mono_src(config: TrainingConfig, translate_mono_src: Corpus | None) -> None:
    """Empty, copied, repeated and looping translations of the monolingual source text, and their lengths."""
    _check_text(config, "translated-mono-src", translate_mono_src)


@stage(group="checks", checks="cefilter")
def check_cefilter(
    config: TrainingConfig, cefilter: Corpus, dataset_devtest: Corpora, dataset_test: Corpora
) -> None:
    """Held-out lines, languages, duplicates, lengths, empty and copied lines of what students learn from."""
    _check_text(config, "distilled", cefilter, dataset_devtest + dataset_test)


@stage(group="checks", checks="alignments_student")
def check_alignments_student(config: TrainingConfig, alignments_student: Aligned) -> None:
    """Links of the distilled corpus' alignments."""
    _check_alignments(config, "student", alignments_student)


@stage(group="checks", checks="export")
def check_export(
    config: TrainingConfig,
    export: Folder,
    quantize: Model,
    dataset_devtest: Corpora,
    dataset_test: Corpora,
    alignments_original: Aligned | None,
    alignments_student: Aligned,
) -> None:
    """Load the exported files, translate text and HTML, and look at tags and offensive words."""
    step(
        "pipeline.checks.exported",
        label=f"check-export-{config.pair}",
        args={"seed": SEED},
        inputs={"exported": list(export.files.values()), "text": dataset_devtest[0].src},
        outputs=(NUMBERS,),
        repeatable=False,
    )
    texts = [one for one in dataset_test + dataset_devtest if not parse_dataset(one.name).augmentation]
    _check_offensive_words(config, export, texts or dataset_devtest)
    priors = (alignments_original and alignments_original.priors) or alignments_student.priors
    if not texts or not priors:  # alignments that were fetched come without priors
        return
    step(
        "pipeline.checks.markup",
        label=f"check-markup-{config.pair}",
        args={**languages(config), "seed": SEED},
        inputs={"model": quantize, **texts[0].sides, "priors": priors},
        outputs=(NUMBERS,),
        aliases=aliases(texts[:1]),
        repeatable=False,
    )


def _check_offensive_words(config: TrainingConfig, export: Folder, texts: Corpora) -> None:
    lists = config.checks.offensive_words
    if not lists.trg_list:
        return
    src, trg = config.experiment.src, config.experiment.trg
    step(
        "pipeline.checks.offensive",
        label=f"check-offensive-words-{config.pair}",
        args={"seed": SEED},
        inputs={
            "exported": list(export.files.values()),
            "texts": [one.src for one in texts],
            "trg_list": _fetch_words("trg", trg, lists.trg_list),
            "src_list": _fetch_words("src", src, lists.src_list) if lists.src_list else None,
        },
        outputs=(NUMBERS,),
        repeatable=False,
    )


def _fetch_words(side: Side, lang: str, url: str) -> Output:
    """A list of words behind a URL, which is fetched as a monolingual dataset is."""
    fetched = step(
        "pipeline.data.mono_url",
        label=f"offensive-words-{side}-{lang}",
        args={"dataset": url, "lang": lang, "code": lang, "max_sentences": MOST_WORDS},
        outputs=(f"mono.{lang}.zst", "stats.json"),
        resumable=True,
        attempts=DOWNLOAD_ATTEMPTS,
        secrets=url_secrets([url]),
    )
    return fetched[f"mono.{lang}.zst"]


@stage(group="checks", checks="evaluate_student")
def check_evaluate_student(
    config: TrainingConfig,
    evaluate_student: Evaluations,
    evaluate_teacher: Evaluations,
    evaluate_teacher_ensemble: Evaluations,
) -> None:
    """Test whether the student differs from the teachers by more than chance."""
    _compare(config, evaluate_student, evaluate_teacher_ensemble or evaluate_teacher)


@stage(group="checks", checks="evaluate_finetuned_student")
def check_evaluate_finetuned_student(
    config: TrainingConfig,
    evaluate_finetuned_student: Evaluations,
    evaluate_teacher: Evaluations,
    evaluate_teacher_ensemble: Evaluations,
) -> None:
    """Test whether the finetuned student differs from the teachers by more than chance."""
    _compare(config, evaluate_finetuned_student, evaluate_teacher_ensemble or evaluate_teacher)


@stage(group="checks", checks="evaluate_quantized")
def check_evaluate_quantized(
    config: TrainingConfig, evaluate_quantized: Evaluations, evaluate_finetuned_student: Evaluations
) -> None:
    """Test whether the quantised student differs from the finetuned one by more than chance."""
    _compare(config, evaluate_quantized, evaluate_finetuned_student)


@stage(group="checks", checks="evaluate_exported")
def check_evaluate_exported(
    config: TrainingConfig, evaluate_exported: Evaluations, evaluate_finetuned_student: Evaluations
) -> None:
    """Test whether the student in Firefox's engine differs from the finetuned one by more than chance."""
    _compare(config, evaluate_exported, evaluate_finetuned_student)


@stage(group="checks", checks="final_evaluation")
def check_final_evaluation(
    config: TrainingConfig, evaluate_exported: Evaluations, final_evaluation: Evaluations
) -> None:
    """Test whether the exported student differs from the released model, and others, by more than chance."""
    _compare(config, evaluate_exported, final_evaluation, "check-final")


def _compare(config: TrainingConfig, judged: Evaluations, others: Evaluations, label: str = "check") -> None:
    """Compare a model on each test set with the others that were evaluated there, by all metrics."""
    comet, metricx = config.evaluation.comet, config.evaluation.metricx
    for evaluation in judged:
        test = evaluation.test
        on_same = [other for other in others if other.test == test]
        if on_same:
            segments: dict[str, Input | None] = {
                name: [one.segments[name] for one in (evaluation, *on_same)] for name in evaluation.segments
            }
            step(
                "pipeline.checks.differences",
                label=f"{label}-{evaluation.model}-{test.short_name}-{config.pair}",
                args={
                    "model": evaluation.model,
                    "others": [other.model for other in on_same],
                    "trg": config.target.bleu,
                    "dataset": test.name,
                    **({"comet": comet.name} if comet else {}),
                    **({"metricx": metricx_name(config)} if metricx else {}),
                },
                inputs={
                    "translations": evaluation.translations,
                    "others_translations": [other.translations for other in on_same],
                    "references": test.trg,
                    "spbleu_model": evaluation.spbleu_model,
                    **segments,
                },
                outputs=(NUMBERS,),
                aliases=aliases([test]),
            )


def _check_text(
    config: TrainingConfig,
    name: str,
    text: Corpus | Mono | None,
    held_out: Sequence[Corpus] = (),
    *,
    sides: Sequence[Side] = ("src", "trg"),
    whole_pairs: bool = False,
) -> None:
    """Languages and held-out lines are those of genuine text, which is checked against `held_out`."""
    if text is None:
        return
    langs: list[str] = [getattr(config.experiment, side) for side in sides]
    args: dict[str, Arg] = {"langs": langs, "seed": SEED}
    inputs: dict[str, Input | None] = {}
    if isinstance(text, Corpus):
        args["whole_pairs"], inputs["texts"] = whole_pairs, [text.src, text.trg]
    else:
        inputs["texts"] = [text.text]
    if held_out:
        identifying = Identifying(config, f"check-{name}")
        args["scripts"] = [config.spoken(lang).script for lang in langs]
        for place, side, lang in zip(("first", "second"), sides, langs, strict=False):
            found = identifying.of_text(config.spoken(lang))
            args[f"labels_{place}"] = found.labels
            inputs[f"language_model_{place}"] = found.model
            inputs[f"held_out_{place}"] = [getattr(corpus, side) for corpus in held_out]
    label = f"check-{name}-{'-'.join(langs)}"
    step("pipeline.checks.text", label=label, args=args, inputs=inputs, outputs=(NUMBERS,))


def _check_alignments(config: TrainingConfig, name: str, aligned: Aligned | None) -> None:
    if aligned is None:
        return
    step(
        "pipeline.checks.alignments",
        label=f"check-alignments-{name}-{config.pair}",
        inputs={"tokens": [aligned.src, aligned.trg], "alignments": aligned.alignments},
        outputs=(NUMBERS,),
    )
