"""Finetuning on a better text: stages.training, and the arguments that stages.train_steps gives it."""

from __future__ import annotations

import pytest

from tests.stages.configs import BETTER, DEMO, FINETUNED, files, graph
from translations_assets.graph.step import RepoFile

BOTH = FINETUNED + "finetuning: {models: [teacher, student], old-text: 0.25}\n"
STUDENT = "continuation: {models: {student: {url: https://example.org/student, mode: use}}}\n"
ALONE = f"""experiment: {{name: domain, src: en, trg: eo}}
datasets:
  finetune: [{{dataset: "{BETTER}", alias: better}}]
  devtest: [demo_dev]
  test: [demo_test]
{STUDENT}"""


def curriculum(label: str, text: str) -> str:
    given = graph(text).step(label).inputs["curriculum"]
    assert isinstance(given, RepoFile)
    return given.path.rpartition("/")[2]


def test_the_text_is_cleaned_by_itself_and_has_no_held_out_lines() -> None:
    new = graph(FINETUNED)
    assert [step.label for step in new.stages["merge_finetune"]] == [
        "clean-corpus-better-en-eo",
        "merge-finetune-en-eo",
    ]
    merge = new.step("merge-finetune-en-eo")
    assert files(merge, "held_out_src") == files(new.step("merge-corpus-en-eo"), "held_out_src")
    assert files(merge, "corpus_src") == ["clean-corpus-better-en-eo:corpus.en.zst"]
    filtered = graph(FINETUNED + "finetuning: {bicleaner-threshold: 0.7}\n")
    assert filtered.step("bicleaner-ai-better-en-eo").args["threshold"] == 0.7
    assert files(filtered.step("merge-finetune-en-eo"), "scores") == ["bicleaner-ai-better-en-eo:scores.zst"]


def test_it_may_be_called_as_text_to_train_on() -> None:
    """Files of the same name in two folders are two datasets with one short name."""
    own = DEMO.replace("[demo_train]", "['/a/corpus.[LANG]']")
    own = own.replace("  devtest:", "  finetune: ['/b/corpus.[LANG]']\n  devtest:", 1)
    new = graph(own + "finetuning: {bicleaner-threshold: 0.7}\n")
    assert [step.label for step in new.stages["merge_finetune"]] == [
        "clean-corpus-finetune-file_corpus-en-eo",
        "bicleaner-ai-score-finetune-file_corpus-en-eo",
        "bicleaner-ai-finetune-file_corpus-en-eo",
        "merge-finetune-en-eo",
    ]
    assert new.step("clean-corpus-file_corpus-en-eo")


def test_the_student_is_trained_on_it_before_it_is_finetuned_in_8_bits() -> None:
    new, plain = graph(FINETUNED), graph(DEMO)
    step = new.step("train-student-on-finetune-en-eo")
    assert files(step, "pretrained")[0] == "train-student-en-eo:model.npz"
    assert files(step, "original") == files(plain.step("train-student-en-eo"), "original")
    assert files(step, "finetune")[0].startswith("training-pairs-finetune-student-en-eo:")
    assert step.args["old_text"] == 0.5
    assert curriculum(step.label, FINETUNED) == "student.on-finetune.yml"
    eight_bits = new.step("finetune-student-en-eo")
    assert files(eight_bits, "pretrained")[0] == "train-student-on-finetune-en-eo:model.npz"
    for name in ("original", "finetune"):
        assert files(eight_bits, name) == files(step, name)
    assert eight_bits.args["old_text"] == 0.5
    assert curriculum("finetune-student-en-eo", FINETUNED) == "student.on-finetune.yml"
    assert not {label for label in labels(FINETUNED) - labels(DEMO) if "teacher" in label}


def test_teachers_are_trained_on_it_and_translate_then() -> None:
    new = graph(BOTH)
    step = new.step("train-teacher-on-finetune-en-eo-1")
    assert files(step, "pretrained")[0] == "train-teacher-en-eo-1:model.npz"
    assert files(step, "original")[0].startswith("training-pairs-original-teacher-en-eo:")
    assert (step.args["old_text"], step.args["seed"]) == (0.25, 1)
    translate = new.step("translate-corpus-en-eo-1/20")
    assert files(translate, "models")[0] == "train-teacher-on-finetune-en-eo-1:model.npz"


