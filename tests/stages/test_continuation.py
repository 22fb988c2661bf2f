"""Tests of the files of an earlier run, for each continuation, and of the steps that are then left out."""

from __future__ import annotations

import pytest

from tests.stages.configs import FULL, SMALL, files, graph, labels, shown_steps
from translations_assets.common.errors import GraphError
from translations_assets.config.load import read_values
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.graph import Graph
from translations_assets.graph.stage import build_graph
from translations_assets.running.job import command
from translations_assets.stages import STAGES

A = "https://example.org/run"
VOCAB = f"  vocab: {{src: {A}/vocab.en.spm, trg: {A}/vocab.ru.spm}}\n"
PLAIN = f"src: {A}/corpus.en.zst, trg: {A}/corpus.ru.zst"
ALIGNED = f"{PLAIN}, tok-src: {A}/tok.en.zst, tok-trg: {A}/tok.ru.zst, alignments: {A}/aln.zst"
TRAIN = FULL[FULL.index("  train:") : FULL.index("  devtest:")]
MONO = FULL[FULL.index("  mono-src:") : FULL.index("marian-args:")]
WITHOUT_TRAIN = FULL.replace(TRAIN, "")
WITHOUT_DATA = WITHOUT_TRAIN.replace(MONO, "")

# What is left out with a corpus, and with teachers that are taken as they are.
CLEANING = {"dataset_train", "analyze_corpus", "clean_corpus", "bicleaner_model", "bicleaner"}
BACK_TRANSLATION = {"dataset_mono_trg", "merge_mono_trg", "check_merge_mono_trg"}
ALIGNMENTS = {
    *("alignments_original", "alignments_backtranslated"),
    *("check_alignments_original", "check_alignments_backtranslated"),
}


def corpora(**given: str) -> str:
    lines = "".join(f"    {name}: {{{urls}}}\n" for name, urls in given.items())
    return f"  corpora:\n{lines}"


def teachers(mode: str) -> str:
    return f"  models:\n    teacher: {{urls: [{A}/t1, {A}/t2/], mode: {mode}}}\n"


def backwards(mode: str) -> str:
    return f"  models:\n    backwards: {{url: {A}/backwards, mode: {mode}}}\n"


def continued(*sections: str, text: str = FULL) -> Graph:
    return graph(f"{text}continuation:\n{''.join(sections)}")


def left_out(new: Graph, text: str = FULL) -> set[str]:
    """The stages that have steps without the continuation, and none with it."""
    return {name for name, steps in graph(text).stages.items() if steps and not new.stages[name]}


def fetched(new: Graph) -> dict[str, str]:
    """Label of a fetching step → its stage."""
    return {step.label: step.stage for step in new.steps if step.script.startswith("pipeline.continuation.")}


def test_nothing_is_fetched_without_a_continuation(any_graph: Graph) -> None:
    assert fetched(any_graph) == {}
    assert not any("state" in step.inputs for step in any_graph.steps)


def test_a_vocabulary_is_fetched_in_place_of_learned() -> None:
    new = continued(VOCAB)
    assert left_out(new) == set()
    (step,) = new.stages["train_vocab"]
    assert (step.label, step.script) == ("fetch-vocab-en-ru", "pipeline.continuation.vocabulary")
    assert (step.args["src_url"], step.args["vocab_size"]) == (f"{A}/vocab.en.spm", 32_000)
    assert files(new.step("train-student-en-ru"), "target_vocab") == ["fetch-vocab-en-ru:vocab.ru.spm"]


def test_a_merged_corpus_is_fetched_in_place_of_imported_cleaned_and_merged() -> None:
    new = continued(corpora(parallel=PLAIN), text=WITHOUT_TRAIN)
    assert left_out(new) == CLEANING
    assert fetched(new) == {"fetch-parallel-en-ru": "merge_corpus"}
    assert files(new.step("split-alignments-original-en-ru"), "text") == [
        "fetch-parallel-en-ru:corpus.en.zst"
    ]
    assert files(new.step("merge-mono-src-en"), "parallel") == ["fetch-parallel-en-ru:corpus.en.zst"]
    assert files(new.step("check-corpus-en-ru"), "texts")[1] == "fetch-parallel-en-ru:corpus.ru.zst"


