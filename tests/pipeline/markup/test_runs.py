"""HTML as runs: read, written, cut into blocks."""

from __future__ import annotations

import pytest

from pipeline.markup.runs import (
    Markup,
    MarkupError,
    Run,
    Tag,
    blocks,
    parse,
    plain_texts,
    shared,
    text_of,
    without_tags,
    write,
)


@pytest.mark.parametrize(
    "html",
    [
        "",
        "A dog.",
        "A <b>big</b> dog.",
        '<i>a <b>b</b></i> c<br>d <img src="/x.png" alt=""> e',
        "<ul><li>A <b>dog</b>.</li><li>A <i>cat</i>.</li></ul>",
        '<a href="/?a=1&amp;b=2" title="&quot;&lt;5&quot; &amp; \'go\'" hidden="">x &lt; y&nbsp;w</a>',
        "<b></b>empty<i><b></b></i>",
        "<b><img><br></b><br><br>",
        "<b>我爱</b>你。<u>مرحبا</u> שלום",
        "<b>a</b><b>b</b>",
    ],
)
def test_what_is_read_is_written(html: str) -> None:
    assert write(parse(html)) == html


def test_other_spellings_are_read() -> None:
    html = '<B>x</B> <A HREF=\'1\' checked  title="a\'b" >y</A ><br/><img src="/x" />&#x41;&eacute;'
    assert parse(html) == Markup(
        (
            Tag("b"),
            Tag("a", (("href", "1"), ("checked", ""), ("title", "a'b"))),
            Tag("br"),
            Tag("img", (("src", "/x"),)),
        ),
        (
            *(Run("x", (0,)), Run(" "), Run("y", (1,)), Run("", (2,)), Run("", (3,))),
            Run("Aé"),
        ),
    )


@pytest.mark.parametrize(
    ("html", "why"),
    [
        ("<b>dog", "<b> is not closed"),
        ("dog</b>", "</b> closes nothing"),
        ("<i>a <b>b</i> c</b>", "</i> closes nothing that is open last"),
        ("a < b", "`< b` is no tag"),
        ("a <b title=>c</b>", "is no tag"),
        ("<b", "`<b` is no tag"),
        ("<b>a</b", "`</b` is no tag"),
        ("a</br>b", "</br> closes nothing"),
    ],
)
def test_what_is_not_well_formed(html: str, why: str) -> None:
    with pytest.raises(MarkupError, match=why):
        parse(html)


def test_an_element_in_pieces_is_written_more_than_once() -> None:
    tags = (Tag("b"), Tag("i"))
    runs = (Run("x", (0,)), Run(" "), Run("y", (0, 1)), Run("z", (1,)), Run("w", (1,)))
    assert write(Markup(tags, runs)) == "<b>x</b> <b><i>y</i></b><i>zw</i>"


def test_blocks_end_at_elements_that_are_not_inline() -> None:
    found = blocks(parse("<p>A <b>d<br></b>o<i>g</i>.</p>x<ul><li>1</li><li>2</li></ul>"))
    assert [text_of(block) for block in found] == ["A d", "", "og.", "x", "1", "2"]
    assert found[2] == (Run("o", (0,)), Run("g", (0, 3)), Run(".", (0,)))


def test_texts_without_tags() -> None:
    assert plain_texts(parse("<p> a <b> b</b></p><br>&nbsp;<p>c&amp;</p>")) == ["a b", "c&"]
    assert without_tags("<i>a<b>b</i> &lt;c<") == " a b  <c<"


def test_what_paths_share() -> None:
    assert shared((1, 2, 3), (1, 2, 4)) == (1, 2)
    assert shared((1,), (2,)) == ()
    assert shared((1,), (1, 2)) == (1,)
