"""Checks of the section `evaluation`."""

import pytest

from tests.config.texts import SMALL, problems_of
from translations_assets.config.load import parse_config


def test_unaligned_words_are_counted_in_test_sets() -> None:
    asked = "evaluation:\n  unaligned: [flores_devtest, flores_dev]\n"
    (found,) = problems_of(SMALL + asked)
    assert found.startswith("13 evaluation.unaligned[1]: 'flores_dev' is not in datasets.test. Did you mean")


@pytest.mark.parametrize(
    "given",
    [
        "continuation:\n  models: {teacher: {urls: ['https://a.org/a'], mode: use}}\n",
        "continuation:\n  corpora: {distillation: {src: 'https://a.org/a', trg: 'https://a.org/b'}}\n",
    ],
)
def test_unaligned_words_need_teachers_that_are_trained(given: str) -> None:
    asked = "evaluation:\n  unaligned: [flores_devtest]\n"
    needs = "evaluation.unaligned: needs the alignments of the corpus that teachers are trained on"
    assert any(needs in problem for problem in problems_of(SMALL + given + asked))
    parse_config(SMALL + asked, "config.yml")
    init = "continuation:\n  models: {teacher: {urls: ['https://a.org/a'], mode: init}}\n"
    parse_config(SMALL + init + asked, "config.yml")


@pytest.mark.parametrize(("target", "refused"), [("zh", True), ("zh_hant", True), ("ja", False)])
def test_a_chinese_target_has_no_paragraphs(target: str, refused: bool) -> None:
    """Its test sets lose lines, which the documents beside them still count."""
    text = f"{SMALL.replace('trg: ru', f'trg: {target}')}evaluation:\n  paragraphs: [flores_devtest]\n"
    if refused:
        assert problems_of(text)[0].startswith("13 evaluation.paragraphs: Chinese")
    else:
        parse_config(text, "config.yml")
    parse_config(text.replace("src: en", "src: zh").replace(f"trg: {target}", "trg: en"), "config.yml")