def test_with_its_alignments_it_is_not_aligned_but_what_is_translated_back_is() -> None:
    new = continued(corpora(parallel=ALIGNED), text=WITHOUT_TRAIN)
    assert left_out(new) == CLEANING
    assert labels(new.stages["alignments_original"]) == [
        "alignments-priors-en-ru",
        "fetch-alignments-parallel-en-ru",
    ]
    step = new.step("fetch-alignments-parallel-en-ru")
    assert files(step, "corpus_src") == ["fetch-parallel-en-ru:corpus.en.zst"]
    pairs = new.step("training-pairs-original-teacher-en-ru")
    assert files(pairs, "alignments") == [f"{step.label}:corpus.aln.zst"]
    assert files(pairs, "corpus_src") == [f"{step.label}:corpus.tok-icu.en.zst"]
    for label in ("alignments-backtranslated-en-ru-1/3", "alignments-student-en-ru-1/3"):
        assert files(new.step(label), "priors") == ["alignments-priors-en-ru:corpus.priors"]


def test_back_translations_are_fetched_with_their_source_side() -> None:
    new = continued(corpora(backtranslations=PLAIN))
    assert left_out(new) == BACK_TRANSLATION
    assert fetched(new) == {"fetch-backtranslations-en-ru": "translate_mono_trg"}
    split = new.step("split-alignments-backtranslated-en-ru")
    assert files(split, "text") == ["fetch-backtranslations-en-ru:corpus.en.zst"]
    assert files(split, "references") == ["fetch-backtranslations-en-ru:corpus.ru.zst"]


def test_the_source_text_for_distillation_is_not_the_synthetic_one() -> None:
    new = continued(corpora(backtranslations=ALIGNED))
    assert files(new.step("split-mono-src-en-ru"), "text") == ["merge-mono-src-en:mono.en.zst"]
    assert files(new.step("score-en-ru-1/3"), "model")[0] == "train-backwards-en-ru:model.npz"


def test_back_translations_with_their_alignments() -> None:
    new = continued(corpora(backtranslations=ALIGNED))
    assert left_out(new) == BACK_TRANSLATION
    assert labels(new.stages["alignments_backtranslated"]) == ["fetch-alignments-backtranslations-en-ru"]
    assert files(new.step("training-pairs-backtranslated-teacher-en-ru"), "corpus_trg") == [
        "fetch-alignments-backtranslations-en-ru:corpus.tok-icu.ru.zst"
    ]


KEPT = {
    *("dataset_devtest", "dataset_test", "merge_devset", "train_vocab", "cefilter", "alignments_student"),
    *("shortlist", "train_student", "finetune_student", "quantize", "export", "evaluate_student"),
    *("evaluate_finetuned_student", "evaluate_quantized", "evaluate_exported", "check_train_vocab"),
    *("check_cefilter", "check_alignments_student", "check_export"),
    *("check_evaluate_quantized", "check_evaluate_exported"),
}


@pytest.mark.parametrize(
    ("urls", "aligned", "checked"),
    [
        (
            PLAIN,
            ["alignments-priors-student-en-ru", "split-alignments-student-en-ru"],
            ["check-export-en-ru", "check-markup-en-ru"],
        ),
        (ALIGNED, ["fetch-alignments-distillation-en-ru"], ["check-export-en-ru"]),  # without priors
    ],
)
def test_with_a_distilled_corpus_only_the_student_is_made(
    urls: str, aligned: list[str], checked: list[str]
) -> None:
    new = continued(VOCAB, corpora(distillation=urls), text=WITHOUT_DATA)
    assert {name for name, steps in new.stages.items() if steps} == KEPT
    assert labels(new.stages["cefilter"]) == ["fetch-distillation-en-ru"]
    assert labels(new.stages["alignments_student"])[: len(aligned)] == aligned
    assert labels(new.stages["check_export"]) == checked
    assert files(new.step("shortlist-en-ru"), "corpus_src") == ["fetch-distillation-en-ru:corpus.en.zst"]
    assert "corpus" not in new.step("check-vocab-en-ru").inputs


