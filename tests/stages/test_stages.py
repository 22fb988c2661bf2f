"""The stages: which steps a training config comes to, and what they read."""

from __future__ import annotations

from pathlib import Path

from tests.stages.configs import FULL, SMALL, files, graph, labels
from translations_assets.graph.graph import Graph
from translations_assets.graph.step import Output
from translations_assets.keys.key import KeyMaker
from translations_assets.running.job import command
from translations_assets.stages import STAGES

# Vocabulary and export


def test_export_of_a_joint_vocabulary() -> None:
    assert graph(FULL).step("export-en-ru").outputs == (
        "model.enru.intgemm.alphas.bin",
        "lex.50.50.enru.s2t.bin",
        "vocab.enru.spm",
        "model.enru.intgemm.alphas.bin.zst",
        "lex.50.50.enru.s2t.bin.zst",
        "vocab.enru.spm.zst",
        "records.json",
        "metadata.json",
        "model_info.json",
        "config.intgemm8bitalpha.yml",
    )
    assert {"--src-name=English", "--trg-name=Russian"} <= set(command(graph(FULL).step("export-en-ru")))
    assert "--split" not in command(graph(FULL).step("train-vocab-en-ru"))


def test_the_other_form_of_the_model_is_exported_when_the_config_asks() -> None:
    assert "--intgemm8" not in command(graph(FULL).step("export-en-ru"))
    asked = graph(FULL.replace("experiment:\n", "experiment:\n  export-intgemm8: true\n", 1))
    assert "model.enru.intgemm8.bin" in asked.step("export-en-ru").outputs
    assert "--intgemm8" in command(asked.step("export-en-ru"))


def test_export_of_split_vocabularies() -> None:
    exported = graph(SMALL).step("export-zh-en")
    vocabularies = {name for name in exported.outputs if "vocab" in name}
    names = {"srcvocab.zhen.spm", "trgvocab.zhen.spm"}
    assert vocabularies == names | {f"{name}.zst" for name in names}
    assert "--split" in command(exported)
    assert "--split" in command(graph(SMALL).step("train-vocab-zh-en"))


# Models


def test_the_backwards_model_is_turned_round() -> None:
    step = graph(FULL).step("train-backwards-en-ru")
    assert (step.args["src"], step.args["trg"]) == ("ru", "en")
    assert files(step, "source_vocab") == ["train-vocab-en-ru:vocab.ru.spm"]
    assert files(step, "target_vocab") == ["train-vocab-en-ru:vocab.en.spm"]
    assert files(step, "dev_src") == ["merge-devset-en-ru:corpus.ru.zst"]
    assert files(step, "dev_trg") == ["merge-devset-en-ru:corpus.en.zst"]
    pairs = graph(FULL).step("training-pairs-original-backwards-en-ru")
    assert files(step, "original") == [f"{pairs.label}:{name}" for name in pairs.outputs]
    assert files(pairs, "corpus_src") == ["merge-corpus-en-ru:corpus.ru.zst"]
    assert files(pairs, "corpus_trg") == ["merge-corpus-en-ru:corpus.en.zst"]
    assert files(pairs, "source_vocab") == ["train-vocab-en-ru:vocab.ru.spm"]
    assert "alignments" not in pairs.inputs


def test_teachers_and_students_are_not_turned_round() -> None:
    for label in ("train-teacher-en-ru-1", "train-student-en-ru", "finetune-student-en-ru"):
        step = graph(FULL).step(label)
        assert (step.args["src"], step.args["trg"]) == ("en", "ru")
        assert files(step, "source_vocab") == ["train-vocab-en-ru:vocab.en.spm"]
        (pairs,) = {output.step for name, _, output in step.input_outputs() if name == "original"}
        assert files(pairs, "corpus_src")[0].endswith(":corpus.tok-icu.en.zst")
        assert files(pairs, "alignments")[0].endswith(":corpus.aln.zst")
        assert files(pairs, "target_vocab") == ["train-vocab-en-ru:vocab.ru.spm"]
        assert files(step, "dev_trg") == ["merge-devset-en-ru:corpus.ru.zst"]