def test_options_lie_over_those_of_the_model() -> None:
    teacher = "{dim-emb: 64, after: 9u}"
    text = f"{BOTH}marian-args: {{training-on-finetune: {{after: 30u}}, training-teacher: {teacher}}}\n"
    for model in ("teacher", "student"):
        label = f"train-{model}-on-finetune-en-eo" + ("-1" if model == "teacher" else "")
        args = str(graph(text).step(label).args["marian_args"])
        assert '"after": "30u"' in args
        assert '"learn-rate": "0.00005"' in args
        assert ('"dim-emb": 64' in args) == (model == "teacher")


@pytest.mark.parametrize(
    ("text", "length", "own"),
    [(BOTH, 50, True), (BOTH, 200, False), (FINETUNED, 50, True), (ALONE, 50, True)],
)
def test_pairs_are_as_long_as_the_training_on_it_asks(text: str, length: int, own: bool) -> None:
    """A training refuses pairs of another max-length than its options'; 200 is the student's own."""
    new = graph(f"{text}marian-args: {{training-on-finetune: {{max-length: {length}}}}}\n")
    trained = [step for step in new.steps if step.label.startswith("train-") and "on-finetune" in step.label]
    assert trained
    for step in trained:
        for name in {"original", "finetune"} & step.inputs.keys():
            pairs = files(step, name)[0].partition(":")[0]
            assert new.step(pairs).args["max_length"] == length
            assert ("student-on-finetune" in pairs) == (own and "student" in step.label)
    assert files(new.step("finetune-student-en-eo"), "original")[0].startswith(
        "training-pairs-original-finetuned-student" if own else "training-pairs-original-student"
    )


def test_a_student_of_before_is_trained_on_nothing_else() -> None:
    new = graph(ALONE)
    assert not [*new.stages["train_teacher"], *new.stages["merge_corpus"], *new.stages["train_backwards"]]
    assert [step.label for step in new.stages["train_student"]] == [
        "fetch-student-en-eo",
        "training-pairs-original-student-en-eo",
        "train-student-on-finetune-en-eo",
    ]
    step = new.step("train-student-on-finetune-en-eo")
    assert files(step, "pretrained")[0] == "fetch-student-en-eo:model.npz"
    assert "finetune" not in step.inputs
    assert "old_text" not in step.args or step.args["old_text"] is None
    assert curriculum(step.label, ALONE) == "student.yml"
    pairs = new.step("training-pairs-original-student-en-eo")
    assert files(pairs, "corpus_src")[0].startswith("collect-alignments-student-en-eo:")
    assert files(new.step("split-alignments-student-en-eo"), "text") == ["merge-finetune-en-eo:corpus.en.zst"]
    assert files(new.step("shortlist-en-eo"), "corpus_src") == ["merge-finetune-en-eo:corpus.en.zst"]


def test_with_the_old_distilled_text_too_it_is_mixed() -> None:
    old = "{src: https://example.org/c.en, trg: https://example.org/c.eo}"
    text = ALONE.replace("{models:", f"{{corpora: {{distillation: {old}}}, models:")
    step = graph(text).step("train-student-on-finetune-en-eo")
    assert files(step, "pretrained")[0] == "fetch-student-en-eo:model.npz"
    assert files(step, "finetune")[0].startswith("training-pairs-finetune-student-en-eo:")
    assert "train-student-en-eo" not in labels(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (DEMO + "finetuning: {old-text: 0.1}\n", "needs datasets.finetune"),
        (FINETUNED.replace(BETTER, "demo_train"), "'demo_train' is in"),
        (ALONE + "finetuning: {models: [teacher]}\n", "no teacher is trained here"),
        (DEMO + STUDENT, "no student is trained from datasets.train with `use`"),
        (ALONE.replace("mode: use", "mode: init"), "datasets.train: is missing"),
        (FINETUNED + "finetuning: {old-text: 1}\n", "less than 1"),
    ],
)
def test_what_does_not_go_together(text: str, says: str) -> None:
    assert any(says in problem for problem in problems_in(text))


def problems_in(text: str) -> list[str]:
    from translations_assets.config.errors import ConfigError
    from translations_assets.config.load import parse_config

    with pytest.raises(ConfigError) as caught:
        parse_config(text, "config.yml")
    return [f"{problem.key}: {problem.message}" for problem in caught.value.problems]


def labels(text: str) -> set[str]:
    return {step.label for step in graph(text).steps}