def test_models_that_nothing_needs_are_not_fetched() -> None:
    models = f"{teachers('use')}    backwards: {{url: {A}/b, mode: use}}\n"
    new = continued(VOCAB, corpora(distillation=PLAIN), models, text=WITHOUT_DATA)
    assert set(fetched(new)) == {"fetch-vocab-en-ru", "fetch-distillation-en-ru"}


def test_a_backwards_model_is_used_and_evaluated() -> None:
    new = continued(backwards("use"))
    assert left_out(new) == set()
    (step,) = new.stages["train_backwards"]
    assert (step.label, step.args["src"], step.args["trg"]) == ("fetch-backwards-en-ru", "ru", "en")
    assert (step.args["url"], step.args["best_model"]) == (f"{A}/backwards", "chrf")
    for label in ("translate-mono-trg-en-ru-1/3", "evaluate-backwards-ntrex_test-en-ru"):
        assert files(new.step(label), "models")[0] == "fetch-backwards-en-ru:model.npz"
    assert files(new.step("score-en-ru-1/3"), "model")[0] == "fetch-backwards-en-ru:model.npz"


def test_teachers_that_are_used_need_no_text_to_learn_from() -> None:
    new = continued(teachers("use"))
    assert left_out(new) == (
        BACK_TRANSLATION | ALIGNMENTS | {"translate_mono_trg", "check_translate_mono_trg"}
    )
    assert labels(new.stages["train_teacher"]) == ["fetch-teacher-en-ru-1", "fetch-teacher-en-ru-2"]
    assert [step.args["url"] for step in new.stages["train_teacher"]] == [f"{A}/t1", f"{A}/t2/"]
    models = files(new.step("translate-corpus-en-ru-1/3"), "models")
    assert [name for name in models if name.endswith(":model.npz")] == [
        "fetch-teacher-en-ru-1:model.npz",
        "fetch-teacher-en-ru-2:model.npz",
    ]
    assert len(new.stages["evaluate_teacher"]) == 6
    assert files(new.step("alignments-student-en-ru-1/3"), "priors") == [
        "alignments-priors-student-en-ru:corpus.priors"
    ]
    assert labels(new.stages["analyze_mono"]) == [
        step.label for step in graph(FULL).stages["analyze_mono"] if "-mono-src-" in step.label
    ]


def test_teachers_from_existing_corpora() -> None:
    """Vocabulary, corpora with alignments and backwards model: nothing is made before the teachers."""
    new = continued(
        VOCAB, corpora(parallel=ALIGNED, backtranslations=ALIGNED), backwards("use"), text=WITHOUT_TRAIN
    )
    assert left_out(new) == CLEANING | BACK_TRANSLATION
    before = new.step_closure(new.stages["train_teacher"])
    scripts = {"pipeline.data.augment", "pipeline.train.train", "pipeline.train.training_pairs"}
    made = {step.script for step in before} - scripts
    assert {
        name for name in made if not name.startswith(("pipeline.data.parallel_", "pipeline.continuation."))
    } == {
        "pipeline.clean.merge_parallel"  # the validation set
    }