def test_training_can_be_resumed_and_not_repeated(any_graph: Graph) -> None:
    trained = [step for step in any_graph.steps if step.script == "pipeline.train.train"]
    assert len(trained) >= 4
    assert all(step.resumable and not step.repeatable for step in trained)


def test_steps_that_take_hours_go_on_after_what_is_finished(any_graph: Graph) -> None:
    parts = {
        *(
            "pipeline.clean.score_bicleaner",
            "pipeline.translate.translate",
            "pipeline.translate.extract_best",
        ),
        *("pipeline.cefilter.score", "pipeline.alignments.align"),
    }
    imports = {step.script for step in any_graph.steps if step.stage.startswith("dataset_")}
    resumed = {step.script: step.attempts for step in any_graph.steps if step.resumable}
    imported = {script for script in resumed if script.startswith("pipeline.data.")}
    assert imported
    assert imported <= imports
    assert {resumed.pop(script) for script in imported} == {6}
    assert resumed == dict.fromkeys([*parts, "pipeline.train.train"], 10)


def test_downloads_training_and_work_on_gpus_are_tried_more_often() -> None:
    resumed = ("train", "translate", "cefilter", "clean", "alignments")
    attempts = {step.script.split(".")[1]: step.attempts for step in graph(FULL).steps if step.attempts > 3}
    assert attempts == {"data": 6, "checks": 5, **dict.fromkeys(resumed, 10)}


def test_a_corpus_is_split_aligned_and_collected_in_order() -> None:
    steps = graph(FULL).stages["alignments_student"]
    parts = [f"alignments-student-en-ru-{number}/3" for number in (1, 2, 3)]
    assert labels(steps) == [
        "split-alignments-student-en-ru",
        *parts,
        "collect-alignments-student-en-ru",
    ]
    assert files(steps[0], "text") == ["cefilter-en-ru:corpus.en.zst"]
    assert files(steps[0], "references") == ["cefilter-en-ru:corpus.ru.zst"]
    assert files(steps[2], "corpus_src") == ["split-alignments-student-en-ru:part.2.zst"]
    assert files(steps[2], "corpus_trg") == ["split-alignments-student-en-ru:part.2.ref.zst"]
    assert files(steps[4], "tokens_src") == [f"{part}:corpus.tok-icu.en.zst" for part in parts]
    assert files(steps[4], "tokens_trg") == [f"{part}:corpus.tok-icu.ru.zst" for part in parts]
    assert files(steps[4], "alignments") == [f"{part}:corpus.aln.zst" for part in parts]
    assert files(steps[4], "corpus_src") == ["cefilter-en-ru:corpus.en.zst"]


def test_all_parts_of_all_corpora_are_aligned_with_the_priors_of_the_parallel_corpus() -> None:
    learned = graph(FULL).step("alignments-priors-en-ru")
    assert learned.stage == "alignments_original"
    assert files(learned, "corpus_src") == ["merge-corpus-en-ru:corpus.en.zst"]
    assert files(learned, "corpus_trg") == ["merge-corpus-en-ru:corpus.ru.zst"]
    aligned = [step for step in graph(FULL).steps if step.script == "pipeline.alignments.align"]
    assert len(aligned) == 9
    assert {name for step in aligned for name in files(step, "priors")} == {f"{learned.label}:corpus.priors"}


def test_an_ensemble_has_a_teacher_for_each_seed() -> None:
    *pairs, first, second = graph(FULL).stages["train_teacher"]
    assert labels(pairs) == [
        "training-pairs-original-teacher-en-ru",
        "training-pairs-backtranslated-teacher-en-ru",
    ]
    teachers = first, second
    assert [(step.label, step.args["seed"]) for step in teachers] == [
        ("train-teacher-en-ru-1", 1),
        ("train-teacher-en-ru-2", 2),
    ]
    assert first.inputs["original"] == second.inputs["original"]
    assert first.inputs["backtranslated"] == second.inputs["backtranslated"]
    assert files(teachers[0], "curriculum") == ["pipeline/train/configs/curriculum/teacher.two-stage.yml"]


