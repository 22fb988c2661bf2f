"""Windows of neighbouring lines, in training text and in test sets."""

from __future__ import annotations

import pytest

from tests.stages.configs import DEMO, files, graph
from tests.stages.test_training_on_finetune import problems_in

TEXT = DEMO + "documents: {datasets: [demo_train], share: 0.2, max-words: 40}\n"


def test_windows_are_made_of_what_is_left_of_a_dataset_after_merging() -> None:
    new, plain = graph(TEXT), graph(DEMO)
    sentences, windows, merged = new.stages["merge_corpus"]
    (before,) = plain.stages["merge_corpus"]
    assert (sentences.args, sentences.inputs.keys()) == (before.args, before.inputs.keys())
    assert files(windows, "corpus_src") == ["dataset-train-demo_train-en-eo:corpus.en.zst"]
    assert files(windows, "kept_src") == ["merge-sentences-en-eo:corpus.en.zst"]
    assert (windows.args["share"], windows.args["max_words"], windows.args["separator"]) == (0.2, 40, "¶")
    assert files(merged, "corpus_src") == [
        "merge-sentences-en-eo:corpus.en.zst",
        "documents-demo_train-en-eo:corpus.en.zst",
    ]
    assert merged.args["datasets"] == ["sentences", "documents_demo_train"]
    assert files(merged, "held_out_src") == files(before, "held_out_src")
    for label, name in {"split-corpus-en-eo": "text", "train-vocab-en-eo": "corpus_src"}.items():
        assert files(new.step(label), name) == ["merge-corpus-en-eo:corpus.en.zst"]


def test_the_vocabulary_has_the_separator() -> None:
    step = graph(TEXT.replace("max-words: 40", "separator: §")).step("train-vocab-en-eo")
    plain = graph(DEMO).step("train-vocab-en-eo")
    for name in ("src_letters", "trg_letters"):
        assert step.args[name] == f"{plain.args[name]}§"


def test_a_test_set_of_windows() -> None:
    text = DEMO.replace("test: [demo_test]", "test: [demo_test, demo_aug-documents_test]")
    step = graph(text).step("dataset-test-demo_aug-documents_test-en-eo")
    assert step.script == "pipeline.data.windows"
    assert files(step, "corpus_src") == [
        "dataset-test-demo_aug-documents_test-en-eo-unmodified:corpus.en.zst"
    ]
    assert "kept_src" not in step.inputs
    assert step.args["share"] is None


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ("datasets: [demo_trian]", "is no dataset in datasets.train. Did you mean 'demo_train'"),
        ("datasets: [demo_train], separator: ab", "must be one sign"),
        ("datasets: [demo_train], separator: x", "must be one sign"),
        ("datasets: [demo_train], separator: ' '", "must be one sign"),
        ("datasets: [demo_train], share: 0", "greater than 0"),
    ],
)
def test_what_is_wrong(keys: str, says: str) -> None:
    assert any(says in problem for problem in problems_in(f"{DEMO}documents: {{{keys}}}\n"))
