"""Translated HTML, judged."""

from __future__ import annotations

import pytest

from pipeline.markup.documents import Document
from pipeline.markup.runs import parse
from pipeline.markup.scores import Score, judge

DOG = Document("word", parse("A <b>red dog</b>."), {0: ("Ruĝa", "hundo")})


@pytest.mark.parametrize(
    ("html", "kept", "countable", "right", "wrong"),
    [
        ("<b>Ruĝa hundo</b>.", 1, 1, 1, ""),
        ("<b>RUĜA HUNDO.</b>", 1, 1, 1, ""),  # marks and case do not count
        ("La <b>hundo ruĝa</b>", 1, 1, 1, ""),
        ("<b>La ruĝa hundo</b>", 1, 1, 0, "<b> is round la ruĝa hundo, not Ruĝa hundo"),
        ("<b>Ruĝa</b> hundo", 1, 1, 0, "<b> is round ruĝa, not Ruĝa hundo"),
        ("<b></b>Ruĝa hundo", 1, 1, 0, "<b> is round nothing"),
        ("<b>Ruĝa hun</b>do", 1, 1, 0, "<b> is round a part of a word"),
        ("Ruĝa hundo", 0, 1, 0, "<b> 1 → 0 times; <b> is round nothing"),
        ("<b>Ruĝa</b> <b>hundo</b>", 0, 1, 1, "<b> 1 → 2 times"),
        ("<b>Ruĝa</b> la <b>hundo</b>", 0, 1, 1, "<b> 1 → 2 times"),
        ("<b>Ruĝa hundo</b><i></i>", 0, 1, 1, "<i> 0 → 1 times"),
        ('<b class="">Ruĝa hundo</b>', 0, 1, 0, "<b> 1 → 0 times; <b> 0 → 1 times; <b> is round nothing"),
        ("<b>Ruĝa kato</b>", 1, 0, 0, ""),  # another translation, which tells nothing of the tag
    ],
)
def test_a_tag(html: str, kept: int, countable: int, right: int, wrong: str) -> None:
    found = judge(DOG, html, "eo")
    assert found.score == Score(1, 1, kept, 1, countable, right)
    assert "; ".join(found.wrong).startswith(wrong)
    assert bool(found.wrong) == bool(wrong)


@pytest.mark.parametrize(
    ("html", "countable"), [("<b>Ruĝa hundo", 1), ("<b>ruĝa <i>la</b> hundo</i>", 1), ("<b>kato", 0)]
)
def test_html_that_is_not_well_formed(html: str, countable: int) -> None:
    found = judge(DOG, html, "eo")
    assert found.score == Score(1, 0, 0, 1, countable, 0)
    assert found.wrong[0].startswith("not well-formed: ")


def test_nested_tags_and_blocks() -> None:
    document = Document(
        "nested", parse("<ul><li><i>a <b>b</b></i></li><li>c</li></ul>"), {2: ("x", "y"), 3: ("y",)}
    )
    good = judge(document, "<ul><li><i>X <b>Y</b></i></li><li>z</li></ul>", "eo")
    assert good.score == Score(1, 1, 1, 2, 2, 2)
    together = judge(document, "<ul><li><i>x <b>y</b></i></li><li>y</li></ul>", "eo")
    assert together.score.right == 2  # the second y is another block's word
    lost = judge(document, "<ul><li><i>x y</i></li></ul>", "eo")
    assert lost.score == Score(1, 1, 0, 2, 2, 1)
    assert "<li> 2 → 1 times" in lost.wrong


def test_a_word_that_is_wanted_twice() -> None:
    document = Document("link", parse("<b>a b</b>"), {0: ("la", "la")})
    assert judge(document, "<b>la</b> hundo", "eo").score.countable == 0
    assert judge(document, "<b>la la</b> hundo", "eo").score.right == 1


def test_scripts_without_spaces_and_from_right_to_left() -> None:
    chinese = Document("word", parse("I <b>love</b> Beijing"), {0: ("爱",)})
    assert judge(chinese, "我<b>爱</b>北京。", "zh").score.right == 1
    assert judge(chinese, "<b>我爱</b>北京。", "zh").score.right == 0
    beijing = Document("word", parse("I love <b>Beijing</b>"), {0: ("北京",)})
    assert judge(beijing, "我爱<b>北</b>京。", "zh").wrong == ("<b> is round a part of a word",)
    hebrew = Document("word", parse("a <b>dog</b>"), {0: ("כלב",)})
    assert judge(hebrew, "<b>כלב</b> גדול", "he").score.right == 1


def test_sums_and_shares() -> None:
    found = Score(2, 2, 1, 4, 3, 2) + Score(1, 0, 0, 1, 0, 0)
    assert found == Score(3, 2, 1, 5, 3, 2)
    assert found.to_json() == {
        "documents": 3,
        "well_formed": 2,
        "kept": 1,
        "tags": 5,
        "countable": 3,
        "right": 2,
        "kept_share": 0.3333,
        "right_share": 0.6667,
    }
    assert Score().to_json()["right_share"] == 0