def test_an_ensemble_translates_and_is_evaluated_together() -> None:
    models = files(graph(FULL).step("translate-corpus-en-ru-1/3"), "models")
    assert [name for name in models if name.endswith(":model.npz")] == [
        "train-teacher-en-ru-1:model.npz",
        "train-teacher-en-ru-2:model.npz",
    ]
    assert len(graph(FULL).stages["evaluate_teacher_ensemble"]) == 3
    assert len(graph(FULL).stages["evaluate_teacher"]) == 6


def test_a_single_teacher_is_no_ensemble() -> None:
    one = graph(FULL.replace("teacher-ensemble: 2", "teacher-ensemble: 1"))
    assert [label for label in labels(one.stages["train_teacher"]) if label.startswith("train-")] == [
        "train-teacher-en-ru-1"
    ]
    assert one.stages["evaluate_teacher_ensemble"] == ()
    assert len(one.stages["evaluate_teacher"]) == 3


def test_finetuning_reads_the_students_pairs_unless_they_shall_be_of_another_length() -> None:
    student, finetuning = (graph(FULL).step(f"{verb}-student-en-ru") for verb in ("train", "finetune"))
    assert finetuning.inputs["original"] == student.inputs["original"]
    longer = FULL.replace("marian-args:", "marian-args:\n  training-student-finetuned: {max-length: 250}")
    pairs = [step for step in graph(longer).steps if step.label.startswith("training-pairs-original-")]
    assert [(step.label.split("-", 3)[3], step.args["max_length"]) for step in pairs] == [
        ("backwards-en-ru", 100),
        ("teacher-en-ru", 100),
        ("student-en-ru", 200),
        ("finetuned-student-en-ru", 250),
    ]
    assert files(graph(longer).step("finetune-student-en-ru"), "original")[0].startswith(
        f"{pairs[-1].label}:"
    )


def test_pairs_depend_on_no_option_of_training_but_max_length() -> None:
    edited = FULL.replace(
        "marian-args:",
        "marian-args:\n  training-student: {learn-rate: 0.1}\n  training-teacher: {max-length: 50}",
    )
    before, after = graph(FULL), graph(edited)
    pairs = [step for step in before.steps if step.script == "pipeline.train.training_pairs"]
    different = [step.label for step in pairs if command(after.step(step.label)) != command(step)]
    assert different == [
        "training-pairs-original-teacher-en-ru",
        "training-pairs-backtranslated-teacher-en-ru",
    ]
    linked = [step.label for step in pairs if "--link-pieces" in command(step)]
    assert linked == ["training-pairs-original-student-en-ru"]


def test_finetuning_goes_on_from_the_student() -> None:
    step = graph(FULL).step("finetune-student-en-ru")
    assert "train-student-en-ru:model.npz" in files(step, "pretrained")
    assert "pretrained" not in graph(FULL).step("train-student-en-ru").inputs
    assert files(step, "training_config") == ["pipeline/train/configs/training/student.finetune.yml"]


def test_options_of_the_student_reach_finetuning_through_the_student_alone() -> None:
    """So that an edit of them makes `train_student` stale, and nothing that follows before it has changed."""
    edited = FULL.replace("marian-args:", "marian-args:\n  training-student: {dim-emb: 128, after: 50u}")
    before, after, keys = graph(FULL), graph(edited), KeyMaker(Path())
    different = {step.stage for step in before.steps if command(after.step(step.label)) != command(step)}
    assert different == {"train_student"}
    label = "finetune-student-en-ru"
    assert keys.recipe(after.step(label)) == keys.recipe(before.step(label))
    assert files(after.step(label), "pretrained_shape") == ["train-student-en-ru:marian-args.yml"]
    assert "pretrained_shape" not in after.step("train-student-en-ru").inputs


def test_the_student_reads_what_its_shortlist_is_made_of() -> None:
    shortlist = graph(FULL).step("shortlist-en-ru")
    assert files(shortlist, "curriculum") == files(graph(FULL).step("train-student-en-ru"), "curriculum")
    assert {"--bicameral", "--phonemic"} <= {*command(shortlist)}