@pytest.mark.parametrize("mode", ["init", "continue"])
def test_models_that_are_trained_further(mode: str) -> None:
    new = continued(VOCAB, f"{teachers(mode)}    backwards: {{url: {A}/b, mode: {mode}}}\n")
    assert left_out(new) == set()
    for label, maker in (
        ("train-teacher-en-ru-2", "fetch-teacher-en-ru-2"),
        ("train-backwards-en-ru", "fetch-backwards-en-ru"),
    ):
        step = new.step(label)
        assert files(step, "pretrained")[0] == f"{maker}:model.npz"
        assert files(step, "pretrained_args") == [f"{maker}:marian-args.yml"]
        assert new.step(maker).args["state"] == (mode == "continue")
        if mode == "continue":
            assert files(step, "state") == [
                f"{maker}:{name}" for name in ("last.npz", "last.optimizer.npz", "last.progress.yml")
            ]
        else:
            assert "state" not in step.inputs
        assert f"{label}:model.npz" in {
            name
            for after in new.steps
            for key in ("models", "model")
            if key in after.inputs
            for name in files(after, key)
        }
    assert new.step("fetch-backwards-en-ru").args["vocab_urls"] == [f"{A}/vocab.ru.spm", f"{A}/vocab.en.spm"]


@pytest.mark.parametrize(
    ("models", "url", "direction"),
    [(teachers("init"), f"{A}/t1", ("en", "ru")), (backwards("continue"), f"{A}/backwards", ("ru", "en"))],
)
def test_the_vocabulary_of_a_model_that_is_trained_further(
    models: str, url: str, direction: tuple[str, str]
) -> None:
    new = continued(models)
    (step,) = new.stages["train_vocab"]
    assert (step.args["model_url"], step.args["src"], step.args["trg"]) == (url, *direction)
    assert files(new.step("train-student-en-ru"), "source_vocab") == ["fetch-vocab-en-ru:vocab.en.spm"]


STUDENT = f"  models:\n    student: {{url: {A}/student, mode: init}}\n"


@pytest.mark.parametrize("vocab", ["", VOCAB])
def test_a_student_begins_with_weights_shape_and_vocabulary_of_another(vocab: str) -> None:
    new, plain = continued(STUDENT, vocab), graph(FULL)
    assert left_out(new) == set()
    (fetch_vocab,) = new.stages["train_vocab"]
    assert fetch_vocab.args.get("model_url") == (None if vocab else f"{A}/student")
    assert (fetch_vocab.args["src"], fetch_vocab.args["trg"]) == ("en", "ru")
    fetch, pairs, step = new.stages["train_student"]
    assert (fetch.label, fetch.args["url"], fetch.args["state"]) == (
        "fetch-student-en-ru",
        f"{A}/student",
        False,
    )
    assert (fetch.args["src"], fetch.args["trg"]) == ("en", "ru")
    assert pairs.label == "training-pairs-original-student-en-ru"
    assert files(step, "pretrained")[0] == "fetch-student-en-ru:model.npz"
    assert files(step, "pretrained_shape") == ["fetch-student-en-ru:marian-args.yml"]
    assert not {"pretrained_args", "state"} & step.inputs.keys()
    before = plain.step("train-student-en-ru")
    added = {"pretrained", "pretrained_shape"}
    assert step.args == before.args
    assert {*step.inputs} == {*before.inputs} | added
    finetuned = new.step("finetune-student-en-ru")
    assert files(finetuned, "pretrained")[0] == "train-student-en-ru:model.npz"
    assert files(finetuned, "pretrained_shape") == ["train-student-en-ru:marian-args.yml"]
    for label in ("train-teacher-en-ru-1", "train-backwards-en-ru"):
        vocabs = {*files(new.step(label), "source_vocab"), *files(new.step(label), "target_vocab")}
        assert vocabs == {"fetch-vocab-en-ru:vocab.en.spm", "fetch-vocab-en-ru:vocab.ru.spm"}


def test_a_student_begins_with_another_on_its_distilled_corpus() -> None:
    new = continued(STUDENT, corpora(distillation=ALIGNED), text=WITHOUT_DATA)
    assert set(fetched(new)) >= {"fetch-student-en-ru", "fetch-vocab-en-ru", "fetch-distillation-en-ru"}


