"""How much text a student learns from, which, and the noise in it."""

from __future__ import annotations

import json

import pytest

from tests.stages.configs import DEMO, FINETUNED, files, graph
from tests.stages.test_training_on_finetune import ALONE, problems_in


def test_the_teacher_translates_a_sample_of_the_parallel_corpus() -> None:
    new = graph(DEMO + "distillation: {corpus-max-sentences: 500}\n")
    sample = new.step("sample-corpus-en-eo")
    assert (sample.args["max_sentences"], files(sample, "corpus_src")) == (
        500,
        ["merge-corpus-en-eo:corpus.en.zst"],
    )
    split = new.step("split-corpus-en-eo")
    assert files(split, "text") == ["sample-corpus-en-eo:corpus.en.zst"]
    assert files(split, "references") == ["sample-corpus-en-eo:corpus.eo.zst"]
    merged = new.step("merge-translated-en-eo")
    assert files(merged, "corpus_src") == ["sample-corpus-en-eo:corpus.en.zst"]
    train = new.step("training-pairs-original-teacher-en-eo")
    assert files(train, "corpus_src") == files(graph(DEMO).step(train.label), "corpus_src")


def test_the_student_reads_back_translations() -> None:
    new = graph(DEMO + "distillation: {backtranslated-max-sentences: 700}\n")
    sample = new.step("sample-backtranslated-en-eo")
    assert files(sample, "corpus_src") == ["collect-mono-trg-en-eo:mono.en.zst"]
    merged = new.step("merge-translated-en-eo")
    assert files(merged, "backtranslated_src") == ["sample-backtranslated-en-eo:corpus.en.zst"]
    assert files(merged, "backtranslated_trg") == ["sample-backtranslated-en-eo:corpus.eo.zst"]
    assert "backtranslated_src" not in graph(DEMO).step("merge-translated-en-eo").inputs


def test_back_translations_are_made_for_the_student_alone_where_no_teacher_is_trained() -> None:
    given = DEMO + "translators: {fox: {firefox: {}}}\n"
    given = given.replace("  student-model", "  teacher: {fox: 1}\n  filter: none\n  student-model")
    labels = {step.label for step in graph(given).steps}
    assert "train-backwards-en-eo" not in labels
    new = graph(given + "distillation: {backtranslated-max-sentences: 700}\n")
    assert new.step("train-backwards-en-eo")
    assert new.step("sample-backtranslated-en-eo")


NOISE = "distillation: {noise: {typos: 0.1, upper-case: 0.05, punctuation: 0.02, spacing: 0.02}}\n"


def test_noise_comes_after_the_teacher_and_the_filter() -> None:
    new = graph(DEMO + NOISE)
    noise = new.step("noise-en-eo")
    assert files(noise, "corpus_src") == ["cefilter-en-eo:corpus.en.zst"]
    assert json.loads(str(noise.args["shares"])) == {
        "typos": 0.1,
        "upper-case": 0.05,
        "punctuation": 0.02,
        "spacing": 0.02,
    }
    for label, name in {"split-alignments-student-en-eo": "text", "shortlist-en-eo": "corpus_src"}.items():
        assert files(new.step(label), name) == ["noise-en-eo:corpus.en.zst"]


def test_a_script_has_the_noise_that_it_can_have() -> None:
    text = DEMO.replace("src: en", "src: zh").replace("[demo_", '["url_https://example.org/[LANG]/')
    noise = graph(text.replace("]\n", '"]\n') + NOISE).step("noise-zh-eo")
    assert json.loads(str(noise.args["shares"])) == {"punctuation": 0.02}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("distillation: {noise: {typos: 0.7, spacing: 0.4}}", "the shares sum up to 1.1"),
        ("distillation: {corpus-max-sentences: 0}", "greater than 0"),
        ("distillation: {noise: {typo: 0.1}}", "Did you mean 'typos'"),
    ],
)
def test_what_is_wrong_with_it(text: str, says: str) -> None:
    assert any(says in problem for problem in problems_in(DEMO + text + "\n"))


@pytest.mark.parametrize("own_tokens", [True, False])
def test_noise_needs_text_that_is_tokenised_here(own_tokens: bool) -> None:
    given = "src: https://a.org/c.en, trg: https://a.org/c.eo"
    if own_tokens:
        given += ", tok-src: https://a.org/t.en, tok-trg: https://a.org/t.eo, alignments: https://a.org/a"
    vocab = "vocab: {src: https://a.org/v, trg: https://a.org/v}"
    text = f"{ALONE.partition('  finetune')[0]}  devtest: [demo_dev]\n  test: [demo_test]\n"
    text += f"continuation: {{{vocab}, corpora: {{distillation: {{{given}}}}}}}\n"
    assert graph(text).step("train-student-en-eo")
    if own_tokens:
        (problem,) = problems_in(text + NOISE)
        assert problem.startswith("distillation.noise: is not used: the student reads the tokens of")
        assert graph(text + NOISE.replace("0.1", "0").replace("0.05", "0").replace("0.02", "0"))
    else:
        assert files(graph(text + NOISE).step("noise-en-eo"), "corpus_src")


def test_text_to_finetune_on_gets_no_noise() -> None:
    (problem,) = problems_in(ALONE + NOISE)
    assert "the student is trained on datasets.finetune alone, which gets none; remove it" in problem
    assert graph(FINETUNED + NOISE).step("noise-en-eo")


def test_back_translations_need_target_text() -> None:
    text = DEMO.replace("  mono-trg: [demo_mono]\n", "")
    (problem,) = problems_in(text + "distillation: {backtranslated-max-sentences: 5}\n")
    assert "needs target text" in problem