def test_shares_of_modifiers_reach_what_reads_the_text_as_models_do() -> None:
    asked = graph(
        FULL.replace("experiment:\n", "experiment:\n  modifiers: {typos: 0.3, upper-case: 0.1}\n", 1)
    )
    given = {step.stage: step.args["modifiers"] for step in asked.steps if step.args.get("modifiers")}
    both, case = '{"UpperCase": 0.1, "Typos": 0.3}', '{"UpperCase": 0.1}'
    trained = dict.fromkeys(("train_teacher", "train_student", "finetune_student", "shortlist"), both)
    assert given == {"train_vocab": case, **trained}
    before = {step.label: command(step) for step in graph(FULL).steps}
    assert not any("--modifiers" in " ".join(words) for words in before.values())


def test_sizes_of_the_shortlist() -> None:
    asked = graph(FULL.replace("experiment:\n", "experiment:\n  shortlist-best: 100\n", 1))
    assert asked.step("quantize-en-ru").args == {"best": 100, "frequent": 50}
    assert asked.step("shortlist-en-ru").args == graph(FULL).step("shortlist-en-ru").args


def test_the_exported_student_is_evaluated_from_the_files_that_users_get() -> None:
    exported = graph(FULL).step("evaluate-exported-flores_devtest-en-ru")
    assert "export-en-ru:model.enru.intgemm.alphas.bin" in files(exported, "exported")
    assert files(exported, "corpus_trg") == ["dataset-test-flores_devtest-en-ru:corpus.ru.zst"]


def test_without_a_shortlist() -> None:
    without = graph(FULL.replace("experiment:\n", "experiment:\n  shortlist: none\n", 1))
    assert not without.stages["shortlist"]
    assert "lex.bin" not in without.step("quantize-en-ru").outputs
    assert not [name for name in without.step("export-en-ru").outputs if name.startswith("lex")]


def test_what_the_export_is_made_of() -> None:
    quantized = graph(FULL).step("quantize-en-ru")
    assert "finetune-student-en-ru:model.npz" in files(quantized, "model")
    assert files(quantized, "text") == ["merge-devset-en-ru:corpus.en.zst"]
    assert "quantize-en-ru:model.intgemm.alphas.bin" in files(graph(FULL).step("export-en-ru"), "model")


# Without monolingual text


def test_without_mono_text_the_teacher_reads_the_corpus_alone() -> None:
    step = graph(SMALL).step("train-teacher-zh-en-1")
    assert files(step, "curriculum") == ["pipeline/train/configs/curriculum/teacher.original.yml"]
    assert not any(name.startswith("backtranslated") for name in step.inputs)


def test_without_test_sets_nothing_is_evaluated() -> None:
    evaluations = [name for name in STAGES if name.startswith("evaluate_")]
    assert [graph(SMALL).stages[name] for name in evaluations] == [()] * len(evaluations)


# What changes, and what is read


def test_a_change_of_one_option_changes_only_the_steps_it_is_for() -> None:
    changed = graph(FULL.replace("mini-batch-words: 1000", "mini-batch-words: 2000"))
    different = {
        step.stage for step in graph(FULL).steps if command(changed.step(step.label)) != command(step)
    }
    assert different == {
        "check_train_teacher",
        "translate_corpus",
        "translate_mono_src",
        "evaluate_teacher",
        "evaluate_teacher_ensemble",
    }


def test_evaluation_of_the_backwards_model_is_turned_round() -> None:
    step = graph(FULL).step("evaluate-backwards-flores_devtest-en-ru")
    assert (step.args["src"], step.args["trg"]) == ("ru", "en")
    assert files(step, "corpus_src") == ["dataset-test-flores_devtest-en-ru:corpus.ru.zst"]


def test_every_declared_output_that_is_read_belongs_to_its_step(any_graph: Graph) -> None:
    for step in any_graph.steps:
        for _, _, output in step.input_outputs():
            assert isinstance(output, Output)
            assert output.name in output.step.outputs