def test_a_training_without_continuation_is_called_as_ever() -> None:
    assert not {"--pretrained", "--state"} & set(command(graph(FULL).step("train-teacher-en-ru-1")))


def test_one_file_for_both_sides_is_a_joint_vocabulary() -> None:
    both = f"  vocab: {{src: {A}/v.spm, trg: {A}/v.spm}}\n"
    new = continued(both, text=SMALL)
    assert new.step("fetch-vocab-zh-en").args["split"] is False
    assert "vocab.zhen.spm" in new.step("export-zh-en").outputs
    split = continued(both.replace("v.spm", "w.spm", 1), text=SMALL)
    assert split.step("fetch-vocab-zh-en").args["split"] is True
    assert "srcvocab.zhen.spm" in split.step("export-zh-en").outputs


@pytest.mark.parametrize(
    ("section", "text", "message"),
    [
        (corpora(distillation=PLAIN), WITHOUT_DATA, "needs continuation.vocab"),
        (teachers("use").replace(f", {A}/t2/", ""), FULL, "a URL for each teacher"),
    ],
)
def test_what_cannot_be_a_graph(section: str, text: str, message: str) -> None:
    """Such a config is refused when it is read, but `explain` tries a config with one change of many."""
    values = read_values(f"{text}continuation:\n{section}", "config.yml").value
    with pytest.raises(GraphError, match=message):
        build_graph(TrainingConfig.model_validate(values), STAGES)


def test_downloads_from_the_hub_may_use_its_token() -> None:
    hub = "https://huggingface.co/you/run/resolve/main"
    new = continued(VOCAB.replace(A, hub), backwards("use"))
    assert new.step("fetch-vocab-en-ru").secrets == ("HF_TOKEN",)
    assert new.step("fetch-backwards-en-ru").secrets == ("TRANSLATIONS_LOGIN_EXAMPLE_ORG", "HF_TOKEN")
    assert new.step("fetch-backwards-en-ru").attempts == 6


BOTH_MODELS = f"{teachers('use')}    backwards: {{url: {A}/b, mode: use}}\n"


@pytest.mark.parametrize(
    ("sections", "text"),
    [
        ([VOCAB], FULL),
        ([STUDENT], FULL),
        ([corpora(parallel=PLAIN)], WITHOUT_TRAIN),
        ([corpora(parallel=ALIGNED, backtranslations=PLAIN)], WITHOUT_TRAIN),
        ([corpora(backtranslations=ALIGNED)], FULL),
        ([VOCAB, corpora(distillation=ALIGNED)], WITHOUT_DATA),
        ([VOCAB, corpora(distillation=PLAIN, parallel=ALIGNED, backtranslations=PLAIN)], WITHOUT_DATA),
        ([corpora(parallel=ALIGNED, backtranslations=ALIGNED), teachers("use")], WITHOUT_TRAIN),
        ([BOTH_MODELS], FULL),
        ([VOCAB, BOTH_MODELS, corpora(parallel=PLAIN)], WITHOUT_TRAIN),
    ],
)
def test_no_step_is_left_that_nothing_needs(sections: list[str], text: str) -> None:
    new = continued(*sections, text=text)
    needed = set(new.step_closure(shown_steps(new)))
    assert [step.label for step in new.steps if step not in needed] == []


def test_a_backwards_model_that_nothing_uses_is_not_trained() -> None:
    """Without a filter it is still needed to translate back."""
    without = graph(FULL.replace("  teacher-ensemble: 2", "  filter: none\n  teacher-ensemble: 2")).stages
    assert labels(without["train_backwards"])[-1] == "train-backwards-en-ru"
    assert labels(graph(SMALL).stages["train_backwards"])[-1] == "train-backwards-zh-en"
    stages = graph(SMALL.replace("  name: small\n", "  name: small\n  filter: none\n")).stages
    assert stages["train_backwards"] == stages["evaluate_backwards"] == ()
    assert labels(stages["train_student"])[-1] == "train-student-zh-en"
