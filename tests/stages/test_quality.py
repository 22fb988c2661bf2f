"""Stages that compute the numbers of quality gates."""

from __future__ import annotations

from tests.stages.configs import DEMO, FULL, SMALL, files, graph, labels
from translations_assets.graph.graph import Graph
from translations_assets.stages import ASSETS, STAGES


def test_each_checks_one_asset_and_is_named_after_it() -> None:
    checks = {name: stage.checks for name, stage in STAGES.items() if stage.checks}
    assert checks
    assert all(name == f"check_{checked}" and checked in ASSETS for name, checked in checks.items())
    assert {**ASSETS, **{name: STAGES[name] for name in checks}} == STAGES


def test_their_inputs_are_among_what_the_checked_stage_needs(any_graph: Graph) -> None:
    """So every target comes with its stages' checks, but those that compare it with other models."""
    for check, checked in any_graph.checks.items():
        others = set(any_graph.upstream[check]) - set(any_graph.stage_closure([checked]))
        assert all(name.startswith("evaluate_") for name in others), check
        assert not others or checked.startswith("evaluate_"), check


def test_nothing_is_made_from_them(any_graph: Graph) -> None:
    for step in any_graph.steps:
        assert not {up.stage for up in step.upstream()} & set(any_graph.checks), step.label


def test_a_target_comes_with_the_checks_of_its_stages(any_graph: Graph) -> None:
    wanted = any_graph.with_checks(any_graph.stage_closure(["train_vocab"]))
    assert [stage for stage in wanted if stage in any_graph.checks] == [
        "check_merge_corpus",
        "check_train_vocab",
    ]
    assert any_graph.with_checks(any_graph.stage_closure(any_graph.stages)) == list(any_graph.stages)
    assert any_graph.with_checks(["train_vocab"]) == ["train_vocab"]


def test_the_parallel_corpus_is_compared_with_all_dev_and_test_sets() -> None:
    (step,) = graph(FULL).stages["check_merge_corpus"]
    assert files(step, "texts") == ["merge-corpus-en-ru:corpus.en.zst", "merge-corpus-en-ru:corpus.ru.zst"]
    held_out = [name.partition(":")[0] for name in files(step, "held_out_second")]
    assert len(held_out) == 6
    assert "dataset-test-flores_aug-upper_devtest-en-ru" in held_out
    assert step.args["scripts"] == ["Latin", "Cyrillic"]
    assert step.args["whole_pairs"]


def test_no_whole_pairs_are_looked_for_in_what_a_teacher_translated() -> None:
    (step,) = graph(FULL).stages["check_cefilter"]
    assert len(files(step, "held_out_second")) == 6
    assert not step.args["whole_pairs"]


def test_vocabularies_are_not_judged_by_changed_test_sets() -> None:
    (step,) = graph(FULL).stages["check_train_vocab"]
    assert not any("_aug-" in name for name in files(step, "held_out_first"))
    assert len(files(step, "held_out_first")) == 4


def test_vocabularies_are_judged_in_the_cases_that_models_read() -> None:
    def cases(config: str) -> dict[str, object]:
        (step,) = graph(config).stages["check_train_vocab"]
        return {name: value for name, value in step.args.items() if name.startswith(("cases", "locale"))}

    both = {"cases": ["upper", "title"], "locale_first": "en", "locale_second": "ru"}
    assert cases(FULL) == both
    assert cases(SMALL) == {}  # Chinese has no upper case, so that no line is put in it
    chinese = FULL.replace("trg: ru", "trg: zh").replace("-rus", "-zho")
    assert cases(chinese) == {"cases": ["upper", "title"], "locale_first": "en"}
    shares = "  student-model: tiny\n  modifiers: {upper-case: 0"
    without = FULL.replace("  student-model: tiny", shares + ", title-case: 0}")
    assert cases(without) == {}
    assert cases(FULL.replace("  student-model: tiny", shares + "}")) == both | {"cases": ["title"]}


def test_without_text_or_test_sets_there_is_nothing_to_compute() -> None:
    stages = graph(SMALL).stages
    empty = {name for name in graph(SMALL).checks if not stages[name]}
    assert empty == {
        "check_merge_mono_src",
        "check_merge_mono_trg",
        "check_translate_mono_trg",
        "check_alignments_backtranslated",
        "check_translate_mono_src",
        *(name for name in STAGES if name.startswith("check_evaluate_")),  # it has no test set
        "check_final_evaluation",  # nor does it ask for it
    }
    assert labels(stages["check_export"]) == ["check-export-zh-en", "check-markup-zh-en"]


def test_html_is_made_of_the_first_test_set_that_is_no_variant() -> None:
    def text(config: str) -> list[str]:
        (step,) = [step for step in graph(config).stages["check_export"] if "markup" in step.label]
        assert {made.step.label for name, _, made in step.input_outputs() if name == "model"} == {
            "quantize-en-eo"
        }
        assert files(step, "priors") == ["alignments-priors-en-eo:corpus.priors"]
        return [*files(step, "corpus_src"), *files(step, "corpus_trg")]

    def sides(label: str) -> list[str]:
        return [f"{label}:corpus.en.zst", f"{label}:corpus.eo.zst"]

    assert text(DEMO) == sides("dataset-test-demo_test-en-eo")
    variant_first = DEMO.replace("test: [demo_test]", "test: [demo_aug-upper_test, demo_test]")
    assert text(variant_first) == sides("dataset-test-demo_test-en-eo")
    assert text(DEMO.replace("test: [demo_test]", "test: []")) == sides("dataset-devtest-demo_dev-en-eo")


def test_offensive_words_are_looked_for_by_the_lists_that_the_config_names() -> None:
    target = "checks:\n  offensive-words:\n    trg-list: https://example.com/ru.txt\n"
    both = f"{target}    src-list: https://example.com/en.txt\n"
    label = "check-offensive-words-en-ru"
    for text, lists in ((target, ["trg"]), (both, ["src", "trg"])):
        asking = graph(FULL + text)
        step = asking.step(label)
        fetched = {name: files(step, name) for name in step.inputs if name.endswith("_list")}
        assert fetched == {
            f"{side}_list": [f"offensive-words-{side}-{lang}:mono.{lang}.zst"]
            for side, lang in (("src", "en"), ("trg", "ru"))
            if side in lists
        }
        assert [name.partition(":")[0] for name in files(step, "texts")] == [
            *("dataset-test-flores_devtest-en-ru", "dataset-test-ntrex_test-en-ru"),
            *("dataset-devtest-flores_dev-en-ru", "dataset-devtest-sacrebleu_wmt19-en-ru"),
        ]
        others = [step for step in asking.steps if "offensive" not in step.label]
        assert [(one.label, one.args) for one in others] == [
            (one.label, one.args) for one in graph(FULL).steps
        ]
    assert asking.step("offensive-words-src-en").args["dataset"] == "https://example.com/en.txt"
    assert asking.step("offensive-words-src-en").secrets == ("TRANSLATIONS_LOGIN_EXAMPLE_COM",)


def test_students_are_compared_with_the_ensemble_or_with_each_teacher() -> None:
    stages = graph(FULL).stages
    for stage, model in {"student": "student", "finetuned_student": "finetuned-student"}.items():
        steps = stages[f"check_evaluate_{stage}"]
        assert [step.args["others"] for step in steps] == [["teacher-ensemble"]] * len(steps)
        assert {step.args["model"] for step in steps} == {model}
        assert len(steps) == len(stages[f"evaluate_{stage}"])
    (first, *_) = stages["check_evaluate_exported"]
    assert (first.args["model"], first.args["others"]) == ("exported", ["finetuned-student"])
    (alone, *_) = graph(DEMO).stages["check_evaluate_student"]
    assert alone.args["others"] == ["teacher-1"]
